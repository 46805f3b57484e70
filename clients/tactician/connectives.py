"""What equality, conditionals and Boolean connectives mean to rewriting."""

from __future__ import annotations

from collections.abc import Container

from .terms import Binding, Expr, Term, apply, substitute

HEADS = frozenset({"ite", "apply", "=", "Bool.and", "Bool.or", "Bool.not", "decide"})
"""Heads of terms that have a meaning of their own here."""

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


def decided(term: Term) -> Expr | None:
    """A conditional whose condition is decided."""
    condition = term.args[0]
    if condition == Term("True"):
        return term.args[1]
    if condition == Term("False"):
        return term.args[2]
    return term.args[1] if term.args[1] == term.args[2] else None


def built_in(term: Term) -> Expr | None:
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


def compared(term: Term, constructors: Container[str]) -> Expr | None:
    """An equation between built values: it is false, or about their one argument."""
    if term.head != "=" or len(term.args) != 2:
        return None
    left, right = term.args
    if not isinstance(left, Term) or not isinstance(right, Term):
        return None
    if left.head not in constructors or right.head not in constructors:
        return None
    if left.head != right.head:
        return Term("False")
    return Term("=", (left.args[0], right.args[0])) if len(left.args) == len(right.args) == 1 else None
