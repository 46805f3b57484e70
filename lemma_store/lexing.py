"""Lean text as tokens, by Lean's own lexical rules as far as intake needs them."""

import re
from bisect import bisect_right
from collections.abc import Iterator

import msgspec

# Lean's identifiers: ASCII letters, some Latin, Greek without λ Π Σ, letter-like symbols, script and double-struck.
_FIRST = "A-Za-z_À-ÖØ-öø-ſα-κμ-ϻΑ-ΟΡΤ-Ωἀ-῾℀-⅏𝒜-𝖟"
_REST = _FIRST + "0-9'!?₀-₉ₐ-ₜᵢ-ᵪⱼ"
_TOKEN = re.compile(
    rf"""(?P<line>--[^\n]*)|(?P<open>/-)|(?P<string>"(?:\\.|[^"\\])*")
    |(?P<char>'(?:\\x[0-9a-fA-F]{{2}}|\\u[0-9a-fA-F]{{4}}|\\.|[^'\\\n])')
    |(?P<command>\#[A-Za-z_]\w*)|(?P<attribute>@\[)|(?P<quoted>[«»])
    |(?P<name>[{_FIRST}][{_REST}]*(?:\.[{_FIRST}][{_REST}]*)*)|(?P<other>\S)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_MARK = re.compile(r"/-|-/")
# Where Lean might see a comment or a string begin or end elsewhere than the expressions above do.
_ODD = re.compile(r"(?<=[^\w\s(){}\[\],;:=/-])--|(?<=[^\w\s(){}\[\],;:=])/-|/--?/|\br\#*\"|\w!\"|\"'|'\\?\"")

IDENTIFIER = re.compile(rf"[{_FIRST}][{_REST}]*")
"""One component of a name, without quotes."""

NAME = re.compile(rf"[{_FIRST}][{_REST}]*(?:\.[{_FIRST}][{_REST}]*)*")
"""A dotted name, without quotes."""

_LOOSE = re.compile(rf"(?P<command>\#[A-Za-z_]\w*)|(?P<attribute>@\[)|(?P<quoted>[«»])|(?P<name>{NAME.pattern})|[\[\]]")


class Word(msgspec.Struct, frozen=True):
    """One token that is no comment and no white space; a documentation comment is the token `/--`."""

    kind: str
    """`name`, `string`, `char`, `command` (`#…`), `attribute` (`@[`), `quoted` (« or »), `open` or `other`."""

    text: str
    at: int
    """Offset in the text."""

    line: int
    """1-based."""

    column: int
    """0-based."""

    is_first: bool
    """Nothing but white space stands before it on its line."""


class Lines:
    """Turns offsets of a text into lines and back."""

    def __init__(self, source: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", source))]
        self._end = len(source)

    def line(self, offset: int) -> int:
        """Return the 1-based line of `offset`."""
        return bisect_right(self._starts, offset)

    def column(self, offset: int) -> int:
        """Return the 0-based column of `offset`, in code points."""
        return offset - self._starts[self.line(offset) - 1]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position; one after the end is the end."""
        return min(self._starts[line - 1] + column, self._end) if line <= len(self._starts) else self._end


def words(source: str) -> list[Word]:
    """Return the tokens of `source`. Total: what is no Lean at all becomes tokens of kind `other`."""
    return list(_words(source, Lines(source)))


def _words(source: str, lines: Lines) -> Iterator[Word]:
    at = 0
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None:  # white space
            at += 1
            continue
        kind = found.lastgroup or "other"
        end = _end_of_comment(source, at) if kind == "open" else found.end()
        if kind not in ("line", "open") or (kind == "open" and source.startswith("/--", at)):
            start = at - lines.column(at)
            text = "/--" if kind == "open" else found.group()
            yield Word(kind, text, at, lines.line(at), at - start, not source[start:at].strip())
        at = end


def _end_of_comment(source: str, at: int) -> int:
    depth = 0
    for found in _COMMENT_MARK.finditer(source, at):
        depth += 1 if found.group() == "/-" else -1
        if depth == 0:
            return found.end()
    return len(source)


def is_odd(source: str) -> bool:
    """Return whether Lean may cut `source` into other tokens than `words` does; then comments may hold code."""
    return bool(_ODD.search(source))


def loose_words(source: str) -> list[Word]:
    """Return everything in `source` that could be a token in any reading, comments and strings included."""
    lines = Lines(source)
    return [
        Word(found.lastgroup or "other", found.group(), found.start(), lines.line(found.start()), 1, False)
        for found in _LOOSE.finditer(source)
    ]
