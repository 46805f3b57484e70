"""Running a problem's functions in Python, to test conjectures on random values."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .compiling import Compiler, Undefined
from .statements import Statement
from .terms import Expr, Term, arrow_parts, substitute
from .theory import Datatype, Theory

Value = Any
"""Unary numbers are ints, Booleans bools, elements of a type variable small ints, all else (constructor, fields…)."""


CALLS_PER_RUN = 4_000
"""Calls of the problem's functions that one evaluation may make."""

CALLS_PER_SEARCH = 40_000
"""Calls that a search for a witness may make."""

POOL = 120
"""Random values of each type and size that tests choose from: choosing is much cheaper than making."""

RENEWED = 0.1
"""How often a value that is chosen is made anew, so that what all of them hide comes to light in time."""

_LIMITS = (RecursionError, Undefined, MemoryError, OverflowError)


class Evaluator:
    """Compiles definitions once; every generated name is made here, so no text of the problem is executed."""

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self._constructors = theory.constructors()
        self._unary = {name for name, kind in theory.datatypes.items() if is_unary(kind)}
        self._function_ids = {name: f"f{index}" for index, name in enumerate(theory.functions)}
        self._tags = {name: index for index, name in enumerate(self._constructors)}
        self.fuel = [CALLS_PER_RUN]
        self._scope: dict[str, Any] = {
            "undefined": _undefined,
            "fuel": self.fuel,
            "append": self._append,
            "quotient": quotient,
            "remainder": remainder,
        }
        self.has_integers = theory.has_integers()
        self.broken: set[str] = set()
        self._pools: dict[tuple[Expr, int], list[Value]] = {}
        self._compile_all()

    def _compile_all(self) -> None:
        for function in self.theory.functions.values():
            try:
                source = Compiler(self).function(function, self._function_ids[function.name])
            except Undefined:
                self.broken.add(function.name)
                source = f"def {self._function_ids[function.name]}(*_): return undefined()"
            exec(compile(source, "<definitions>", "exec"), self._scope)  # noqa: S102 - the text is generated here

    def constructor(self, name: str) -> tuple[int, Datatype, int]:
        """Tag, datatype and number of fields."""
        kind, item = self._constructors[name]
        return self._tags[name], kind, len(item.args)

    def is_constructor(self, name: str) -> bool:
        """Whether the head builds data."""
        return name in self._constructors

    def is_unary(self, kind: str) -> bool:
        """Whether values of the datatype are ints here."""
        return kind in self._unary

    def function_id(self, name: str) -> tuple[str, int] | None:
        """Generated name of a compiled function and the number of its arguments."""
        known = self._function_ids.get(name)
        return None if known is None else (known, len(self.theory.functions[name].args))

    def compile(self, expr: Expr, names: tuple[str, ...]) -> Callable[..., Value]:
        """A Python function of the given variables; raises Undefined."""
        compiler = Compiler(self)
        env = {name: f"a{index}" for index, name in enumerate(names)}
        source = f"lambda {', '.join(env.values())}: {compiler.expression(expr, env)}"
        try:
            return eval(source, self._scope)  # noqa: S307 - the text is generated here
        except (SyntaxError, MemoryError, RecursionError):
            raise Undefined(source[:80]) from None

    def _append(self, left: Value, right: Value) -> Value:
        nil, cons = self._tags["List.nil"], self._tags["List.cons"]
        items: list[Value] = []
        while left[0] != nil:
            items.append(left[1])
            left = left[2]
        for item in reversed(items):
            right = (cons, item, right)
        return right

    def random_value(self, kind: Expr, size: int, rng: random.Random) -> Value:
        """A random inhabitant of about the given size."""
        args, result = arrow_parts(kind)
        if args:
            return self._random_function(result, rng)
        if not isinstance(kind, Term) or kind.is_var:
            return rng.randint(0, 2)
        if kind.head == "Bool":
            return rng.random() < 0.5
        if kind.head == "Int":
            return rng.randint(-1, max(size, 0))
        if kind.head in self._unary:
            return rng.randint(0, max(size, 0))
        if kind.head == "Prod":
            return tuple(self.random_value(arg, size, rng) for arg in kind.args)
        datatype = self.theory.datatypes.get(kind.head)
        if datatype is None:
            return rng.randint(0, 2)
        return self._random_data(datatype, kind, size, rng)

    def chosen_value(self, kind: Expr, size: int, rng: random.Random) -> Value:
        """One of a number of random values that were made before; functions are made anew."""
        if arrow_parts(kind)[0]:
            return self.random_value(kind, size, rng)
        pool = self._pools.setdefault((kind, size), [])
        at = int(rng.random() * POOL)
        if at >= len(pool):
            at = len(pool)
            pool.append(self.random_value(kind, size, rng))
        elif rng.random() < RENEWED:
            pool[at] = self.random_value(kind, size, rng)
        return pool[at]

    def term(self, value: Value, kind: Expr) -> Expr:
        """A value as a term, for people to read."""
        if isinstance(value, bool):
            return Term("true" if value else "false")
        datatype = self.theory.datatypes.get(kind.head) if isinstance(kind, Term) and not kind.is_var else None
        if datatype is None or not isinstance(kind, Term):
            return Term("_" if not isinstance(value, int) else str(value) if value >= 0 else f"({value})")
        if isinstance(value, int) and datatype.name == "Nat":
            return Term(str(value))
        if isinstance(value, int):
            zero, successor = sorted(datatype.constructors, key=lambda item: len(item.args))
            return Term(zero.name) if value == 0 else Term(successor.name, (self.term(value - 1, kind),))
        name = next(name for name, tag in self._tags.items() if tag == value[0])
        params = dict(zip(datatype.params, kind.args, strict=False))
        args = zip(value[1:], self._constructors[name][1].args, strict=True)
        return Term(name, tuple(self.term(field, substitute(arg, params)) for field, arg in args))

    def _random_function(self, result: Expr, rng: random.Random) -> Value:
        seed = rng.random()
        known: dict[Value, Value] = {}

        def call(*args: Value) -> Value:
            if args not in known:
                known[args] = self.random_value(result, 2, random.Random(f"{seed}{args}"))
            return known[args]

        return call

    def _random_data(self, datatype: Datatype, kind: Term, size: int, rng: random.Random) -> Value:
        mapping = dict(zip(datatype.params, kind.args, strict=False))
        base = [item for item in datatype.constructors if not any(_occurs(datatype.name, arg) for arg in item.args)]
        if len(base) == 1 and len(datatype.constructors) == 2 and not base[0].args:
            rec = next(item for item in datatype.constructors if item is not base[0])
            if sum(_occurs(datatype.name, arg) for arg in rec.args) == 1:
                value: Value = (self._tags[base[0].name],)
                for _ in range(rng.randint(0, size)):
                    fields = (
                        value if _occurs(datatype.name, arg) else self.random_value(substitute(arg, mapping), 2, rng)
                        for arg in rec.args
                    )
                    value = (self._tags[rec.name], *fields)
                return value
        item = rng.choice(datatype.constructors if size > 0 else (base or datatype.constructors))
        if size < -8:
            raise Undefined("no finite value")
        fields = (self.random_value(substitute(arg, mapping), size - 1, rng) for arg in item.args)
        return (self._tags[item.name], *fields)


def is_unary(kind: Datatype) -> bool:
    """Zero and successor: values can be ints."""
    if kind.params or len(kind.constructors) != 2:
        return False
    zero, successor = sorted(kind.constructors, key=lambda item: len(item.args))
    return not zero.args and successor.args == (Term(kind.name),)


def _occurs(name: str, kind: Expr) -> bool:
    return isinstance(kind, Term) and (kind.head == name or any(_occurs(name, arg) for arg in kind.args))


def quotient(left: int, right: int) -> int:
    """Division of integers with a remainder that is never negative; by zero it gives zero."""
    return 0 if right == 0 else left // right if right > 0 else -(left // -right)


def remainder(left: int, right: int) -> int:
    """What `quotient` leaves."""
    return left % abs(right) if right else left


def _undefined() -> Value:
    raise Undefined


def find_witness(
    statement: Statement, evaluator: Evaluator, *, tests: int = 120, rng: random.Random
) -> dict[str, Value] | None:
    """Values that make the statement false, or None; raises Undefined when it cannot be run at all."""
    names = tuple(name for name, _ in statement.binders)
    holds = evaluator.compile(statement.body, names)
    useful = 0
    left = CALLS_PER_SEARCH
    for index in range(tests):
        evaluator.fuel[0] = start = min(left, CALLS_PER_RUN)
        try:
            values = [evaluator.chosen_value(kind, 1 + index % 5, rng) for _, kind in statement.binders]
            if not holds(*values):
                return dict(zip(names, values, strict=True))
            useful += 1
        except _LIMITS:
            pass
        left -= start - max(evaluator.fuel[0], 0)
        if left <= 0:
            break
    if not useful:
        raise Undefined("no test ran")
    return None


def limits() -> tuple[type[BaseException], ...]:
    """What evaluation of a term may raise on large values."""
    return _LIMITS
