"""Split an operator's Lean file into definitions and target."""

import re

import msgspec

from bus.errors import BadProblem

from .blocks import Block, cut, scopes_of
from .header import cut_header, without_comments
from .lexing import words

_TARGET = re.compile(r"\b(?:theorem|lemma)\s+([^\s:({\[⦃]+)")
_SORRY = re.compile(r":=\s*(?:by\s+)?sorry\b")
_DECORATION = re.compile(r"@\[[^\]]*\]|\b(?:private|protected|nonrec)\b")
_PAIRS = {"(": ")", "{": "}", "[": "]", "⦃": "⦄"}
_PLAIN_NAME = re.compile(r"[^\W\d][\w'!?₀-₉]*(\.[^\W\d][\w'!?₀-₉]*)*")


class ProblemText(msgspec.Struct, frozen=True, kw_only=True):
    """An operator's problem, taken apart."""

    imports: tuple[str, ...]
    """What its header imports; `Init` when it says nothing."""

    definitions: str
    """Everything above the target, header blanked and open scopes closed."""

    theorem: str
    """With its namespaces."""

    statement: str
    """The target as one closed proposition; what it means may depend on the scopes around it."""

    posed: str
    """The target without a proof, in the sections and namespaces that it stands in."""

    is_plain: bool
    """No scope is around the target."""


def split(source: str, *, theorem: str | None = None) -> ProblemText:
    """Return the parts of `source`: the target is `theorem`, or the last theorem whose proof is `sorry`.

    Raises:
        BadProblem: there is no such theorem, or text follows it.
    """
    text, imports = cut_header(source.replace("\r\n", "\n"))
    clean = without_comments(text)
    blocks = cut(words(text), len(text))
    target = _target(blocks, clean, theorem)
    head = _TARGET.search(clean, target.start, target.end)
    assert head is not None
    end = _SORRY.search(clean, head.end())
    assert end is not None
    rest = [block for block in blocks if block.start >= target.end and not clean[block.start :].startswith("end")]
    if rest or clean[end.end() : target.end].strip():
        raise BadProblem("text follows the target theorem", hint="make the target the last command of the file")
    if not _PLAIN_NAME.fullmatch(head[1]):
        raise BadProblem(f"`{head[1]}` is no plain theorem name", hint="use a name without universe list or «quotes»")
    heads, tails = scopes_of(text, blocks, target)
    # An instance that was derived comes with the definitions.
    heads = [head for head in heads if not head.startswith("deriving")]
    before = _DECORATION.sub("", clean[target.start : head.start()]).strip()
    posed = f"{before} theorem {head[1]}{text[head.end() : end.start()].rstrip()} := sorry".strip()
    return ProblemText(
        imports=imports,
        definitions="\n".join([text[: target.start], *tails]),
        theorem=target.theorems[0],
        statement=_closed(clean[head.end() : end.start()]),
        posed="\n".join([*heads, posed, *tails]) + "\n",
        is_plain=not heads and not before,
    )


def _target(blocks: tuple[Block, ...], clean: str, theorem: str | None) -> Block:
    for block in reversed(blocks):
        found = _TARGET.search(clean, block.start, block.end)
        is_open = found is not None and _SORRY.search(clean, found.end(), block.end)
        if found is not None and is_open and theorem in (None, found[1], *block.theorems):
            return block
    wanted = f"theorem {theorem}" if theorem else "theorem"
    raise BadProblem(
        f"the problem has no {wanted} with the proof `by sorry`",
        hint="end the file with `theorem NAME : … := by sorry`",
    )


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
