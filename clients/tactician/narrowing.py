"""Search for values that make a statement false, by choosing only what its evaluation looks at."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterator, Sequence

import msgspec

from .compiling import Undefined
from .holes import Hole, Needed, Value
from .laziness import LazyEvaluator
from .printing import show
from .statements import Statement
from .terms import Expr, Term, arrow_parts, constants, substitute
from .theory import Theory

LEAPS = (30, 120, 480)
"""Sizes that are tried beside the steady ones, for statements that need large values of one shape."""

LARGEST_INTEGER = 24
DEEPEST_PYTHON = 20_000
SLICE_S = 0.05

_FAILURES = (Undefined, RecursionError, MemoryError, OverflowError, ValueError, TypeError)


class Option(msgspec.Struct, frozen=True):
    """One way to fill a hole, and what of the allowed size it takes."""

    value: Value
    size: int


class Counterexample(msgspec.Struct, frozen=True):
    """Values of all variables, as Lean text with their types."""

    values: tuple[str, ...]
    readable: str


class Narrowing:
    """Looks through the values of a statement's variables, the small ones first."""

    def __init__(self, theory: Theory, statement: Statement) -> None:
        """Raises Undefined when the statement cannot be evaluated, or has variables that cannot be enumerated."""
        self._theory = theory
        self._statement = statement
        self._evaluator = LazyEvaluator(theory)
        if any(arrow_parts(kind)[0] for _, kind in statement.binders):
            raise Undefined("a variable is a function")
        names = tuple(name for name, _ in statement.binders)
        self._code = self._evaluator.compile(statement.body, names)
        self._smallest = _smallest_constructors(theory)

    def search(self, *, large_first: bool = False) -> Iterator[Counterexample | None]:
        """None after each slice of time; ends when there are no more values to try.

        Who looks for large values first gives them most of the time, and leaves the small ones to others.
        """
        leaps = [self._up_to(limit) for limit in LEAPS]
        turns = [*leaps[-1:] * 5, leaps[-2], self._steady()] if large_first else [self._steady(), *leaps]
        while turns:
            for one in list(turns):
                try:
                    yield next(one)
                except StopIteration:
                    turns = [other for other in turns if other is not one]

    def _steady(self) -> Iterator[Counterexample | None]:
        limit = 0
        is_cut = True
        while is_cut:
            limit += 1
            is_cut = yield from self._up_to(limit)

    def _up_to(self, limit: int) -> Generator[Counterexample | None, None, bool]:
        """All values of at most this size; returns whether larger ones were left out."""
        holes = tuple(Hole(kind) for _, kind in self._statement.binders)
        path: list[tuple[Hole, list[Option], int]] = []
        is_cut, pause_at = False, time.monotonic() + SLICE_S
        while True:
            outcome = self._evaluate(holes)
            if outcome is False:
                yield counterexample([self._term(hole) for hole in holes], self._statement)
                pause_at = time.monotonic() + SLICE_S
            if isinstance(outcome, Hole):
                used = path[-1][2] if path else 0
                options = self._options(outcome.kind)
                fitting = [option for option in options if used + option.size <= limit]
                is_cut |= len(fitting) < len(options)
                path.append((outcome, fitting[::-1], used))
            if not self._advance(path):
                return is_cut
            if time.monotonic() > pause_at:
                yield None
                pause_at = time.monotonic() + SLICE_S

    def _advance(self, path: list[tuple[Hole, list[Option], int]]) -> bool:
        """The next option at the last hole that has one; False when there is none."""
        while path:
            hole, options, _ = path.pop()
            if options:
                option = options.pop()
                hole.value = self._fresh(option.value, hole.kind)
                before = path[-1][2] if path else 0
                path.append((hole, options, before + option.size))
                return True
            hole.value = None
        return False

    def _evaluate(self, holes: tuple[Hole, ...]) -> Value:
        """True, False, the hole that must be filled to know, or None when evaluation fails."""
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(DEEPEST_PYTHON)
        try:
            return self._evaluator.run(self._code, holes)
        except Needed as needed:
            return needed.hole
        except _FAILURES:
            return None
        finally:
            sys.setrecursionlimit(before)

    def _options(self, kind: Expr) -> list[Option]:
        if not isinstance(kind, Term) or kind.is_var:
            return [Option(value, 1 + value) for value in range(3)]
        if kind.head == "Bool":
            return [Option(value, 1) for value in (False, True)]
        if kind.head == "Nat":
            return [Option(value, 1 + value) for value in range(LARGEST_INTEGER)]
        if kind.head == "Int":
            values = [0, *(sign * value for value in range(1, LARGEST_INTEGER) for sign in (1, -1))]
            return [Option(value, 1 + abs(value)) for value in values if value > -4]
        if kind.head == "Prod":
            return [Option("Prod.mk", 1)]
        datatype = self._theory.datatypes.get(kind.head)
        if datatype is None:
            raise Undefined(kind.head)
        return [Option(item.name, 1) for item in sorted(datatype.constructors, key=lambda item: len(item.args))]

    def _fresh(self, value: Value, kind: Expr) -> Value:
        """A constructor's name becomes data with holes as fields."""
        if not isinstance(value, str):
            return value
        return (value, [Hole(field) for field in self._fields(value, kind)])

    def _fields(self, constructor: str, kind: Expr) -> tuple[Expr, ...]:
        assert isinstance(kind, Term)
        if constructor == "Prod.mk":
            return kind.args
        datatype, item = self._theory.constructors()[constructor]
        params = dict(zip(datatype.params, kind.args, strict=False))
        return tuple(substitute(arg, params) for arg in item.args)

    # -- what was found -----------------------------------------------------------------------------

    def _term(self, hole: Hole) -> Expr:
        """The value as a term; what nobody looked at becomes as small as possible."""
        value = hole.value
        if value is None:
            value = self._fresh(self._default(hole.kind), hole.kind)
        if isinstance(value, bool):
            return Term("true" if value else "false")
        if isinstance(value, int):
            return Term(str(value) if value >= 0 else f"({value})")
        return Term(value[0], tuple(self._term(field) for field in value[1]))

    def _default(self, kind: Expr) -> Value:
        head = kind.head if isinstance(kind, Term) and not kind.is_var else ""
        return "Prod.mk" if head == "Prod" else self._smallest.get(head, False if head == "Bool" else 0)


def counterexample(terms: Sequence[Expr], statement: Statement) -> Counterexample:
    """Values in the order of the variables; elements of any type are natural numbers."""
    chosen: dict[str, Expr] = {name: Term("Nat") for name in statement.types}
    kinds = [show(substitute(kind, chosen)) for _, kind in statement.binders]
    texts = [show(term) for term in terms]
    return Counterexample(
        values=tuple(f"({text} : {kind})" for text, kind in zip(texts, kinds, strict=True)),
        readable=", ".join(f"{name} = {text}" for (name, _), text in zip(statement.binders, texts, strict=True)),
    )


def _smallest_constructors(theory: Theory) -> dict[str, str]:
    """For each datatype a constructor from which a finite value can be built."""
    found: dict[str, str] = {}
    is_new = True
    while is_new:
        is_new = False
        for name, kind in theory.datatypes.items():
            for item in kind.constructors if name not in {*found, "Bool", "Nat"} else ():
                needed = frozenset[str]().union(*(constants(arg) for arg in item.args)) & theory.datatypes.keys()
                if needed <= {*found, "Bool", "Nat"}:
                    found[name] = item.name
                    is_new = True
                    break
    return found
