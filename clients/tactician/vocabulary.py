"""The words of exploration: functions and constructors at the types of a problem, and variables with values."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

import msgspec

from .definitions import Names
from .evaluation import Evaluator, Undefined, Value
from .statements import Statement
from .terms import ARROW, Expr, Term, arrow_parts, substitute, subterms, var
from .theory import Theory

VALUATIONS = 36

Vector = tuple[Value, ...]


class Operation(msgspec.Struct, frozen=True):
    """A constant or function variable at one instance of its type."""

    head: str
    args: tuple[Expr, ...]
    result: Expr
    run: Callable[..., Value]
    is_var: bool = False


class Vocabulary:
    """Operations and variables; each variable has one value for each valuation."""

    def __init__(self, theory: Theory, goal: Statement, evaluator: Evaluator, rng: random.Random) -> None:
        self._theory = theory
        self._goal = goal
        self._evaluator = evaluator
        self._rng = rng
        self._names = Names(theory)
        self.kinds: dict[str, Expr] = {}
        self.values: dict[str, Vector] = {}
        self.operations = self._instances()
        self._make_variables()

    def least(self, kind: Expr) -> Operation | None:
        """The constructor without arguments of a type that has one such, Booleans excepted."""
        found = [item for item in self.operations if item.result == kind and not item.args and not item.is_var]
        found = [item for item in found if self._evaluator.is_constructor(item.head)]
        return found[0] if len(found) == 1 else None

    def _instances(self) -> list[Operation]:
        """Functions and constructors at the element types that the problem mentions."""
        elements = self._element_types()
        found: dict[tuple[str, tuple[Expr, ...], Expr], Operation] = {}
        for name in self._theory.functions:
            if name not in self._evaluator.broken:
                self._add_instances(found, name, elements)
        if len(found) == 0:
            return []
        needed = {kind for item in found.values() for kind in (*item.args, item.result)}
        for name in self._theory.constructors():
            extra: dict[tuple[str, tuple[Expr, ...], Expr], Operation] = {}
            self._add_instances(extra, name, elements)
            found.update({key: item for key, item in extra.items() if item.result in needed})
        return list(found.values())

    def _element_types(self) -> list[Expr]:
        ground = [kind for _, kind in self._goal.binders]
        for function in self._theory.functions.values():
            if not function.params:
                ground += [*function.args, function.result]
        found: dict[Expr, None] = {var(name): None for name in self._goal.types}
        for kind in ground:
            for sub in subterms(kind):
                if isinstance(sub, Term) and sub.head != ARROW:
                    found.update({arg: None for arg in sub.args if isinstance(arg, Term) and not arg.args})
        if "pair" in " ".join(self._theory.datatypes) and len(self._goal.types) >= 2:
            pair = next(name for name in self._theory.datatypes if "pair" in name)
            found[Term(pair, (var(self._goal.types[0]), var(self._goal.types[1])))] = None
        if not found:
            found = {
                Term(name): None for name, kind in self._theory.datatypes.items() if not kind.params and name != "Bool"
            }
        return list(found)[:4]

    def _add_instances(
        self, found: dict[tuple[str, tuple[Expr, ...], Expr], Operation], name: str, elements: list[Expr]
    ) -> None:
        known = self._names.signatures[name]
        for chosen in itertools.product(elements, repeat=len(known.params)):
            if (
                len(chosen) >= 2
                and len(self._goal.types) >= 2
                and chosen[:2] != tuple(var(t) for t in self._goal.types[:2])
            ):
                continue
            mapping = dict(zip(known.params, chosen, strict=True))
            args = tuple(substitute(arg, mapping) for arg in known.args)
            result = substitute(known.result, mapping)
            inputs = tuple(f"i{index}" for index in range(len(args)))
            try:
                run = self._evaluator.compile(Term(name, tuple(var(item) for item in inputs)), inputs)
            except Undefined:
                continue
            found[name, args, result] = Operation(name, args, result, run)

    def _make_variables(self) -> None:
        kinds = dict.fromkeys(kind for item in self.operations for kind in item.args)
        taken = set(self._names.signatures) | set(self._goal.types)
        for kind in kinds:
            is_function = bool(arrow_parts(kind)[0])
            count = 2 if is_function else 1 if kind == Term("Bool") else 3
            for name in itertools.islice(self._fresh_names(kind, taken), count):
                taken.add(name)
                self.kinds[name] = kind
                self.values[name] = tuple(self._evaluator.random_value(kind, 3, self._rng) for _ in range(VALUATIONS))
        for name, kind in self.kinds.items():
            args, result = arrow_parts(kind)
            if args:
                self.operations.append(Operation(name, args, result, _call, True))

    def _fresh_names(self, kind: Expr, taken: set[str]) -> Iterator[str]:
        if arrow_parts(kind)[0]:
            stems = ["f", "g", "h"]
        elif isinstance(kind, Term) and kind.head in self._theory.datatypes:
            datatype = self._theory.datatypes[kind.head]
            is_list = bool(kind.args) and len(datatype.constructors) == 2
            stems = (
                ["xs", "ys", "zs"]
                if is_list
                else ["m", "n", "k"]
                if self._evaluator.is_unary(kind.head)
                else ["t", "u", "v"]
            )
        else:
            stems = ["x", "y", "z"]
        for suffix in itertools.chain([""], map(str, range(1, 99))):
            for stem in stems:
                if stem + suffix not in taken:
                    yield stem + suffix


def _call(function: Callable[..., Value], *args: Value) -> Value:
    return function(*args)
