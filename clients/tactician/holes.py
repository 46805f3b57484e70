"""Values that are known in part, and what the built-in operations make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .evaluation import quotient, remainder
from .terms import Expr

Value = Any
"""Booleans, integers, functions of delayed arguments, and built data as `(constructor, delayed fields)`."""

Lazy = Any
"""A hole, or a value that is known or delayed: anything with `force`."""

Code = Callable[[tuple[Lazy, ...]], Value]


class Needed(Exception):
    """Evaluation looked at a hole."""

    def __init__(self, hole: Hole) -> None:
        super().__init__()
        self.hole = hole


class Hole:
    """A value that is not chosen yet; its fields are holes again."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: Expr) -> None:
        self.kind = kind
        self.value: Value = None

    def force(self) -> Value:
        """The value down to its constructor; raises Needed."""
        if self.value is None:
            raise Needed(self)
        return self.value


class Known:
    """A value that needs no evaluation."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def force(self) -> Value:
        """The value."""
        return self.value


class Delayed:
    """A term that is evaluated when somebody looks, once."""

    __slots__ = ("_code", "_env", "_value")

    def __init__(self, code: Code, env: tuple[Lazy, ...]) -> None:
        self._code: Code | None = code
        self._env = env
        self._value: Value = None

    def force(self) -> Value:
        """The value down to its constructor."""
        if self._code is not None:
            self._value = self._code(self._env)
            self._code, self._env = None, ()
        return self._value


def curried(function: Callable[[list[Lazy]], Value], arity: int, given: tuple[Lazy, ...] = ()) -> Value:
    """A function of so many arguments as a value that takes them one by one."""

    def take(argument: Lazy) -> Value:
        known = (*given, argument)
        return function(list(known)) if len(known) == arity else curried(function, arity, known)

    return take if arity else function([])


def apply_to(function: Value, args: Sequence[Lazy]) -> Value:
    """A function value applied to delayed arguments, one after another."""
    for arg in args:
        function = function(arg)
    return function


def append(given: Sequence[Lazy]) -> Value:
    """`++` of two lists, as far as somebody looks."""
    built = given[0].force()
    if built[0] == "List.nil":
        return given[1].force()
    rest = Delayed(append, (built[1][1], given[1]))
    return ("List.cons", [built[1][0], rest])


def _either(left: Lazy, right: Lazy, wanted: bool) -> bool:
    """Whether one side is as wanted; a hole on one side does not hide what the other says."""
    try:
        if left.force() is wanted:
            return True
    except Needed:
        if right.force() is wanted:
            return True
        raise
    return right.force() is wanted


def _implies(left: Lazy, right: Lazy) -> bool:
    return _either(Delayed(lambda env: not env[0].force(), (left,)), right, True)


def _equal(left: Lazy, right: Lazy) -> bool:
    one: Value = left.force()
    other: Value = right.force()
    if isinstance(one, bool | int):
        return one == other
    if one[0] != other[0]:
        return False
    hole: Needed | None = None
    for pair in zip(one[1], other[1], strict=True):
        try:
            if not _equal(*pair):
                return False
        except Needed as needed:
            hole = hole or needed
    if hole is not None:
        raise hole
    return True


CONSTANTS: dict[str, Value] = {"true": True, "false": False, "True": True, "False": False, "Nat.zero": 0}
NUMBERS: dict[str, Callable[[int, int], Value]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": quotient,
    "%": remainder,
    "<": lambda one, other: one < other,
    "≤": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    "≥": lambda one, other: one >= other,
}


def _and(left: Lazy, right: Lazy) -> bool:
    return not _either(left, right, False)


def _or(left: Lazy, right: Lazy) -> bool:
    return _either(left, right, True)


def _not(value: Lazy) -> bool:
    return not value.force()


def _same(left: Lazy, right: Lazy) -> bool:
    return left.force() == right.force()


def _different(left: Lazy, right: Lazy) -> bool:
    return not _equal(left, right)


def _itself(value: Lazy) -> Value:
    return value.force()


CONNECTIVES: dict[tuple[str, int], Callable[..., Value]] = {
    ("Bool.and", 2): _and,
    ("∧", 2): _and,
    ("Bool.or", 2): _or,
    ("∨", 2): _or,
    ("Bool.not", 1): _not,
    ("¬", 1): _not,
    ("→", 2): _implies,
    ("Tip.imp", 2): _implies,
    ("↔", 2): _same,
    ("decide", 1): _itself,
    ("=", 2): _equal,
    ("==", 2): _equal,
    ("≠", 2): _different,
}
