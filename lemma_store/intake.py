"""Step 0 of the pipeline: what may be in a submitted text at all, by tokens.

This step protects the process that elaborates; the logic is protected by the steps after it. So it may be strict,
but it must never refuse an ordinary proof.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

import msgspec

from bus.errors import TooLarge, UnsafeSource

from .blocks import Block, cut, with_scopes
from .lexing import Lines, Word, is_odd, loose_words, words

MAX_BYTES = 256_000
"""Largest text, in bytes of UTF-8."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALLOWED_CONTROLS = "\n\t"
_REFUSED_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
# What a submitted text may attach to a declaration; all of it steers tactics or the compiler, and none of it travels.
_ATTRIBUTES = _set(
    """
    simp reducible irreducible semireducible inline always_inline noinline specialize macro_inline local scoped symm
    refl trans ext congr elab_as_elim elab_without_expected_type induction_eliminator cases_eliminator match_pattern
    default_instance instance class grind high low mid eq
    """
)
_OPTIONS = re.compile(r"maxRecDepth|maxHeartbeats|linter(\.\w+)+|pp(\.\w+)+")
_REFUSED = _set(
    """
    import prelude module axiom unsafe partial opaque extern implemented_by export macro
    macro_rules syntax notation notation3 infix infixl infixr prefix postfix elab elab_rules initialize
    builtin_initialize declare_syntax_cat init_quot run_cmd run_tac run_elab run_meta by_elab native_decide
    csimp simproc builtin_simproc dsimproc register_simp_attr register_option add_decl_doc unif_hint deprecated
    compile_inductive include_str open_private sorryAx ofReduceBool trustCompiler lcProof lcUnreachable
    reduceBool reduceNat skipKernelTC declare_simp_like_tactic
    """
)
_PAIRS = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "⦃": "⦄"}
_CLOSERS = frozenset(_PAIRS.values())


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text that may be elaborated."""

    source: str
    """With `\\n` line ends."""

    words: frozenset[str]
    """Every identifier, and every prefix and component of a dotted one."""

    blocks: tuple[Block, ...]
    is_balanced: bool
    """No bracket closes what the text did not open, and nothing stays open."""

    @property
    def theorems(self) -> tuple[str, ...]:
        """Names of its theorems, with their namespaces."""
        return tuple(name for block in self.blocks for name in block.theorems)

    @property
    def definitions(self) -> tuple[str, ...]:
        """Names of its definitions, with their namespaces."""
        return tuple(name for block in self.blocks for name in block.definitions)


def take_in(source: str) -> Text:
    """Return `source` as a text, with what it declares.

    Raises:
        TooLarge: it is longer than `MAX_BYTES`.
        UnsafeSource: it has a control or bidirectional character, or a word that no proof needs; names the line.
    """
    if len(source) > MAX_BYTES or len(source.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise TooLarge(f"the text is longer than {MAX_BYTES} bytes", hint="split it into several checks", cap=MAX_BYTES)
    source = source.replace("\r\n", "\n")
    _refuse_characters(source)
    found = words(source)
    _refuse_words(found)
    if is_odd(source):
        _refuse_words(loose_words(source))
    return _text(source, found)


def _text(source: str, found: Sequence[Word]) -> Text:
    return Text(
        source=source,
        words=frozenset(part for word in found if word.kind == "name" for part in _parts(word.text)),
        blocks=cut(found, len(source)),
        is_balanced=_is_balanced(found),
    )


def without(text: Text, blocks: Iterable[Block]) -> Text | None:
    """Return `text` with `blocks` blanked and all positions kept; None when no theorem is left."""
    struck = [block for block in blocks if not block.is_scope]
    source = text.source
    for block in struck:
        blank = re.sub(r"[^\n]", " ", source[block.start : block.end])
        source = source[: block.start] + blank + source[block.end :]
    left = _text(source, words(source))
    return left if struck and left.theorems else None


def blocks_at(text: Text, positions: Iterable[tuple[int, int]]) -> list[Block]:
    """Return the blocks that hold the given `(line, column)` positions."""
    lines = Lines(text.source)
    # What Lean misses at the end belongs to the last command.
    offsets = [min(lines.offset(line, column), len(text.source) - 1) for line, column in positions]
    return [block for block in text.blocks if any(block.start <= at < block.end for at in offsets)]


def blocks_that_mention(text: Text, blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks that mention what `blocks` declare, by the last part of its name, and their users in turn."""
    left = {block: _mentions(text, block) for block in text.blocks}
    found: list[Block] = []
    new = list(blocks)
    while new:
        names = {name.rpartition(".")[2] for block in new for name in (*block.theorems, *block.definitions)}
        new = [block for block, words_ in left.items() if words_ & names and block not in found]
        found += new
    return found


def _mentions(text: Text, block: Block) -> frozenset[str]:
    inner = words(text.source[block.start : block.end])
    return frozenset(part for word in inner if word.kind == "name" for part in _parts(word.text))


def block_source(text: Text, block: Block) -> str:
    """Return the author's text of a block, with the scopes it stands in."""
    return with_scopes(text.source, text.blocks, block)


def _refuse_characters(source: str) -> None:
    for at, char in enumerate(source):
        if ord(char) < 32 or ord(char) > 126:
            if char in _ALLOWED_CONTROLS or unicodedata.category(char) not in _REFUSED_CATEGORIES:
                continue
            line = source.count("\n", 0, at) + 1
            raise UnsafeSource(
                f"line {line} has the character U+{ord(char):04X}", hint="remove control characters", line=line
            )


def _refuse_words(found: Sequence[Word]) -> None:
    for at, word in enumerate(found):
        if word.kind == "name" and (word.text in _REFUSED or word.text.rpartition(".")[2] in _REFUSED_LAST):
            _refuse(word, f"`{word.text}` is not for submitted texts")
        if word.kind == "command":
            _refuse(word, f"the command `{word.text}` is not for submitted texts")
        if word.kind == "quoted":
            _refuse(word, "names in «…» are not for submitted texts")
        if word.kind == "attribute":
            _refuse_attributes(found, at + 1)
        if word.kind == "name" and word.text == "attribute":
            _refuse_attributes(found, at + 2)
        if word.kind == "name" and word.text == "set_option":
            _refuse_option(word, found[at + 1 : at + 2])


# Dangerous under any namespace that may be open.
_REFUSED_LAST = _set("sorryAx ofReduceBool trustCompiler lcProof lcUnreachable reduceBool reduceNat skipKernelTC")


def _refuse_attributes(found: Sequence[Word], start: int) -> None:
    depth = 1
    for word in found[start:]:
        depth += (word.text in ("[", "@[")) - (word.text == "]")
        if depth == 0:
            return
        if word.kind in ("name", "string") and word.text not in _ATTRIBUTES:
            _refuse(word, f"the attribute `{word.text}` is not for submitted texts")


def _refuse_option(word: Word, after: Sequence[Word]) -> None:
    if not after or not _OPTIONS.fullmatch(after[0].text):
        _refuse(word, f"the option `{after[0].text if after else ''}` is not for submitted texts")


def _refuse(word: Word, reason: str) -> None:
    raise UnsafeSource(
        f"line {word.line}: {reason}", hint="leave it out; the server writes header and options", line=word.line
    )


def _parts(name: str) -> Iterable[str]:
    parts = name.split(".")
    yield from parts
    yield from (".".join(parts[:end]) for end in range(2, len(parts) + 1))


def _is_balanced(found: Sequence[Word]) -> bool:
    due: list[str] = []
    for word in found:
        for char in "[" if word.text == "@[" else word.text if word.kind == "other" else "":
            if char in _PAIRS:
                due.append(_PAIRS[char])
            elif char in _CLOSERS and (not due or due.pop() != char):
                return False
    return not due
