"""Rewrite rules as Python functions, for those that are tried again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .terms import Expr, Term, variables

Fired = tuple[Expr, tuple[tuple[Expr, Expr], ...]]
Fire = Callable[[Term], Fired | None]
"""What a rule makes of a term and the equations that must hold for that, None when it does not match."""


class NotPlain(Exception):
    """A rule with functions as variables, or with binders."""


def compiled(left: Term, right: Expr, conditions: tuple[tuple[Expr, Expr], ...]) -> Fire:
    """The rule as a function; every name in its text is made here.

    Raises:
        NotPlain: matching has to look at more than heads and arguments.
    """
    writer = _Writer()
    if left.is_var:
        raise NotPlain
    lines = ["def fire(t):"]
    writer.match(left, "t", lines)
    sides = "".join(f"({writer.build(one)}, {writer.build(other)}), " for one, other in conditions)
    lines.append(f"    return {writer.build(right)}, ({sides})")
    exec(compile("\n".join(lines), "<rule>", "exec"), writer.scope)  # noqa: S102 - the text is generated here
    return writer.scope["fire"]


class _Writer:
    """Text of one function; heads and terms without variables are constants in its scope."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"Term": Term}
        self._bound: dict[str, str] = {}
        self._count = 0

    def _name(self, stem: str, value: object = None) -> str:
        self._count += 1
        name = f"{stem}{self._count}"
        if value is not None:
            self.scope[name] = value
        return name

    def match(self, pattern: Term, place: str, lines: list[str]) -> None:
        """Lines that return None unless the term at the place has the pattern's head, and all below it fits."""
        is_known = place == "t"
        head = (
            "" if is_known else f"{place}.__class__ is not Term or {place}.head != {self._name('h', pattern.head)} or "
        )
        own = "" if is_known else f" or {place}.is_var"
        if not pattern.args:
            lines.append(f"    if {head}{place}.args{own}: return None")
            return
        args = self._name("a")
        lines.append(f"    {args} = {place}.args if {place}.__class__ is Term else ()")
        lines.append(f"    if {head}len({args}) != {len(pattern.args)}{own}: return None")
        for index, arg in enumerate(pattern.args):
            if not isinstance(arg, Term) or (arg.is_var and arg.args):
                raise NotPlain
            if not arg.is_var:
                inner = self._name("p")
                lines.append(f"    {inner} = {args}[{index}]")
                self.match(arg, inner, lines)
            elif (known := self._bound.get(arg.head)) is not None:
                lines.append(f"    if {args}[{index}] != {known}: return None")
            else:
                self._bound[arg.head] = self._name("v")
                lines.append(f"    {self._bound[arg.head]} = {args}[{index}]")

    def build(self, expr: Expr) -> str:
        """Text for the expression with its variables bound."""
        if not isinstance(expr, Term):
            raise NotPlain
        if not any(name in self._bound for name in variables(expr)):
            return self._name("g", expr)
        if not expr.args:
            return self._bound[expr.head]
        if expr.is_var:
            raise NotPlain
        args = ", ".join(self.build(arg) for arg in expr.args)
        return f"Term({self._name('h', expr.head)}, ({args},), False)"
