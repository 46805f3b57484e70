"""Split an operator's Lean file into definitions and target."""

import re

import msgspec

from bus.errors import BadProblem

_TARGET = re.compile(r"^theorem[ \t]+([^\s:({\[]+)", re.MULTILINE)
_HEADER = re.compile(r"^(?:prelude|import[ \t]+\S+)[ \t]*\n", re.MULTILINE)
_SORRY = re.compile(r":=\s*(?:by\s+)?sorry\b")
_COMMENT = re.compile(r"/-.*?-/|--[^\n]*", re.DOTALL)
_PAIRS = {"(": ")", "{": "}", "[": "]", "⦃": "⦄"}
_PLAIN_NAME = re.compile(r"[^\W\d][\w'!?₀-₉]*(\.[^\W\d][\w'!?₀-₉]*)*")


class ProblemText(msgspec.Struct, frozen=True, kw_only=True):
    """An operator's problem, taken apart."""

    definitions: str
    """Everything above the target, header lines removed."""

    theorem: str
    statement: str
    """The target as one closed proposition."""


def split(source: str, *, theorem: str | None = None) -> ProblemText:
    """Return the parts of `source`: the target is `theorem`, or the last theorem whose proof is `sorry`.

    Raises:
        BadProblem: there is no such theorem, or text follows it.
    """
    clean = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), source.replace("\r\n", "\n"))
    found = [item for item in _TARGET.finditer(clean) if theorem in (None, item.group(1))]
    found = [item for item in found if _SORRY.search(clean, item.end())]
    if not found:
        wanted = f"theorem {theorem}" if theorem else "theorem"
        raise BadProblem(
            f"the problem has no {wanted} with the proof `by sorry`",
            hint="end the file with `theorem NAME : … := by sorry`",
        )
    target = found[-1]
    end = _SORRY.search(clean, target.end())
    assert end is not None
    if clean[end.end() :].strip():
        raise BadProblem("text follows the target theorem", hint="make the target the last command of the file")
    name = target.group(1)
    if not _PLAIN_NAME.fullmatch(name):
        raise BadProblem(f"`{name}` is no plain theorem name", hint="use a name without universe list or «quotes»")
    definitions = _HEADER.sub("", source.replace("\r\n", "\n")[: target.start()])
    return ProblemText(definitions=definitions, theorem=name, statement=_closed(clean[target.end() : end.start()]))


def _closed(signature: str) -> str:
    """Turn `(x : α) : P` into `∀ (x : α), P`."""
    at = 0
    while (start := _skip_space(signature, at)) < len(signature) and signature[start] in _PAIRS:
        at = _after_bracket(signature, start)
    binders, colon = signature[:at].strip(), signature.find(":", at)
    if colon < 0:
        raise BadProblem("the target theorem has no statement")
    statement = " ".join(signature[colon + 1 :].split())
    return f"∀ {' '.join(binders.split())}, {statement}" if binders else statement


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _after_bracket(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in _PAIRS) - (text[at] in _PAIRS.values())
        if depth == 0:
            return at + 1
    raise BadProblem("a bracket of the target theorem is never closed")
