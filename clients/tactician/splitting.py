"""Opening a part up: parts from which it follows, and lemmas that its stuck goals ask for."""

from __future__ import annotations

import structlog

from .attacking import Attacker
from .conjectures import conjectures
from .desk import Desk
from .goals import Goal
from .knowledge import Part
from .naming import lemma_name
from .planning import Split, splits
from .proving import Simp, Tactics
from .statements import Statement, show_statement

LOG = structlog.get_logger()
CANDIDATES = 3
GOALS = 3
ENOUGH_RULES = 8


class Splitter:
    """Proposes parts; nothing is proposed twice with the same rules."""

    def __init__(self, desk: Desk, attacker: Attacker) -> None:
        self._desk = desk
        self._attacker = attacker
        self._proposed: set[str] = set()
        self._opened: dict[str, int] = {}
        self._plans: dict[str, tuple[int, list[Split]]] = {}

    def opened_with(self, node: str) -> int:
        """With how many rules ways to split a part were calculated last, here or by another; -1 when they were not."""
        return self._plans[node][0] if node in self._plans else -1

    def take_note(self, node: str, rules: int) -> None:
        """Another says to have looked for ways with so many rules: with hardly more of them the same would be found."""
        known = min(rules, self._desk.knowledge.rewriter.count)
        if known > self.opened_with(node):
            self._plans[node] = (known, [])

    async def split_at_once(self, part: Part) -> bool:
        """Split without trying first, when parts can be calculated and rewriting proves every one of them."""
        if part.statement is None or not self._is_worth_opening(part):
            return False
        for plan in self._splits(part.node, part.statement)[:1]:
            if plan.provable == len(plan.children):
                self._opened[part.node] = self._desk.knowledge.rewriter.count
                return await self._split_by(plan, part)
        return False

    def _is_worth_opening(self, part: Part) -> bool:
        """Whether it is the first time, or so many rules came since that something else may be left."""
        count = self._opened.get(part.node)
        return count is None or self._desk.knowledge.rewriter.count >= count + ENOUGH_RULES

    def _splits(self, node: str, statement: Statement) -> list[Split]:
        """Ways to split a part, calculated anew when so many rules came since that something else may be left."""
        count = self._desk.knowledge.rewriter.count
        known = self._plans.get(node)
        if known is None or count >= known[0] + ENOUGH_RULES:
            known = self._plans[node] = (count, splits(statement, self._desk.knowledge))
        return known[1]

    async def open_up(self, part: Part, goals: tuple[Goal, ...], simp: Simp) -> int:
        """Turn what is left of a part into parts of the plan; how many were added."""
        if part.statement is None or not self._is_worth_opening(part):
            return 0
        self._opened[part.node] = self._desk.knowledge.rewriter.count
        for plan in self._splits(part.node, part.statement)[:CANDIDATES]:
            if await self._split_by(plan, part):
                return len(plan.children)
        options = [found for goal in goals[:GOALS] if (found := self._candidates(goal, part))]
        glue = Tactics(part.statement, self._desk.knowledge.theory).induction(simp)
        if glue is not None:
            for children in _choices(options):
                if await self._split(part, children, glue):
                    return len(children)
        return sum([await self._propose(item, part) for found in options for item in found[:2]])

    def _candidates(self, goal: Goal, part: Part) -> list[Statement]:
        knowledge = self._desk.knowledge
        found = conjectures(goal, knowledge.names, knowledge.evaluator, knowledge.rng)
        own = part.statement.key() if part.statement is not None else ()
        oriented = [knowledge.oriented(item) for item in found]
        return [item for item in oriented if knowledge.is_open_question(item) and item.key() != own]

    async def _split_by(self, plan: Split, part: Part) -> bool:
        assert part.statement is not None
        for is_exact in (True, False):
            glue = self._attacker.proof(plan.hint, part.statement, is_exact=is_exact)
            if await self._split(part, list(plan.children), glue):
                return True
        return False

    async def _split(self, part: Part, children: list[Statement], glue: str) -> bool:
        names: list[str] = []
        for child in children:
            name = self._name(child)
            names.append(name if name not in names else f"{name}_{len(names)}")
        texts = [show_statement(child) for child in children]
        used = glue.replace("simp_all [", f"simp_all [{', '.join(names)}, ")
        used = used.replace("simp [", f"simp [{', '.join(names)}, ")
        reply = await self._desk.split(
            part.node, list(zip(names, texts, strict=True)), glue=used, why="what induction leaves, generalised"
        )
        LOG.debug("split_tried", part=part.node, children=texts, answer=reply.headline)
        if not reply.is_error:
            self._proposed.update(texts)
        return not reply.is_error

    async def _propose(self, statement: Statement, part: Part) -> int:
        text = show_statement(statement)
        if text in self._proposed:
            return 0
        self._proposed.add(text)
        return 1 if await self._desk.add_part(self._name(statement), text, why=f"left over from {part.name}") else 0

    def _name(self, statement: Statement) -> str:
        return lemma_name(statement, taken=self._desk.knowledge.names.signatures)


def _choices(options: list[list[Statement]]) -> list[list[Statement]]:
    """Sets of parts to try: the best for all goals together, then single ones."""
    together = [[found[0] for found in options]] if len(options) > 1 else []
    return together + [[item] for found in options for item in found[:CANDIDATES]]
