"""Step 1 of the pipeline: what may be in a submitted text at all, by tokens.

This step protects the process that elaborates; the logic is protected by the steps after it. So it may be strict,
but it must never refuse an ordinary proof.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from bus.errors import TooLarge, UnsafeSource

MAX_BYTES = 256_000
"""Largest text, in bytes of UTF-8."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN = re.compile(
    r"""(?P<line>--[^\n]*)|(?P<open>/-)|(?P<string>"(?:\\.|[^"\\])*")|(?P<char>'(?:\\.|[^'\\\n])')
    |(?P<command>\#[A-Za-z_]\w*)|(?P<attribute>@\[)|(?P<quoted>[«»])
    |(?P<name>[^\W\d][\w'!?₀-₉]*(?:\.[^\W\d][\w'!?₀-₉]*|\.\d+)*)|(?P<other>\S)""",
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]")
_ATTRIBUTES = _set(
    """
    simp reducible inline local scoped elab_as_elim symm ext default_instance
    """
)
_REFUSED = _set(
    """
    import prelude module axiom set_option unsafe partial opaque extern implemented_by attribute export macro
    macro_rules syntax notation notation3 infix infixl infixr prefix postfix elab elab_rules initialize
    builtin_initialize declare_syntax_cat init_quot run_cmd run_tac run_elab run_meta by_elab native_decide
    csimp simproc builtin_simproc dsimproc register_simp_attr register_option add_decl_doc unif_hint deprecated
    compile_inductive include_str open_private sorryAx ofReduceBool trustCompiler lcProof lcUnreachable
    reduceBool reduceNat skipKernelTC debug declare_simp_like_tactic
    """
)
_THEOREM_WORDS = frozenset({"theorem", "lemma"})
_DEFINITION_WORDS = frozenset({"def", "abbrev", "inductive", "structure", "class", "instance"})
_COMMANDS = _set(
    """
    theorem lemma def abbrev inductive structure class instance example namespace section end variable universe
    open private protected noncomputable mutual deriving local scoped omit include
    """
)
_SCOPES = frozenset({"namespace", "section", "end", "variable", "universe", "open", "omit", "include"})


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One top-level command of a text; lines are 1-based, the last is inclusive."""

    first: int
    last: int
    names: tuple[str, ...]
    """What it declares, as written."""

    is_scope: bool
    """It opens or closes a scope, and stays when its neighbours fail."""


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text that may be elaborated."""

    source: str
    """With `\\n` line ends."""

    theorems: tuple[str, ...]
    definitions: tuple[str, ...]
    words: frozenset[str]
    """Every identifier, and every prefix of a dotted one."""

    blocks: tuple[Block, ...]


class _Word(msgspec.Struct, frozen=True):
    kind: str
    text: str
    line: int
    column: int


def take_in(source: str) -> Text:
    """Return `source` as a text, with what it declares.

    Raises:
        TooLarge: it is longer than `MAX_BYTES`.
        UnsafeSource: it has a control or bidirectional character, or a word that no proof needs; names the line.
    """
    if len(source.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise TooLarge(f"the text is longer than {MAX_BYTES} bytes", hint="split it into several checks", cap=MAX_BYTES)
    source = source.replace("\r\n", "\n")
    _refuse_characters(source)
    words = list(_words(source))
    _refuse_words(words)
    blocks = _blocks(words, source.count("\n") + 1)
    return Text(
        source=source,
        theorems=tuple(_declared(words, _THEOREM_WORDS)),
        definitions=tuple(_declared(words, _DEFINITION_WORDS)),
        words=frozenset(prefix for word in words if word.kind == "name" for prefix in _prefixes(word.text)),
        blocks=blocks,
    )


def without(text: Text, lines: Iterable[int]) -> Text | None:
    """Return `text` with the blocks that hold `lines` blanked, positions kept; None when no theorem is left."""
    struck = [
        block for block in text.blocks if not block.is_scope and any(block.first <= at <= block.last for at in lines)
    ]
    names = {name for block in struck for name in block.names}
    rows = text.source.split("\n")
    for block in struck:
        rows[block.first - 1 : block.last] = [""] * (block.last - block.first + 1)
    left = tuple(name for name in text.theorems if name not in names)
    if not left or not struck:
        return None
    return msgspec.structs.replace(
        text,
        source="\n".join(rows),
        theorems=left,
        definitions=tuple(name for name in text.definitions if name not in names),
        blocks=tuple(block for block in text.blocks if block not in struck),
    )


def _refuse_characters(source: str) -> None:
    found = _CONTROL.search(source)
    if found is None and not any("\ud800" <= char <= "\udfff" for char in source):
        return
    at = found.start() if found else next(i for i, char in enumerate(source) if "\ud800" <= char <= "\udfff")
    line = source.count("\n", 0, at) + 1
    raise UnsafeSource(
        f"line {line} has the character U+{ord(source[at]):04X}", hint="remove control characters", line=line
    )


def _words(source: str) -> Iterable[_Word]:
    at, line, start = 0, 1, 0
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None:  # white space
            if source[at] == "\n":
                line, start = line + 1, at + 1
            at += 1
            continue
        end = _end_of_comment(source, at) if found.lastgroup == "open" else found.end()
        kind = found.lastgroup or "other"
        if kind not in ("line", "open") or (kind == "open" and source.startswith("/--", at)):
            yield _Word(kind, "/--" if kind == "open" else found.group(), line, at - start)
        breaks = source.count("\n", at, end)
        if breaks:
            line, start = line + breaks, source.rindex("\n", at, end) + 1
        at = end


def _end_of_comment(source: str, at: int) -> int:
    depth = 0
    for found in re.compile(r"/-|-/").finditer(source, at):
        depth += 1 if found.group() == "/-" else -1
        if depth == 0:
            return found.end()
    return len(source)


def _refuse_words(words: list[_Word]) -> None:
    for at, word in enumerate(words):
        if word.kind == "name" and word.text in _REFUSED:
            _refuse(word, f"`{word.text}` is not for submitted texts")
        if word.kind == "command":
            _refuse(word, f"the command `{word.text}` is not for submitted texts")
        if word.kind == "quoted":
            _refuse(word, "names in «…» are not for submitted texts")
        if word.kind == "attribute":
            inner = [item for item in words[at + 1 : at + 40] if item.kind == "name" or item.text == "]"]
            for item in inner:
                if item.text == "]":
                    break
                if item.text not in _ATTRIBUTES:
                    _refuse(item, f"the attribute `{item.text}` is not for submitted texts")


def _refuse(word: _Word, reason: str) -> None:
    raise UnsafeSource(
        f"line {word.line}: {reason}", hint="leave it out; the server writes header and options", line=word.line
    )


def _declared(words: list[_Word], keywords: frozenset[str]) -> Iterable[str]:
    for word, after in pairwise(words):
        if word.kind == "name" and word.text in keywords and after.kind == "name":
            yield after.text


def _prefixes(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _blocks(words: list[_Word], lines: int) -> tuple[Block, ...]:
    """Cut a text where a command word stands in the first column; `mutual … end` is one block."""
    starts: list[int] = []
    in_mutual = False
    for at, word in enumerate(words):
        opens = word.column == 0 and (word.text in _COMMANDS or word.kind == "attribute" or word.text == "/--")
        if opens and not in_mutual and not (starts and _is_modifier(words, starts[-1], at)):
            starts.append(at)
        in_mutual = word.text == "mutual" if not in_mutual else word.text != "end"
    ends = [*starts[1:], len(words)][: len(starts)]
    last = [words[end].line - 1 if end < len(words) else lines for end in ends]
    return tuple(
        Block(
            first=words[start].line,
            last=max(until, words[start].line),
            names=tuple(_declared(words[start:end], _THEOREM_WORDS | _DEFINITION_WORDS)),
            is_scope=words[start].text in _SCOPES,
        )
        for start, end, until in zip(starts, ends, last, strict=True)
    )


def _is_modifier(words: list[_Word], start: int, at: int) -> bool:
    """Return whether everything from `start` to `at` only prepares the declaration that begins at `at`."""
    between = {word.text for word in words[start:at] if word.kind == "name"}
    return not between & (_COMMANDS - {"private", "protected", "noncomputable", "local", "scoped"})
