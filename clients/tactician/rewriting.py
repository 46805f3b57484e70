"""Oriented equations and normal forms: what a simplifier would do, without Lean."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from .ordering import Precedence
from .terms import (
    Binding,
    Expr,
    Term,
    apply,
    is_larger,
    is_plain,
    match,
    may_match,
    plain_args,
    size,
    substitute,
    subterms,
    variables,
)
from .theory import Theory

MOST_VISITS = 3_000
"""Subterms that one normal form may look at."""

LARGEST_TERM = 250
"""Rewriting that makes larger terms runs away: their size can double with every step."""

DEEPEST_CONDITION = 2
"""How often a condition of a condition is looked at."""

DEEPEST = 60
"""Rewriting that goes deeper runs away."""


class Rule(msgspec.Struct, frozen=True):
    """A rewrite rule; a permutative one is used only when it makes the term smaller."""

    left: Term
    right: Expr
    is_permutative: bool = False
    conditions: tuple[tuple[Expr, Expr], ...] = ()
    """Equations that must hold after rewriting."""

    source: str = ""
    """How a simplifier names the rule."""


class Rewriter:
    """Innermost normal forms under the definitions and the equations added so far."""

    def __init__(
        self,
        theory: Theory,
        precedence: Precedence,
        *,
        below: Rewriter | None = None,
        used: set[str] | None = None,
    ) -> None:
        self.used: set[str] = set() if used is None else used
        """Sources of the rules that were applied."""

        self._theory = theory
        self._constructors = theory.constructors()
        self._precedence = precedence
        self._below = below
        self._rules: dict[str, list[Rule]] = {}
        self._memos: tuple[dict[Expr, Expr], ...] = tuple({} for _ in range(DEEPEST_CONDITION + 1))
        self._fuel = 0
        self._nesting = 0
        self._depth = 0
        self._visits = 0
        self.count = 0 if below is None else below.count
        if below is None:
            for function in theory.functions.values():
                for rule in defining_rules(function.name, function.rows):
                    self._rules.setdefault(function.name, []).append(rule)

    def extended(self, used: set[str] | None = None) -> Rewriter:
        """A rewriter that starts with these rules; what is added stays there, what is applied goes into `used`."""
        return Rewriter(self._theory, self._precedence, below=self, used=used)

    def add(self, left: Expr, right: Expr, conditions: tuple[tuple[Expr, Expr], ...] = (), *, source: str = "") -> None:
        """Use a proved equation from now on, from greater to smaller side."""
        if not is_plain(left) or not is_plain(right):
            return
        oriented = self._precedence.orient(left, right)
        if oriented is not None:
            self.add_directed(*oriented, conditions, source=source)
        elif isinstance(left, Term) and isinstance(right, Term) and set(variables(left)) == set(variables(right)):
            self._insert(Rule(left, right, True, conditions, source))
            self._insert(Rule(right, left, True, conditions, source))

    def add_directed(
        self, left: Expr, right: Expr, conditions: tuple[tuple[Expr, Expr], ...] = (), *, source: str = ""
    ) -> None:
        """Use an equation from left to right, whatever the order says, unless it could be used again at once."""
        scope = set(variables(left))
        used = set(variables(right)).union(*(variables(side) for condition in conditions for side in condition))
        if isinstance(left, Term) and used <= scope and not any(match(left, sub, {}) for sub in subterms(right)):
            self._insert(Rule(left, right, False, conditions, source))

    def _insert(self, rule: Rule) -> None:
        if rule.left.is_var and not rule.left.args:
            return
        self._rules.setdefault(rule.left.head, []).append(rule)
        for memo in self._memos:
            memo.clear()
        self.count += 1

    def joins(self, left: Expr, right: Expr) -> bool:
        """Whether both sides have the same normal form."""
        return left == right or self.normal(left) == self.normal(right)

    def normal(self, expr: Expr, fuel: int = 300) -> Expr:
        """The normal form, or what was reached when the steps ran out."""
        self._fuel = fuel
        self._nesting = self._depth = 0
        self._visits = MOST_VISITS
        return self._normal(expr)

    def _normal(self, expr: Expr) -> Expr:
        if not isinstance(expr, Term) or (expr.is_var and not expr.args):
            return expr
        memo = self._memos[self._nesting]
        known = memo.get(expr)
        if known is not None:
            return known
        self._visits -= 1
        if self._visits < 0:
            self._fuel = 0
            return expr
        self._depth += 1
        if self._depth > DEEPEST:
            self._fuel = 0
        current: Expr = Term(expr.head, tuple(self._normal(arg) for arg in expr.args), expr.is_var)
        if self._fuel > 0 and (reduced := self._step(current)) is not None:
            self._fuel -= 1
            current = self._normal(reduced)
        self._depth -= 1
        if self._fuel > 0:
            memo[expr] = current
        return current

    def _step(self, term: Expr) -> Expr | None:
        if not isinstance(term, Term):
            return None
        if term.head == "ite":
            return _decided(term)
        if (known := _built_in(term) or self._compared(term)) is not None:
            return known
        layer: Rewriter | None = self
        while layer is not None:
            for rule in layer._rules.get(term.head, ()):  # noqa: SLF001 - layers are of this class
                if may_match(rule.left, term) and (result := self._apply(rule, term)) is not None:
                    return result
            layer = layer._below  # noqa: SLF001 - layers are of this class
        return None

    def _compared(self, term: Term) -> Expr | None:
        """An equation between built values: it is false, or about their one argument."""
        if term.head != "=" or len(term.args) != 2:
            return None
        left, right = term.args
        if not isinstance(left, Term) or not isinstance(right, Term):
            return None
        if left.head not in self._constructors or right.head not in self._constructors:
            return None
        if left.head != right.head:
            return Term("False")
        return Term("=", (left.args[0], right.args[0])) if len(left.args) == len(right.args) == 1 else None

    def _apply(self, rule: Rule, term: Term) -> Expr | None:
        found: dict[str, Expr] = {}
        if not match(rule.left, term, found):
            return None
        result = substitute(rule.right, found)
        if rule.is_permutative and not _is_smaller(result, term):
            return None
        if rule.conditions and not self._holds(rule.conditions, found):
            return None
        if is_larger(result, LARGEST_TERM):
            self._fuel = 0
            return None
        if rule.source:
            self.used.add(rule.source)
        return result

    def _holds(self, conditions: tuple[tuple[Expr, Expr], ...], found: dict[str, Expr]) -> bool:
        if self._nesting >= DEEPEST_CONDITION or self._fuel <= 0:
            return False
        self._nesting += 1
        try:
            return all(
                self._normal(substitute(left, found)) == self._normal(substitute(right, found))
                for left, right in conditions
            )
        finally:
            self._nesting -= 1


TRUE, FALSE = Term("true"), Term("false")


def as_equation(expr: Expr) -> tuple[Expr, Expr]:
    """A proposition as an equation: negations become false, others true."""
    if isinstance(expr, Term) and expr.head == "=" and len(expr.args) == 2:
        return expr.args[0], expr.args[1]
    if isinstance(expr, Term) and expr.head == "¬" and isinstance(expr.args[0], Term):
        inner = expr.args[0]
        if inner.head == "=" and inner.args[1] in {TRUE, FALSE}:
            return inner.args[0], FALSE if inner.args[1] == TRUE else TRUE
        return inner, Term("False")
    if isinstance(expr, Term) and expr.head == "≠":
        return Term("=", expr.args), Term("False")
    return expr, Term("True")


def _decided(term: Term) -> Expr | None:
    """A conditional whose condition is decided."""
    condition = term.args[0]
    if condition == Term("True"):
        return term.args[1]
    if condition == Term("False"):
        return term.args[2]
    return term.args[1] if term.args[1] == term.args[2] else None


def _built_in(term: Term) -> Expr | None:
    """Steps for equality and Boolean connectives."""
    args = term.args
    if term.head == "apply" and isinstance(args[0], Binding) and args[0].kind == "fun":
        return apply(substitute(args[0].body, {args[0].name: args[1]}), args[2:])
    if term.head == "=" and len(args) == 2:
        if args[0] == args[1]:
            return Term("True")
        return Term("False") if set(args) == {TRUE, FALSE} else None
    if term.head in {"Bool.and", "Bool.or"} and len(args) == 2:
        neutral, absorbing = (TRUE, FALSE) if term.head == "Bool.and" else (FALSE, TRUE)
        if absorbing in args:
            return absorbing
        if neutral in args:
            return args[1] if args[0] == neutral else args[0]
    if term.head == "Bool.not" and len(args) == 1 and args[0] in {TRUE, FALSE}:
        return FALSE if args[0] == TRUE else TRUE
    if term.head == "decide" and args[0] in {Term("True"), Term("False")}:
        return TRUE if args[0] == Term("True") else FALSE
    return None


def _is_smaller(left: Expr, right: Expr) -> bool:
    difference = size(left) - size(right)
    return difference < 0 or (difference == 0 and _outline(left) < _outline(right))


def _outline(expr: Expr) -> list[str]:
    """Heads in reading order."""
    return [sub.head for sub in subterms(expr) if isinstance(sub, Term)]


def defining_rules(name: str, rows: Iterable[tuple[tuple[Expr, ...], Expr]]) -> list[Rule]:
    """Rows without binders whose patterns do not overlap with an earlier row."""
    found: list[Rule] = []
    seen: list[Term] = []
    for index, (patterns, body) in enumerate(rows):
        left = _named(Term(name, patterns), index)
        if not any(_overlap(earlier, left) for earlier in seen) and is_plain(body):
            found.append(Rule(left, body, source=name))
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
