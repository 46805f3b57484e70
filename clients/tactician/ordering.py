"""A total order on terms that makes equations into rules."""

from __future__ import annotations

from .terms import Expr, Term, constants, size, variables
from .theory import Theory

FIXED = "!"
"""Marks variables of a goal that stand for themselves: constants, lowest in the order."""


LARGEST_COMPARED = 80
"""Heads in two terms that are still compared."""

MOST_KNOWN = 50_000
"""Comparisons that are remembered."""


class Precedence:
    """A total order on heads: constructors lowest, then functions by their arguments, then by their calls.

    What takes lists is above what takes numbers only: a length of a difference becomes a difference of lengths.
    """

    def __init__(self, theory: Theory) -> None:
        self._rank: dict[str, int] = {}
        self._known: dict[tuple[Expr, Expr], bool] = {}
        for index, name in enumerate(theory.constructors()):
            self._rank[name] = index - 1000
        calls = {
            name: frozenset[str]().union(*(constants(body) for _, body in function.rows))
            & theory.functions.keys() - {name}
            for name, function in theory.functions.items()
        }
        uses = {name: sum(name in called for called in calls.values()) for name in calls}
        order = list(theory.functions)
        place = {name: at for at, name in enumerate(order)}
        order.sort(key=lambda name: (_reach(name, theory), _height(name, calls, ()), -uses[name], place[name]))
        for index, name in enumerate(order):
            self._rank[name] = index

    def rank(self, term: Term) -> int:
        """Position of the head; variables applied to arguments come between constructors and operations."""
        if term.head.startswith(FIXED):
            return -500 if term.args else -2000
        return -500 if term.is_var else self._rank.get(term.head, -400)

    def is_greater(self, left: Expr, right: Expr) -> bool:
        """Lexicographic path order; terms that are large together are not compared."""
        if size(left) + size(right) > LARGEST_COMPARED:
            return False
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        return self._is_greater(left, right, self._known)

    def _is_greater(self, left: Expr, right: Expr, known: dict[tuple[Expr, Expr], bool]) -> bool:
        if left == right or not isinstance(left, Term) or not isinstance(right, Term):
            return False
        answer = known.get((left, right))
        if answer is None:
            answer = known[left, right] = self._compare(left, right, known)
        return answer

    def _compare(self, left: Term, right: Term, known: dict[tuple[Expr, Expr], bool]) -> bool:
        if right.is_var and not right.args:
            return right.head in variables(left)
        if left.is_var and not left.args:
            return False
        if any(arg == right or self._is_greater(arg, right, known) for arg in left.args):
            return True
        if left.head == right.head:
            for one, other in zip(left.args, right.args, strict=False):
                if one != other:
                    return self._is_greater(one, other, known) and self._is_above(left, right, known)
            return False
        return self.rank(left) > self.rank(right) and self._is_above(left, right, known)

    def _is_above(self, left: Term, right: Term, known: dict[tuple[Expr, Expr], bool]) -> bool:
        return all(self._is_greater(left, arg, known) for arg in right.args)

    def orient(self, left: Expr, right: Expr) -> tuple[Expr, Expr] | None:
        """The equation as a rule from greater to smaller, or None."""
        if self.is_greater(left, right):
            return left, right
        if self.is_greater(right, left):
            return right, left
        return None


def _reach(name: str, theory: Theory) -> int:
    """Whether an argument holds values of another type."""
    return int(any(isinstance(arg, Term) and arg.args and arg.head != "→" for arg in theory.functions[name].args))


def _height(name: str, calls: dict[str, frozenset[str]], path: tuple[str, ...]) -> int:
    if name in path:
        return 0
    return 1 + max((_height(called, calls, (*path, name)) for called in calls[name]), default=-1)
