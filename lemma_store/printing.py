"""Kernel terms as Lean text, printed by ourselves: what agents read is the term that the kernel holds.

Lean's own printer runs inside a process that has read agents' text, so its words are only notes. The text here
elaborates back to the same term in the cases that occur in practice (explicit arguments where inference needs none).
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from .canonical import Canon, occurs
from .declarations import Declaration
from .lexing import IDENTIFIER
from .terms import (
    CONST,
    DEFAULT,
    IMPLICIT,
    INSTANCE,
    LAM,
    LIT,
    PARAM,
    PI,
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
_BINDER = 1
"""What reaches as far to the right as it can stands in brackets wherever something may follow."""
_LOOK_ALIKE = re.compile("[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧορυ℀-⅏]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "«": "\\u00ab", "»": "\\u00bb"}
_KEYWORDS = frozenset({"Prop", "Type", "Sort", "fun", "if", "then", "else", "let", "in", "from", "by", "at", "_"})


class _Variable(msgspec.Struct, frozen=True):
    name: str
    style: int


_Scope = tuple[_Variable, ...]


class Printer:
    """Prints terms of one arena.

    `find` gives the declaration of a constant, for its implicit arguments; `find_trusted` only those that no agent
    wrote, for what may go without saying.
    """

    def __init__(
        self,
        terms: Terms,
        find: Callable[[Name], Declaration | None],
        find_trusted: Callable[[Name], Declaration | None],
    ) -> None:
        self._terms = terms
        self._find = find
        self._canon = Canon(terms, find_trusted)
        self._budget = 0
        self._universes: dict[Name, str] = {}
        self._taken: frozenset[str] = frozenset()

    def text(self, term: int, params: tuple[Name, ...] = ()) -> str:
        """Return `term` on one line, at most `MAX_TEXT` characters; `params` are its universe parameters."""
        self._budget = _MAX_PARTS
        letters = ("u", "v", "w")
        self._universes = {name: letters[at] if at < len(letters) else f"u_{at + 1}" for at, name in enumerate(params)}
        constants = self._terms.constants(term)
        self._taken = _KEYWORDS | {str(name[0]) for name in constants if name} | {dotted(name) for name in constants}
        try:
            found = self._show(term, (), _LOWEST)
        except RecursionError:
            return "…"
        return found if len(found) <= MAX_TEXT else found[: MAX_TEXT - 1] + "…"

    def _bind(self, name: Name, style: int, scope: _Scope) -> tuple[str, _Scope]:
        plain = _fresh(name, {variable.name for variable in scope} | self._taken)
        return plain, (*scope, _Variable(plain, style))

    def _show(self, term: int, scope: _Scope, prec: int) -> str:
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
                return _paren(self._lambda(node, scope), prec, _BINDER)
            case 7:
                return self._pi(term, scope, prec)
            case 8:
                name, inner = self._bind(node[4], DEFAULT, scope)
                head = f"let {name} := {self._show(node[2], scope, _LOWEST)}; "
                return _paren(head + self._show(node[3], inner, _LOWEST), prec, _BINDER)
            case 9:
                return _paren(_literal(node[1]), prec, _MAX_PREC) if isinstance(node[1], int) else _literal(node[1])
            case _:
                return f"{self._show(node[3], scope, _MAX_PREC)}.{node[2] + 1}"

    def _constant(self, name: Name) -> str:
        return "[]" if name == ("List", "nil") else ".".join(_component(part) for part in name)

    def _sort(self, level: int) -> str:
        count = 0
        node: Node = self._terms.nodes[level]
        while node[0] == SUCC:
            count += 1
            node = self._terms.node(node[1])
        if node[0] == ZERO:
            return {0: "Prop", 1: "Type"}.get(count, f"Type {count - 1}")
        inner = self._universes.get(node[1], "_") if node[0] == PARAM else "_"
        if count == 1:
            return f"Type {inner}"
        return f"Sort {inner}" if count == 0 else f"Type ({inner} + {count - 1})"

    def _application(self, term: int, scope: _Scope, prec: int) -> str:
        head, arguments = self._terms.spine(term)
        node = self._terms.nodes[head]
        first, shown = self._show(head, scope, _MAX_PREC), arguments
        constant = self._find(node[1]) if node[0] == CONST else None
        if constant is not None:
            styles = tuple(variable.style for variable in scope)
            if self._canon.may_hide(constant, arguments, styles):
                special = self._notation(constant.name, arguments, scope, prec)
                if special is not None:
                    return special
                places = self._canon.places(constant)
                shown = [item for at, item in enumerate(arguments) if at >= len(places) or places[at][0] == DEFAULT]
            else:
                first = f"@{first}"
        parts = [first, *(self._show(argument, scope, _MAX_PREC) for argument in shown)]
        return _paren(" ".join(parts), prec, _MAX_PREC) if shown else first

    def _notation(self, name: Name, arguments: list[int], scope: _Scope, prec: int) -> str | None:
        infix = _INFIX.get(name)
        if infix is not None and len(arguments) == infix[0]:
            _, symbol, level, left, right = infix
            one, two = arguments[-2:] if symbol != "∈" else (arguments[-1], arguments[-2])
            return _paren(f"{self._show(one, scope, left)} {symbol} {self._show(two, scope, right)}", prec, level + 1)
        if name == ("Not",) and len(arguments) == 1:
            return _paren(f"¬{self._show(arguments[0], scope, 40)}", prec, _MAX_PREC)
        if name == ("OfNat", "ofNat") and len(arguments) == 3 and self._terms.nodes[arguments[1]][0] == LIT:
            number = str(self._terms.nodes[arguments[1]][1])
            is_nat = self._terms.nodes[arguments[0]] == (CONST, ("Nat",), ())
            return number if is_nat else f"({number} : {self._show(arguments[0], scope, _LOWEST)})"
        if name == ("ite",) and len(arguments) == 5:
            test, then, other = (self._show(arguments[at], scope, _LOWEST) for at in (1, 3, 4))
            return _paren(f"if {test} then {then} else {other}", prec, _BINDER)
        if name == ("Exists",) and len(arguments) == 2:
            return self._exists(arguments[1], scope, prec)
        return None

    def _exists(self, predicate: int, scope: _Scope, prec: int) -> str | None:
        node = self._terms.nodes[predicate]
        if node[0] != LAM:
            return None
        name, inner = self._bind(node[3], DEFAULT, scope)
        body = self._show(node[2], inner, _LOWEST)
        return _paren(f"∃ {name} : {self._show(node[1], scope, _LOWEST)}, {body}", prec, _BINDER)

    def _lambda(self, node: Any, scope: _Scope) -> str:
        name, inner = self._bind(node[3], node[4], scope)
        binder = _bracket(f"{name} : {self._show(node[1], scope, _LOWEST)}", node[4])
        return f"fun {binder} => {self._show(node[2], inner, _LOWEST)}"

    def _pi(self, term: int, scope: _Scope, prec: int) -> str:
        node = self._terms.nodes[term]
        if not _uses(self._terms, node[2]) and node[4] == DEFAULT:
            left = self._show(node[1], scope, _ARROW + 1)
            return _paren(f"{left} → {self._show(node[2], (*scope, _UNUSED), _ARROW)}", prec, _ARROW + 1)
        binders: list[tuple[str, str, int]] = []
        while node[0] == PI and (_uses(self._terms, node[2]) or node[4] != DEFAULT):
            name, inner = self._bind(node[3], node[4], scope)
            binders.append((name, self._show(node[1], scope, _LOWEST), node[4]))
            scope = inner
            term = node[2]
            node = self._terms.nodes[term]
        return _paren(f"∀ {_grouped(binders)}, {self._show(term, scope, _LOWEST)}", prec, _BINDER)


_UNUSED = _Variable("_", DEFAULT)


def _variable(index: int, scope: _Scope) -> str:
    return scope[-1 - index].name if index < len(scope) else f"#{index}"


def _component(part: str | int) -> str:
    # Parts that only a machine writes are quoted, so that no name can pass for other text.
    return str(part) if isinstance(part, int) or IDENTIFIER.fullmatch(part) else f"«{_escaped(part)}»"


def _literal(value: int | str) -> str:
    # A bare number in Lean text is an application of `OfNat.ofNat` to one of these.
    return f"nat_lit {value}" if isinstance(value, int) else f'"{_escaped(value)}"'


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(char) or (char if char.isprintable() else _code(char)) for char in text)


def _code(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"


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


def _fresh(name: Name, taken: Collection[str]) -> str:
    # Hygienic names carry numbers and marks that no Lean text may contain; look-alikes of Latin letters mislead.
    plain = (part for part in name if isinstance(part, str) and IDENTIFIER.fullmatch(part))
    text = next((part for part in plain if part != "_" and not _LOOK_ALIKE.search(part)), "x")
    if text not in taken:
        return text
    number = 1
    while f"{text}_{number}" in taken:
        number += 1
    return f"{text}_{number}"


def _uses(terms: Terms, body: int) -> bool:
    """Return whether the variable bound just above `body` occurs in it."""
    return occurs(terms, body, 0)
