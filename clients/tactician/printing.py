"""Writing terms as Lean text."""

from __future__ import annotations

from .syntax import INFIX
from .terms import Binding, Expr, Match, Term

_OPERATORS: dict[str, tuple[str, int, int]] = {
    head: (symbol, left, right) for symbol, (left, right, head) in INFIX.items() if symbol not in {"->", "<="}
}
_CHAINLESS = {"=", "≠", "==", "<", "≤", ">", "≥", "↔"}
_RIGHT_TIGHT = {"→", "∧", "∨", "::", "^", "×", "∘"}
APPLICATION = 1024


def show(expr: Expr, power: int = 0) -> str:
    """Lean text, in parentheses where something that binds at `power` needs them."""
    if isinstance(expr, Term):
        text, own = _show_term(expr)
    elif isinstance(expr, Binding):
        text, own = _show_binding(expr), 0
    else:
        text, own = _show_match(expr), 0
    return f"({text})" if own < power else text


def _show_term(term: Term) -> tuple[str, int]:
    args = term.args
    if term.head in _OPERATORS and len(args) == 2:
        symbol, left, right = _OPERATORS[term.head]
        is_right = symbol in _RIGHT_TIGHT
        first, second = show(args[0], left + (is_right or symbol in _CHAINLESS)), show(args[1], right)
        return f"{first} {symbol} {second}", left
    if term.head == "¬" and len(args) == 1:
        return f"¬{show(args[0], APPLICATION)}", 40
    if term.head == "ite" and len(args) == 3:
        return f"if {show(args[0])} then {show(args[1])} else {show(args[2])}", 0
    if term.head == ":" and len(args) == 2:
        return f"({show(args[0])} : {show(args[1])})", APPLICATION + 1
    if term.head == "Prod.mk" and len(args) == 2:
        return f"({show(args[0])}, {show(args[1])})", APPLICATION + 1
    if not args:
        return term.head, APPLICATION + 1
    if term.head == "apply":
        return " ".join(show(arg, APPLICATION) for arg in args), APPLICATION - 1
    return " ".join((term.head, *(show(arg, APPLICATION) for arg in args))), APPLICATION - 1


def _show_binding(bound: Binding) -> str:
    if bound.kind == "let":
        value = "_" if bound.type is None else show(bound.type)
        return f"let {bound.name} := {value}; {show(bound.body)}"
    separator = "=>" if bound.kind == "fun" else ","
    closing = {"(": ")", "{": "}", "[": "]", "⦃": "⦄"}[bound.style]
    annotated = bound.name if bound.type is None else f"{bound.style}{bound.name} : {show(bound.type)}{closing}"
    if bound.style == "[" and bound.name == "_inst" and bound.type is not None:
        annotated = f"[{show(bound.type)}]"
    gap = " " if separator == "=>" else ""
    return f"{bound.kind} {annotated}{gap}{separator} {show(bound.body)}"


def _show_match(matched: Match) -> str:
    scrutinees = ", ".join(show(item) for item in matched.scrutinees)
    rows = " ".join(
        f"| {', '.join(show(pattern) for pattern in patterns)} => {show(body)}" for patterns, body in matched.rows
    )
    return f"match {scrutinees} with {rows}"
