"""The refuter's work: values that make the target false, and the kernel's word on them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import structlog

from .compiling import Undefined
from .desk import Desk
from .enumeration import Enumeration
from .evaluation import Evaluator, Value
from .narrowing import Counterexample, Narrowing, counterexample
from .statements import Statement

LOG = structlog.get_logger()
TURN_S = 0.3
"""Processor time of one turn at most; a single slice of a search takes less."""

PREFERENCE = 3
"""Turns of the first search for one of the other."""

MOST_FAILURES = 5
"""Values that Lean did not confirm; with more the evaluation here is not to be trusted."""


class Refuter:
    """Searches in slices, so that its agent can do other things; plain enumeration and narrowing take turns."""

    def __init__(self, desk: Desk, *, narrows_first: bool = False) -> None:
        self._desk = desk
        self._failures = 0
        self._turn = 0
        self.spent_s = 0.0
        """Processor time."""
        statement = desk.knowledge.root.statement
        self._searches = (
            [] if statement is None else _searches(statement, desk.knowledge.evaluator, large_first=narrows_first)
        )
        if narrows_first:
            self._searches.reverse()

    async def step(self, *, allowed_s: float) -> None:
        """Search until so much time was spent in all, or for a turn; raises EpisodeOver when the target is refuted."""
        end = min(allowed_s, self.spent_s + TURN_S)
        while self._searches and self.spent_s < end:
            found = self._slice()
            if found is not None and not await self._desk.refute(self._desk.knowledge.root, found.values):
                LOG.warning("refutation_failed", values=found.readable)
                self._failures += 1
                if self._failures >= MOST_FAILURES:
                    self._searches = []

    def _slice(self) -> Counterexample | None:
        """One slice of the search whose turn it is."""
        began = time.process_time()
        self._turn += 1
        search = self._searches[0 if self._turn % (PREFERENCE + 1) else -1]
        try:
            return next(search)
        except (StopIteration, Undefined):
            self._searches.remove(search)
            return None
        finally:
            self.spent_s += time.process_time() - began


def _searches(
    statement: Statement, evaluator: Evaluator, *, large_first: bool
) -> list[Iterator[Counterexample | None]]:
    found: list[Iterator[Counterexample | None]] = []
    try:
        found.append(_read(Enumeration(statement, evaluator).search(), statement, evaluator))
        found.append(Narrowing(evaluator.theory, statement).search(large_first=large_first))
    except Undefined as reason:
        LOG.debug("search_left_out", reason=str(reason))
    return found


def _read(
    search: Iterator[dict[str, Value] | None], statement: Statement, evaluator: Evaluator
) -> Iterator[Counterexample | None]:
    for values in search:
        yield None if values is None else at_values(values, statement, evaluator)


def at_values(values: dict[str, Value], statement: Statement, evaluator: Evaluator) -> Counterexample:
    """What testing found, as Lean text."""
    return counterexample([evaluator.term(values[name], kind) for name, kind in statement.binders], statement)
