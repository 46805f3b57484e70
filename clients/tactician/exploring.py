"""The explorer's work: conjectures by evaluation, proved in batches, the hard ones put on the plan."""

from __future__ import annotations

import time
from collections.abc import Iterator

from .desk import Desk
from .exploration import Equation, Exploration
from .naming import lemma_name
from .printing import show
from .proving import Tactics, any_of, theorem
from .statements import Statement, show_statement

BATCH = 6
SLICE_S = 0.25
OPEN_PARTS = 4
RETRIES = 3


class Explorer:
    """Walks through equations by size; what fails is tried again when there are new lemmas."""

    def __init__(self, desk: Desk, *, seed: int, only_conditional: bool = False) -> None:
        root = desk.knowledge.root.statement
        self._desk = desk
        self._only_conditional = only_conditional
        self._exploration: Exploration | None = None
        self._levels: Iterator[list[Equation] | None] = iter(())
        if root is not None:
            self._exploration = Exploration(desk.knowledge.theory, root, seed=seed)
            self._levels = self._exploration.levels()
        self._pending: list[Equation] = []
        self._failed: list[tuple[Equation, int, int]] = []
        self._given_out = 0
        self.is_exhausted = root is None

    async def step(self) -> bool:
        """One batch of checks, or one slice of enumeration; False when there is nothing left to do now."""
        self._refill()
        batch = self._next_batch()
        if batch:
            await self._try(batch)
            return True
        if self._retry():
            return True
        return not self.is_exhausted

    def _refill(self) -> None:
        end = time.monotonic() + SLICE_S
        while not self._pending and not self.is_exhausted and time.monotonic() < end:
            try:
                found = next(self._levels)
            except StopIteration:
                self.is_exhausted = True
                return
            if found:
                self._pending = [item for item in found if bool(item.conditions) or not self._only_conditional]
                self._retry()

    def _retry(self) -> bool:
        """Bring back failures that were tried with fewer lemmas."""
        known = len(self._desk.knowledge.rules())
        again = [item for item in self._failed if item[1] < known and item[2] < RETRIES]
        self._failed = [item for item in self._failed if item not in again]
        self._pending = [equation for equation, _, _ in again] + self._pending
        self._tries = {equation: tries for equation, _, tries in again}
        return bool(again)

    def _next_batch(self) -> list[tuple[Equation, Statement]]:
        batch: list[tuple[Equation, Statement]] = []
        while self._pending and len(batch) < BATCH:
            equation = self._pending.pop(0)
            statement = self._exploration.statement(equation) if self._exploration else None
            if statement is not None and self._is_new(equation, statement):
                batch.append((equation, statement))
        return batch

    def _is_new(self, equation: Equation, statement: Statement) -> bool:
        knowledge = self._desk.knowledge
        root = knowledge.root.statement
        if statement.key() in knowledge.stated or (root is not None and statement.key() == root.key()):
            return False
        if not equation.conditions and knowledge.rewriter.joins(equation.left, equation.right):
            return False
        return not (equation.conditions and knowledge.rewriter.joins(equation.left, equation.right))

    async def _try(self, batch: list[tuple[Equation, Statement]]) -> None:
        knowledge = self._desk.knowledge
        names = self._names(batch)
        parts: list[str] = []
        for name, (_, statement) in zip(names, batch, strict=True):
            tactics = Tactics(statement, knowledge.theory)
            attempts = tactics.rounds(knowledge.simp(knowledge.rules(statement)))[0]
            parts.append(theorem(name, show_statement(statement), any_of(attempts[:3])))
        checked = await self._desk.check("\n".join(parts))
        known = len(knowledge.rules())
        for name, (equation, statement) in zip(names, batch, strict=True):
            if name in checked.accepted:
                continue
            tries = self._tries.get(equation, 0) + 1 if hasattr(self, "_tries") else 1
            self._failed.append((equation, known, tries))
            if tries == 1 and self._given_out < OPEN_PARTS and equation.size <= 12:
                await self._give_out(statement)

    async def _give_out(self, statement: Statement) -> None:
        """Leave a conjecture that needs more than a quick attempt to the provers."""
        self._given_out += 1
        text = show_statement(statement)
        node = await self._desk.add_part(lemma_name(statement), text, why="holds on all tested values")
        if node is None:
            self._given_out -= 1

    def _names(self, batch: list[tuple[Equation, Statement]]) -> list[str]:
        names: list[str] = []
        for _, statement in batch:
            name = lemma_name(statement)
            names.append(name if name not in names else f"{name}_{len(names)}")
        return names


def describe(equation: Equation) -> str:
    """One line about a conjecture."""
    conditions = "".join(f"{show(item)} → " for item in equation.conditions)
    return f"{conditions}{show(equation.left)} = {show(equation.right)}"
