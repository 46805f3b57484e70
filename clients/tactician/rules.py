"""Rewrite rules: their form, those that a definition gives, and what a permutative one may do."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from .terms import Expr, Term, is_plain, plain_args, size, subterms


class Rule(msgspec.Struct, frozen=True):
    """A rewrite rule; a permutative one is used only when it makes the term smaller."""

    left: Term
    right: Expr
    is_permutative: bool = False
    conditions: tuple[tuple[Expr, Expr], ...] = ()
    """Equations that must hold after rewriting."""

    source: str = ""
    """How a simplifier names the rule."""


def is_smaller(left: Expr, right: Expr) -> bool:
    """By size, then by the heads in reading order."""
    difference = size(left) - size(right)
    if difference:
        return difference < 0
    ones, others = [left], [right]
    while ones and others:
        one, other = ones.pop(), others.pop()
        if one is other:
            continue
        if not isinstance(one, Term) or not isinstance(other, Term):
            return _outline(left) < _outline(right)
        if one.head != other.head:
            return one.head < other.head
        ones += one.args[::-1]
        others += other.args[::-1]
    return bool(others)


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
