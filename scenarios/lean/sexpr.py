"""Reader of S-expressions that remembers where everything stood.

It does not recurse, so that hostile nesting costs a clear error instead of the interpreter's stack.
"""

import re
from collections.abc import Iterator

import msgspec

from bus.errors import BadProblem

MAX_DEPTH = 150
_TOKEN = re.compile(
    r"\s+|;[^\n]*|(?P<open>\()|(?P<close>\))|\|(?P<quoted>[^|]*)\||(?P<string>\"[^\"]*\")|(?P<atom>[^\s()|;\"]+)"
)


class Position(msgspec.Struct, frozen=True):
    """A place in a file: both numbers count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class Atom(msgspec.Struct, frozen=True):
    """A symbol, number or string; `|a b|` reads as the symbol `a b`."""

    text: str
    at: Position


class Form(msgspec.Struct, frozen=True):
    """A parenthesised sequence."""

    items: "tuple[Sexpr, ...]"
    at: Position

    @property
    def head(self) -> str:
        """The first item when it is an atom, else the empty string."""
        first = self.items[0] if self.items else None
        return first.text if isinstance(first, Atom) else ""


Sexpr = Atom | Form


def refuse(message: str, at: Position, *, hint: str = "") -> BadProblem:
    """The error for a problem text that cannot be taken, with its place in front."""
    return BadProblem(f"{at}: {message}", hint=hint, line=at.line, column=at.column)


def show(expr: Sexpr, *, limit: int = 60) -> str:
    """Short text of an expression for messages."""
    parts: list[str] = []
    stack: list[Sexpr | str] = [expr]
    while stack and sum(map(len, parts)) < limit:
        top = stack.pop()
        if isinstance(top, Form):
            stack.append(")")
            stack.extend(reversed(top.items))
            stack.append("(")
        else:
            parts.append(top if isinstance(top, str) else top.text)
    text = " ".join(parts).replace("( ", "(").replace(" )", ")")
    return text if len(text) <= limit and not stack else text[: limit - 1] + "…"


def _tokens(text: str) -> Iterator[tuple[str, str, Position]]:
    offset, line, line_start = 0, 1, 0
    while offset < len(text):
        at = Position(line, offset - line_start + 1)
        match = _TOKEN.match(text, offset)
        if match is None:
            what = "a quoted symbol that never ends" if text[offset] == "|" else "a string that never ends"
            raise refuse(what, at)
        if match.lastgroup is not None:
            yield match.lastgroup, match[match.lastgroup], at
        for newline in re.finditer(r"\n", match[0]):
            line, line_start = line + 1, offset + newline.end()
        offset = match.end()


def read(text: str) -> tuple[Sexpr, ...]:
    """All expressions of a text.

    Raises:
        BadProblem: a parenthesis, quoted symbol or string is left open, or one closes too many, or nesting is absurd.
    """
    done: list[Sexpr] = []
    opened: list[tuple[Position, list[Sexpr]]] = []
    for kind, token, at in _tokens(text):
        items = opened[-1][1] if opened else done
        if kind == "open":
            if len(opened) == MAX_DEPTH:
                raise refuse(f"nested deeper than {MAX_DEPTH} parentheses", at)
            opened.append((at, []))
        elif kind == "close":
            if not opened:
                raise refuse("a closing parenthesis without an opening one", at)
            start, inner = opened.pop()
            (opened[-1][1] if opened else done).append(Form(tuple(inner), start))
        else:
            items.append(Atom(token, at))
    if opened:
        raise refuse("this parenthesis is never closed", opened[-1][0])
    return tuple(done)
