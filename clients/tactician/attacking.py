"""Attempts to prove a part in Lean: each simp set and round of tactics once, those that rewriting suggests first."""

from __future__ import annotations

import structlog

from .desk import Desk, Lease
from .knowledge import Knowledge, Part
from .proving import Simp, Tactics, any_of, theorem
from .rewriting import Heads
from .rippling import Rippling
from .search import Outcome, prove
from .statements import Statement
from .steps import stepwise
from .strategies import Strategy, simp_sets
from .subgoals import Hint

LOG = structlog.get_logger()


def hinted_proof(knowledge: Knowledge, hint: Hint, statement: Statement, *, is_exact: bool) -> str:
    """Proof text that follows a hint, exactly, or step by step, or with all lemmas and room for case splits."""
    tactics = Tactics(statement, knowledge.theory)
    if is_exact:
        simp = knowledge.exactly(hint.rules, splits=hint.tests)
        return tactics.suggested(simp, hint.variable, hint.cases, is_deep=hint.is_deep)[0]
    told = stepwise(hint, tactics, knowledge.theory, knowledge.exactly(hint.rules, splits=hint.tests))
    simp = knowledge.simp(knowledge.rules(statement))
    loose = tactics.suggested(simp, hint.variable, hint.cases, is_deep=hint.is_deep)[:2]
    return any_of([told, *loose] if told else loose)


class Attacker:
    """Remembers what was tried on which part."""

    def __init__(self, desk: Desk, *, strategy: Strategy) -> None:
        self._desk = desk
        self._strategy = strategy
        self._tried: dict[str, set[tuple[tuple[str, ...], str, int]]] = {}
        self._rippled: dict[str, tuple[int, frozenset[Heads] | None]] = {}

    def hint(self, part: Part) -> Hint | None:
        """How rewriting proves the part, asked once for each set of rules that may matter to it."""
        knowledge = self._desk.knowledge
        if not self._strategy.rewrites or part.statement is None:
            return None
        count, stuck = self._rippled.get(part.node, (-1, None))
        if count == knowledge.rewriter.count:
            return None
        if stuck is not None and not knowledge.rewriter.concerns(stuck, since=count):
            return None
        rippling = Rippling(knowledge.rewriter, knowledge.theory)
        found = rippling.hint_for(part.statement, Tactics(part.statement, knowledge.theory))
        self._rippled[part.node] = knowledge.rewriter.count, rippling.stuck if found is None else None
        return found

    async def follow(self, hint: Hint, part: Part, *, lease: Lease | None) -> bool:
        """Do in Lean what rewriting did, first with the same rules, then with all and with case splits."""
        assert part.statement is not None
        for is_exact in (True, False):
            proof = self.proof(hint, part.statement, is_exact=is_exact)
            checked = await self._desk.check(theorem(part.name, part.text, proof), lease=lease)
            LOG.debug("hint_followed", part=part.node, proof=proof, proved=bool(checked.accepted))
            if checked.accepted:
                return True
        return False

    def proof(self, hint: Hint, statement: Statement, *, is_exact: bool) -> str:
        """Proof text that follows a hint."""
        return hinted_proof(self._desk.knowledge, hint, statement, is_exact=is_exact)

    def next_attempt(self, part: Part) -> tuple[Simp, int] | None:
        """The next simp set and round that were not tried on a part."""
        knowledge = self._desk.knowledge
        rules = knowledge.rules(part.statement)
        tried = self._tried.setdefault(part.node, set())
        turned = knowledge.eliminating(rules)
        for depth in (0, 1, 2):
            sets = simp_sets(self._strategy, rules, knowledge.rng)
            for chosen, style in [*sets, (tuple(turned), "all")] if turned else sets:
                key = (tuple(sorted(chosen)), style, depth)
                if key not in tried:
                    tried.add(key)
                    return knowledge.simp(chosen, style=style), depth
        return None

    async def attempt(self, part: Part, attempt: tuple[Simp, int], *, lease: Lease | None) -> Outcome:
        """One round of tactics with one simp set."""
        simp, depth = attempt
        outcome = await prove(
            self._desk,
            name=part.name,
            text=part.text,
            statement=part.statement,
            simps=[simp],
            rounds=slice(depth, depth + 1),
            lease=lease,
        )
        LOG.debug("part_tried", part=part.node, rules=len(simp.rules), depth=depth, proved=outcome.is_proved)
        return outcome
