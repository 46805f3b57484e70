"""Kernel terms as Lean text, printed by ourselves: what agents read is the term that the kernel holds.

Lean's own printer runs inside a process that has read agents' text, so its words are only notes. The text here
elaborates back to the same term in the cases that occur in practice (explicit arguments where inference needs none).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from .declarations import Declaration
from .terms import (
    APP,
    BVAR,
    CONST,
    DEFAULT,
    IMPLICIT,
    INSTANCE,
    LAM,
    LET,
    LIT,
    PARAM,
    PI,
    PROJ,
    SUCC,
    ZERO,
    Name,
    Node,
    Terms,
    dotted,
)  # fmt: skip

MAX_TEXT = 4_000
"""Characters; a longer text ends in `…`."""

_MAX_PARTS = 20_000

# Constant → (number of arguments, symbol, precedence, precedence of the left and of the right operand).
_INFIX: Mapping[Name, tuple[int, str, int, int, int]] = {
    ("Eq",): (3, "=", 50, 51, 51), ("Ne",): (3, "≠", 50, 51, 51), ("Iff",): (2, "↔", 20, 21, 21),
    ("And",): (2, "∧", 35, 36, 35), ("Or",): (2, "∨", 30, 31, 30), ("HEq",): (4, "≍", 50, 51, 51),
    ("LE", "le"): (4, "≤", 50, 51, 51), ("LT", "lt"): (4, "<", 50, 51, 51),
    ("GE", "ge"): (4, "≥", 50, 51, 51), ("GT", "gt"): (4, ">", 50, 51, 51),
    ("HAdd", "hAdd"): (6, "+", 65, 65, 66), ("HSub", "hSub"): (6, "-", 65, 65, 66),
    ("HMul", "hMul"): (6, "*", 70, 70, 71), ("HDiv", "hDiv"): (6, "/", 70, 70, 71),
    ("HMod", "hMod"): (6, "%", 70, 70, 71), ("HPow", "hPow"): (6, "^", 75, 76, 75),
    ("HAppend", "hAppend"): (6, "++", 65, 65, 66), ("List", "cons"): (3, "::", 67, 68, 67),
    ("Prod",): (2, "×", 35, 36, 35), ("Membership", "mem"): (5, "∈", 50, 51, 51),
}  # fmt: skip
_MAX_PREC, _ARROW, _LOWEST = 1024, 25, 0
_PLAIN = re.compile(r"[^\W\d_][\w'!?₀-₉]*")


class Printer:
    """Prints terms of one arena; `find` gives the declaration of a constant, for its implicit arguments."""

    def __init__(self, terms: Terms, find: Callable[[Name], Declaration | None]) -> None:
        self._terms = terms
        self._find = find
        self._styles: dict[Name, tuple[int, ...]] = {}
        self._budget = 0

    def text(self, term: int) -> str:
        """Return `term` on one line, at most `MAX_TEXT` characters."""
        self._budget = _MAX_PARTS
        try:
            found = self._show(term, (), _LOWEST)
        except RecursionError:
            return "…"
        return found if len(found) <= MAX_TEXT else found[: MAX_TEXT - 1] + "…"

    def _show(self, term: int, scope: tuple[str, ...], prec: int) -> str:
        self._budget -= 1
        if self._budget < 0:
            return "…"
        node = self._terms.nodes[term]
        match node[0]:
            case 0:
                return _variable(node[1], scope)
            case 3:
                return _paren(self._sort(node[1]), prec, _MAX_PREC)
            case 4:
                return self._constant(node[1])
            case 5:
                return self._application(term, scope, prec)
            case 6:
                return _paren(self._lambda(node, scope), prec, _ARROW)
            case 7:
                return self._pi(term, scope, prec)
            case 8:
                name = _fresh(node[4], scope)
                head = f"let {name} := {self._show(node[2], scope, _LOWEST)}; "
                return _paren(head + self._show(node[3], (*scope, name), _LOWEST), prec, _ARROW)
            case 9:
                return _literal(node[1])
            case _:
                return f"{self._show(node[3], scope, _MAX_PREC)}.{node[2] + 1}"

    def _constant(self, name: Name) -> str:
        return "[]" if name == ("List", "nil") else dotted(name)

    def _sort(self, level: int) -> str:
        count = 0
        node: Node = self._terms.nodes[level]
        while node[0] == SUCC:
            count += 1
            node = self._terms.node(node[1])
        if node[0] == ZERO:
            return {0: "Prop", 1: "Type"}.get(count, f"Type {count - 1}")
        inner = dotted(node[1]) if node[0] == PARAM else "_"
        if count == 1:
            return f"Type {inner}"
        return f"Sort {inner}" if count == 0 else f"Type ({inner} + {count - 1})"

    def _spine(self, term: int) -> tuple[int, list[int]]:
        arguments: list[int] = []
        node = self._terms.nodes[term]
        while node[0] == APP:
            arguments.append(node[2])
            term = node[1]
            node = self._terms.nodes[term]
        return term, arguments[::-1]

    def _application(self, term: int, scope: tuple[str, ...], prec: int) -> str:
        head, arguments = self._spine(term)
        node = self._terms.nodes[head]
        if node[0] == CONST:
            special = self._notation(node[1], arguments, scope, prec)
            if special is not None:
                return special
            styles = self._binder_styles(node[1])
            shown = [arg for at, arg in enumerate(arguments) if at >= len(styles) or styles[at] == DEFAULT]
        else:
            shown = arguments
        first = self._show(head, scope, _MAX_PREC)
        parts = [first, *(self._show(argument, scope, _MAX_PREC) for argument in shown)]
        return _paren(" ".join(parts), prec, _MAX_PREC) if shown else first

    def _notation(self, name: Name, arguments: list[int], scope: tuple[str, ...], prec: int) -> str | None:
        infix = _INFIX.get(name)
        if infix is not None and len(arguments) == infix[0]:
            _, symbol, level, left, right = infix
            one, two = arguments[-2:] if symbol != "∈" else (arguments[-1], arguments[-2])
            return _paren(f"{self._show(one, scope, left)} {symbol} {self._show(two, scope, right)}", prec, level + 1)
        if name == ("Not",) and len(arguments) == 1:
            return _paren(f"¬{self._show(arguments[0], scope, 40)}", prec, _MAX_PREC)
        if name == ("OfNat", "ofNat") and len(arguments) == 3 and self._terms.nodes[arguments[1]][0] == LIT:
            return self._show(arguments[1], scope, prec)
        if name == ("ite",) and len(arguments) == 5:
            test, then, other = (self._show(arguments[at], scope, _LOWEST) for at in (1, 3, 4))
            return _paren(f"if {test} then {then} else {other}", prec, _ARROW)
        if name == ("Exists",) and len(arguments) == 2:
            return self._exists(arguments[1], scope, prec)
        return None

    def _exists(self, predicate: int, scope: tuple[str, ...], prec: int) -> str | None:
        node = self._terms.nodes[predicate]
        if node[0] != LAM:
            return None
        name = _fresh(node[3], scope)
        body = self._show(node[2], (*scope, name), _LOWEST)
        return _paren(f"∃ {name} : {self._show(node[1], scope, _LOWEST)}, {body}", prec, _ARROW)

    def _lambda(self, node: Any, scope: tuple[str, ...]) -> str:
        name = _fresh(node[3], scope)
        binder = _bracket(f"{name} : {self._show(node[1], scope, _LOWEST)}", node[4])
        return f"fun {binder} => {self._show(node[2], (*scope, name), _LOWEST)}"

    def _pi(self, term: int, scope: tuple[str, ...], prec: int) -> str:
        node = self._terms.nodes[term]
        if not _uses(self._terms, node[2]) and node[4] == DEFAULT:
            left = self._show(node[1], scope, _ARROW + 1)
            return _paren(f"{left} → {self._show(node[2], (*scope, '_'), _ARROW)}", prec, _ARROW + 1)
        binders: list[tuple[str, str, int]] = []
        while node[0] == PI and (_uses(self._terms, node[2]) or node[4] != DEFAULT):
            name = _fresh(node[3], scope)
            binders.append((name, self._show(node[1], scope, _LOWEST), node[4]))
            scope = (*scope, name)
            term = node[2]
            node = self._terms.nodes[term]
        return _paren(f"∀ {_grouped(binders)}, {self._show(term, scope, _LOWEST)}", prec, _ARROW)

    def _binder_styles(self, name: Name) -> tuple[int, ...]:
        known = self._styles.get(name)
        if known is None:
            declaration = self._find(name)
            known = () if declaration is None else self._collect_styles(declaration.type)
            self._styles[name] = known
        return known

    def _collect_styles(self, term: int) -> tuple[int, ...]:
        found: list[int] = []
        node: Node = self._terms.nodes[term]
        while node[0] == PI:
            found.append(node[4])
            node = self._terms.node(node[2])
        return tuple(found)


def _variable(index: int, scope: tuple[str, ...]) -> str:
    return scope[-1 - index] if index < len(scope) else f"#{index}"


def _literal(value: int | str) -> str:
    return str(value) if isinstance(value, int) else '"' + value.replace('"', '\\"') + '"'


def _grouped(binders: list[tuple[str, str, int]]) -> str:
    groups: list[tuple[list[str], str, int]] = []
    for name, type_, style in binders:
        if groups and groups[-1][1:] == (type_, style) and style != INSTANCE:
            groups[-1][0].append(name)
        else:
            groups.append(([name], type_, style))
    return " ".join(_bracket(f"{' '.join(names)} : {type_}", style) for names, type_, style in groups)


def _bracket(text: str, style: int) -> str:
    opening, closing = {DEFAULT: "()", IMPLICIT: "{}", INSTANCE: "[]"}.get(style, "⦃⦄")
    return f"{opening}{text}{closing}"


def _paren(text: str, prec: int, own: int) -> str:
    return f"({text})" if prec >= own and prec > _LOWEST else text


def _fresh(name: Name, scope: tuple[str, ...]) -> str:
    # Hygienic names carry numbers and marks that no Lean text may contain.
    text = next((part for part in name if isinstance(part, str) and _PLAIN.fullmatch(part)), "x")
    if text not in scope:
        return text
    number = 1
    while f"{text}_{number}" in scope:
        number += 1
    return f"{text}_{number}"


def _uses(terms: Terms, body: int) -> bool:
    """Return whether the variable bound just above `body` occurs in it."""
    stack, seen = [(body, 0)], set[tuple[int, int]]()
    while stack:
        term, depth = stack.pop()
        if terms.loose(term) <= depth or (term, depth) in seen:
            continue
        seen.add((term, depth))
        node = terms.nodes[term]
        if node[0] == BVAR:
            if node[1] == depth:
                return True
        elif node[0] == APP:
            stack += [(node[1], depth), (node[2], depth)]
        elif node[0] in (LAM, PI):
            stack += [(node[1], depth), (node[2], depth + 1)]
        elif node[0] == LET:
            stack += [(node[1], depth), (node[2], depth), (node[3], depth + 1)]
        elif node[0] == PROJ:
            stack.append((node[3], depth))
    return False
