"""Values by size, for a statement that is run on all of them until one makes it false."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

from .compiling import Undefined
from .evaluation import CALLS_PER_RUN, Evaluator, Value, limits
from .statements import Statement
from .terms import Expr, Term, arrow_parts, substitute

LARGEST = 40
MOST_VALUES = 60_000
"""Of one type and size; with more, enumeration would not come to an end anyway."""

SLICE_S = 0.05


class Enumeration:
    """All values of a statement's variables, the small ones first."""

    def __init__(self, statement: Statement, evaluator: Evaluator) -> None:
        """Raises Undefined when the statement cannot be run, or has variables that cannot be enumerated."""
        if any(arrow_parts(kind)[0] for _, kind in statement.binders):
            raise Undefined("a variable is a function")
        self._kinds = tuple(kind for _, kind in statement.binders)
        self._names = tuple(name for name, _ in statement.binders)
        self._evaluator = evaluator
        self._holds = evaluator.compile(statement.body, self._names)
        self._known: dict[tuple[Expr, int], list[Value]] = {}

    def search(self) -> Iterator[dict[str, Value] | None]:
        """Values that make the statement false; None after each slice of time."""
        pause_at = time.monotonic() + SLICE_S
        for total in range(len(self._kinds), LARGEST):
            for values in self._of_size(self._kinds, total):
                if not self._is_true(values):
                    yield dict(zip(self._names, values, strict=True))
                if time.monotonic() > pause_at:
                    yield None
                    pause_at = time.monotonic() + SLICE_S

    def _is_true(self, values: tuple[Value, ...]) -> bool:
        self._evaluator.fuel[0] = CALLS_PER_RUN
        try:
            return bool(self._holds(*values))
        except limits():
            return True

    def _of_size(self, kinds: tuple[Expr, ...], total: int) -> Iterator[tuple[Value, ...]]:
        """Tuples whose sizes add up to the total."""
        if not kinds:
            if total == 0:
                yield ()
            return
        for sizes in compositions(total, len(kinds)):
            yield from itertools.product(*(self._values(kind, size) for kind, size in zip(kinds, sizes, strict=True)))

    def _values(self, kind: Expr, size: int) -> list[Value]:
        known = self._known.get((kind, size))
        if known is None:
            known = self._known[kind, size] = list(itertools.islice(self._make(kind, size), MOST_VALUES))
        return known

    def _make(self, kind: Expr, size: int) -> Iterator[Value]:
        if not isinstance(kind, Term) or kind.is_var or kind.head == "Int":
            yield size - 1
            if isinstance(kind, Term) and kind.head == "Int" and 1 < size < 5:
                yield 1 - size
        elif self._evaluator.is_unary(kind.head):
            yield size - 1
        elif kind.head == "Bool":
            yield from (False, True) if size == 1 else ()
        elif kind.head == "Prod":
            yield from self._of_size(kind.args, size - 1)
        else:
            yield from self._data(kind, size)

    def _data(self, kind: Term, size: int) -> Iterator[Value]:
        datatype = self._evaluator.theory.datatypes.get(kind.head)
        if datatype is None:
            raise Undefined(kind.head)
        params = dict(zip(datatype.params, kind.args, strict=False))
        for item in datatype.constructors:
            tag = self._evaluator.constructor(item.name)[0]
            fields = tuple(substitute(arg, params) for arg in item.args)
            for values in self._of_size(fields, size - 1):
                yield (tag, *values)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Ordered sums of positive numbers."""
    if parts == 1:
        if total >= 1:
            yield (total,)
        return
    for first in range(1, total - parts + 2):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)
