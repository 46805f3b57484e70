"""The explorer's work: equations found by evaluation, sifted by rewriting, proved in batches."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator

import msgspec

from .attacking import hinted_proof
from .conjectures import survives
from .desk import Desk
from .exploration import Equation, Exploration
from .naming import lemma_name
from .proving import Tactics, theorem
from .rewriting import Heads
from .rippling import Rippling
from .statements import Statement, show_statement
from .subgoals import MOST_CASES, Hint
from .terms import Term

BATCH = 4
SLICE_S = 0.3
OPEN_PARTS = 4
MOST_PENDING = 300
MOST_TRIES = 3
DEFER_S = 3.0
"""How long those who come second leave a candidate to the others."""


class Candidate(msgspec.Struct, kw_only=True):
    """A conjecture that waits for lemmas or for a check."""

    equation: Equation
    statement: Statement
    seen_at: tuple[int, int] = (-1, -1)
    """Numbers of rules when it was last looked at in vain: at a glance, and taking variables apart."""

    stuck: frozenset[Heads] = frozenset()
    """Where rewriting stopped when it was last looked at."""

    tries: int = 0
    is_tested: bool = False
    born_at: float = 0.0
    is_given_out: bool = False


class Explorer:
    """Walks through equations by size; what fails waits for new lemmas."""

    def __init__(self, desk: Desk, *, seed: int, is_first: bool = True, only_conditional: bool = False) -> None:
        knowledge = desk.knowledge
        root = knowledge.root.statement
        self._desk = desk
        self._only_conditional = only_conditional
        self._defer_s = 0.0 if is_first else DEFER_S
        self._exploration: Exploration | None = None
        self._levels: Iterator[list[Equation] | None] = iter(())
        if root is not None:
            self._exploration = Exploration(knowledge.theory, root, seed=seed)
            self._levels = (
                self._exploration.levels(5, conditional=(4, 5)) if only_conditional else self._exploration.levels()
            )
        self._rippling = Rippling(knowledge.rewriter, knowledge.theory)
        self._pending: list[Candidate] = []
        self._later: list[Candidate] = []
        self._is_exhausted = root is None
        self._is_thorough = True

    async def step(self) -> bool:
        """One batch of checks, or one slice of enumeration; False when only new lemmas can help."""
        self._is_thorough = not self._is_thorough
        for is_thorough in (self._is_thorough, not self._is_thorough):
            batch, is_all_seen = self._ready(is_thorough=is_thorough)
            if batch:
                await self._check(batch)
            if batch or not is_all_seen:
                return True
        if not self._is_exhausted:
            await self._give_out()
            self._refill()
            return True
        return await self._give_out()

    def _refill(self) -> None:
        """Enumerate until a level is complete or the slice is over."""
        end = time.monotonic() + SLICE_S
        while time.monotonic() < end:
            try:
                found = next(self._levels)
            except StopIteration:
                self._is_exhausted = True
                self._pending += self._later
                return
            if found:
                self._take(found)
                return

    def _take(self, equations: list[Equation]) -> None:
        exploration = self._exploration
        assert exploration is not None
        wanted = [exploration.implication(one) for one in equations] if self._only_conditional else equations
        for equation in wanted:
            if equation is None:
                continue
            statement = exploration.statement(equation)
            if statement is not None and len(self._pending) < MOST_PENDING:
                candidate = Candidate(equation=equation, statement=statement, born_at=time.monotonic())
                is_later = bool(equation.conditions) and not self._only_conditional
                (self._later if is_later else self._pending).append(candidate)

    def _ready(self, *, is_thorough: bool) -> tuple[list[tuple[Candidate, Hint]], bool]:
        """Candidates that rewriting proves, each with how; and whether all were looked at."""
        knowledge = self._desk.knowledge
        assumed = knowledge.rewriter.extended()
        end = time.monotonic() + SLICE_S
        found: list[tuple[Candidate, Hint]] = []
        for candidate in sorted(self._pending, key=lambda item: item.seen_at[is_thorough]):
            if not self._is_worth_a_look(candidate, is_thorough=is_thorough):
                continue
            if time.monotonic() < candidate.born_at + self._defer_s:
                continue
            if time.monotonic() > end or len(found) >= BATCH:
                return found, False
            if self._is_settled(candidate):
                self._pending.remove(candidate)
                continue
            if not self._survives(candidate):
                self._pending.remove(candidate)
                continue
            equation = candidate.equation
            if assumed.joins(equation.left, equation.right):
                continue
            tactics = Tactics(candidate.statement, knowledge.theory)
            cases = MOST_CASES if is_thorough else 0
            hint = self._rippling.hint_for(candidate.statement, tactics, cases=cases)
            candidate.stuck = self._rippling.stuck
            if hint is None or candidate.tries >= MOST_TRIES:
                count = knowledge.rewriter.count
                candidate.seen_at = (count, count if is_thorough else -1)
                continue
            found.append((candidate, hint))
            if not equation.conditions:
                assumed.add(equation.left, equation.right)
        return found, True

    def _is_worth_a_look(self, candidate: Candidate, *, is_thorough: bool) -> bool:
        """Whether it was not looked at in this way, or a rule came since that may matter to it."""
        rewriter, seen_at = self._desk.knowledge.rewriter, candidate.seen_at[is_thorough]
        if seen_at == rewriter.count:
            return False
        if seen_at < 0 or rewriter.concerns(candidate.stuck, since=seen_at):
            return True
        if candidate.seen_at == (seen_at, seen_at):
            candidate.seen_at = (rewriter.count, rewriter.count)
        return False

    def _is_settled(self, candidate: Candidate) -> bool:
        """Known, a consequence by rewriting, or the target itself."""
        knowledge = self._desk.knowledge
        if not knowledge.is_open_question(candidate.statement):
            return True
        return knowledge.rewriter.joins(candidate.equation.left, candidate.equation.right)

    def _survives(self, candidate: Candidate) -> bool:
        """Whether larger random values leave it standing, too."""
        knowledge = self._desk.knowledge
        if candidate.is_tested:
            return True
        candidate.is_tested = True
        return survives(candidate.statement, knowledge.evaluator, knowledge.rng)

    async def _check(self, batch: list[tuple[Candidate, Hint]]) -> None:
        knowledge = self._desk.knowledge
        names = _names([candidate.statement for candidate, _ in batch], taken=knowledge.names.signatures)
        parts: list[str] = []
        for name, (candidate, hint) in zip(names, batch, strict=True):
            proof = hinted_proof(knowledge, hint, candidate.statement, is_exact=candidate.tries == 0)
            parts.append(theorem(name, show_statement(candidate.statement), proof))
        checked = await self._desk.check("\n".join(parts))
        for name, (candidate, _) in zip(names, batch, strict=True):
            if name in checked.accepted:
                self._pending.remove(candidate)
            else:
                candidate.tries += 1
                is_worth_more = checked.is_undecided or candidate.tries == 1
                count = -1 if is_worth_more else knowledge.rewriter.count
                candidate.seen_at = (count, count)

    async def _give_out(self) -> bool:
        """Leave small conjectures that rewriting does not prove to whoever is free."""
        given = [item for item in self._pending if item.is_given_out]
        for candidate in self._pending:
            if len(given) >= OPEN_PARTS:
                return False
            if candidate.is_given_out or candidate.equation.size > 12 or _is_ground_heavy(candidate.statement):
                continue
            candidate.is_given_out = True
            text = show_statement(candidate.statement)
            name = lemma_name(candidate.statement, taken=self._desk.knowledge.names.signatures)
            if await self._desk.add_part(name, text, why="holds on all tested values"):
                return True
        return False


def _is_ground_heavy(statement: Statement) -> bool:
    """Instances such as `f 0 (g 0 x)`: more constants than variables are seldom useful."""
    equation = statement.equation
    if equation is None:
        return False
    left = equation[0]
    return (
        isinstance(left, Term)
        and sum(isinstance(arg, Term) and not arg.is_var and not arg.args for arg in left.args) > 0
    )


def _names(statements: list[Statement], *, taken: Container[str]) -> list[str]:
    names: list[str] = []
    for statement in statements:
        name = lemma_name(statement, taken=taken)
        names.append(name if name not in names else f"{name}_{len(names)}")
    return names
