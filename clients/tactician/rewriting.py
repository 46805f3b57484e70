"""Term order, oriented equations and normal forms: what a simplifier would do, without Lean."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from .definitions import Theory
from .terms import Expr, Term, constants, is_plain, match, plain_args, size, substitute, variables


class Precedence:
    """A total order on heads: constructors lowest, then functions by the height of their call graph."""

    def __init__(self, theory: Theory) -> None:
        self._rank: dict[str, int] = {}
        for index, name in enumerate(theory.constructors()):
            self._rank[name] = index - 1000
        calls = {
            name: frozenset().union(*(constants(body) for _, body in function.rows)) & theory.functions.keys() - {name}
            for name, function in theory.functions.items()
        }
        uses = {name: sum(name in called for called in calls.values()) for name in calls}
        order = list(theory.functions)
        order.sort(key=lambda name: (_height(name, calls, ()), -uses[name], list(theory.functions).index(name)))
        for index, name in enumerate(order):
            self._rank[name] = index

    def rank(self, term: Term) -> int:
        """Position of the head; variables applied to arguments come between constructors and operations."""
        return -500 if term.is_var else self._rank.get(term.head, -400)

    def is_greater(self, left: Expr, right: Expr) -> bool:
        """Lexicographic path order."""
        if left == right or not isinstance(left, Term) or not isinstance(right, Term):
            return False
        if right.is_var and not right.args:
            return right.head in variables(left)
        if left.is_var and not left.args:
            return False
        if any(arg == right or self.is_greater(arg, right) for arg in left.args):
            return True
        if left.head == right.head:
            for one, other in zip(left.args, right.args, strict=False):
                if one != other:
                    return self.is_greater(one, other) and all(self.is_greater(left, arg) for arg in right.args)
            return False
        return self.rank(left) > self.rank(right) and all(self.is_greater(left, arg) for arg in right.args)

    def orient(self, left: Expr, right: Expr) -> tuple[Expr, Expr] | None:
        """The equation as a rule from greater to smaller, or None."""
        if self.is_greater(left, right):
            return left, right
        if self.is_greater(right, left):
            return right, left
        return None


def _height(name: str, calls: dict[str, frozenset[str]], path: tuple[str, ...]) -> int:
    if name in path:
        return 0
    return 1 + max((_height(called, calls, (*path, name)) for called in calls[name]), default=-1)


class Rule(msgspec.Struct, frozen=True):
    """A rewrite rule; a permutative one is used only when it makes the term smaller."""

    left: Term
    right: Expr
    is_permutative: bool = False


class Rewriter:
    """Innermost normal forms under the definitions and the equations added so far."""

    def __init__(self, theory: Theory, precedence: Precedence) -> None:
        self._precedence = precedence
        self._rules: dict[str, list[Rule]] = {}
        self._memo: dict[Expr, Expr] = {}
        self._fuel = 0
        for function in theory.functions.values():
            for rule in defining_rules(function.name, function.rows):
                self._rules.setdefault(function.name, []).append(rule)

    def add(self, left: Expr, right: Expr) -> None:
        """Use a proved equation from now on."""
        if not is_plain(left) or not is_plain(right):
            return
        rule = self._precedence.orient(left, right)
        if rule is not None and isinstance(rule[0], Term):
            self._insert(Rule(rule[0], rule[1]))
        elif isinstance(left, Term) and isinstance(right, Term) and set(variables(left)) == set(variables(right)):
            self._insert(Rule(left, right, True))
            self._insert(Rule(right, left, True))

    def _insert(self, rule: Rule) -> None:
        if rule.left.is_var and not rule.left.args:
            return
        self._rules.setdefault(rule.left.head, []).append(rule)
        self._memo.clear()

    def joins(self, left: Expr, right: Expr) -> bool:
        """Whether both sides have the same normal form."""
        return left == right or self.normal(left) == self.normal(right)

    def normal(self, expr: Expr, fuel: int = 400) -> Expr:
        """The normal form, or what was reached when the steps ran out."""
        self._fuel = fuel
        return self._normal(expr)

    def _normal(self, expr: Expr) -> Expr:
        if not isinstance(expr, Term) or (expr.is_var and not expr.args):
            return expr
        known = self._memo.get(expr)
        if known is not None:
            return known
        current: Expr = Term(expr.head, tuple(self._normal(arg) for arg in expr.args), expr.is_var)
        if self._fuel > 0 and (reduced := self._step(current)) is not None:
            self._fuel -= 1
            current = self._normal(reduced)
        if self._fuel > 0:
            self._memo[expr] = current
        return current

    def _step(self, term: Expr) -> Expr | None:
        if not isinstance(term, Term):
            return None
        if term.head == "ite" and isinstance(term.args[0], Term):
            return _decided(term)
        for rule in self._rules.get(term.head, ()):
            found: dict[str, Expr] = {}
            if not match(rule.left, term, found):
                continue
            result = substitute(rule.right, found)
            if rule.is_permutative and not _is_smaller(result, term):
                continue
            return result
        return None


def _decided(term: Term) -> Expr | None:
    condition = term.args[0]
    if isinstance(condition, Term) and condition.head == "=" and condition.args[0] == condition.args[1]:
        return term.args[1]
    if (
        isinstance(condition, Term)
        and condition.head == "="
        and {_name(arg) for arg in condition.args} == {"true", "false"}
    ):
        return term.args[2]
    return None


def _name(expr: Expr) -> str:
    return expr.head if isinstance(expr, Term) else ""


def _is_smaller(left: Expr, right: Expr) -> bool:
    return (size(left), repr(left)) < (size(right), repr(right))


def defining_rules(name: str, rows: Iterable[tuple[tuple[Expr, ...], Expr]]) -> list[Rule]:
    """Rows without binders whose patterns do not overlap with an earlier row."""
    found: list[Rule] = []
    seen: list[Term] = []
    for index, (patterns, body) in enumerate(rows):
        left = _named(Term(name, patterns), index)
        if not any(_overlap(earlier, left) for earlier in seen) and is_plain(body):
            found.append(Rule(left, body))
        seen.append(left)
    return found


def _named(term: Term, index: int) -> Term:
    """Distinct names for wildcards."""
    count = 0

    def walk(expr: Expr) -> Expr:
        nonlocal count
        if not isinstance(expr, Term):
            return expr
        if expr.head == "_":
            count += 1
            return Term(f"_{index}_{count}", (), True)
        return Term(expr.head, tuple(walk(arg) for arg in expr.args), expr.is_var)

    result = walk(term)
    return result if isinstance(result, Term) else term


def _overlap(one: Expr, other: Expr) -> bool:
    """Whether two linear patterns have a common instance."""
    if not isinstance(one, Term) or not isinstance(other, Term) or one.is_var or other.is_var:
        return True
    if one.head != other.head or len(one.args) != len(other.args):
        return False
    return all(_overlap(left, right) for left, right in zip(plain_args(one), plain_args(other), strict=False))
