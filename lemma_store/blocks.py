"""A Lean text cut into its top-level commands, so that one that fails does not take its neighbours along."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from .lexing import Word


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_THEOREM_WORDS = _set("theorem lemma")
_DEFINITION_WORDS = _set("def abbrev inductive structure class instance")
_DECLARATION_WORDS = _THEOREM_WORDS | _DEFINITION_WORDS | {"example"}
_MODIFIERS = _set("private protected noncomputable nonrec local scoped public meta")
# Commands that stay when their neighbours fail. Those of the second set also occur inside proofs, so they count only
# in the first column.
_SCOPES = _set("namespace section end variable universe")
_COLUMN_SCOPES = _set("open omit include set_option attribute deriving")
_MAY_LEAD = _set("open omit include set_option attribute variable universe")
_COMMANDS = _DECLARATION_WORDS | _MODIFIERS | _SCOPES | _COLUMN_SCOPES | {"mutual"}


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One top-level command: the text from offset `start` to `end`."""

    start: int
    end: int
    theorems: tuple[str, ...] = ()
    """Theorems that it declares, with their namespaces."""

    definitions: tuple[str, ...] = ()
    is_scope: bool = False
    """It opens or closes a scope, and stays when its neighbours fail."""

    scopes: tuple[int, ...] = ()
    """Indices of the scope blocks before it that are in force."""

    namespace: tuple[str, ...] = ()


class _Cutter:
    """Finds where commands begin. `_lead` is where attributes, modifiers and `… in` before a declaration began."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._at = 0

    def starts(self) -> Iterator[tuple[int, bool]]:
        """Yield `(index of the first word, whether it is a scope)` of every command."""
        lead: int | None = None
        while self._at < len(self._words):
            at, word = self._at, self._words[self._at]
            if word.kind in ("attribute", "open") or self._is_modifier(at):
                lead = at if lead is None else lead
                self._at = self._after_attribute(at) if word.kind == "attribute" else at + 1
                continue
            if (after := self._after_in(at)) is not None:
                lead = at if lead is None else lead
                self._at = after
                continue
            kind = self._kind(word)
            if kind:
                yield (at if lead is None else lead), kind == "scope"
            lead = None
            self._at = self._after_mutual(at) if kind == "mutual" else at + 1

    def _kind(self, word: Word) -> str:
        if word.kind != "name":
            return ""
        if word.text in _DECLARATION_WORDS:
            return "declaration"
        if not word.is_first:
            return ""
        if word.text == "mutual":
            return "mutual"
        return "scope" if word.text in _SCOPES or (word.text in _COLUMN_SCOPES and word.column == 0) else ""

    def _is_modifier(self, at: int) -> bool:
        word = self._words[at]
        after = self._words[at + 1].text if at + 1 < len(self._words) else ""
        if word.kind != "name":
            return False
        if word.text in _MODIFIERS:
            return True
        return (word.text == "deriving" and after == "instance") or (
            word.text == "class" and after in ("inductive", "abbrev", "structure")
        )

    def _after_attribute(self, at: int) -> int:
        depth = 0
        for index in range(at, len(self._words)):
            depth += (self._words[index].text in ("[", "@[")) - (self._words[index].text == "]")
            if depth == 0:
                return index + 1
        return len(self._words)

    def _after_in(self, at: int) -> int | None:
        """Return what follows `open … in` and its like when that is another command's beginning."""
        word = self._words[at]
        if word.kind != "name" or word.text not in _MAY_LEAD or not word.is_first:
            return None
        for index in range(at + 1, min(at + 200, len(self._words) - 1)):
            here, after = self._words[index], self._words[index + 1]
            if here.text == "in" and here.kind == "name":
                begins = after.kind in ("attribute", "open") or self._is_modifier(index + 1)
                is_command = after.text in _DECLARATION_WORDS | _MAY_LEAD | {"mutual"}
                return index + 1 if begins or is_command else None
            if here.is_first and self._kind(here):
                return None
        return None

    def _after_mutual(self, at: int) -> int:
        for index in range(at + 1, len(self._words)):
            if self._words[index].text == "end" and self._words[index].is_first:
                return index + 1
        return len(self._words)


class _Scope(msgspec.Struct, frozen=True):
    kind: str
    """`namespace`, `section`, or `""` for a command that lasts until its section ends."""

    name: str
    block: int


def cut(words: Sequence[Word], length: int) -> tuple[Block, ...]:
    """Return the commands of a text of `length` characters; what precedes the first one counts as one too."""
    found = list(_Cutter(words).starts())
    if words and (not found or found[0][0] > 0):
        found.insert(0, (0, False))
    ends = [*(start for start, _ in found), len(words)][1:]
    blocks: list[Block] = []
    open_: list[_Scope] = []
    for (start, is_scope), end in zip(found, ends, strict=True):
        namespace = tuple(scope.name for scope in open_ if scope.kind == "namespace")
        inner = words[start:end]
        blocks.append(
            Block(
                start=words[start].at,
                end=words[end].at if end < len(words) else length,
                theorems=tuple(_declared(inner, _THEOREM_WORDS, namespace)),
                definitions=tuple(_declared(inner, _DEFINITION_WORDS, namespace)),
                is_scope=is_scope,
                scopes=tuple(dict.fromkeys(scope.block for scope in open_)),
                namespace=namespace,
            )
        )
        if is_scope:
            _enter(open_, inner, len(blocks) - 1)
    return tuple(blocks)


def _enter(open_: list[_Scope], words: Sequence[Word], block: int) -> None:
    at = next((index for index, word in enumerate(words) if word.text in _SCOPES | _COLUMN_SCOPES), 0)
    kind = words[at].text
    named = at + 1 < len(words) and words[at + 1].kind == "name"
    parts = words[at + 1].text.split(".") if named else [""]
    if kind == "end":
        for _ in parts:
            while open_ and open_.pop().kind == "":
                pass
    elif kind in ("namespace", "section"):
        open_.extend(_Scope(kind, part, block) for part in parts)
    else:
        open_.append(_Scope("", "", block))


def _declared(words: Sequence[Word], keywords: frozenset[str], namespace: tuple[str, ...]) -> Iterator[str]:
    if any(word.text == "deriving" and after.text == "instance" for word, after in pairwise(words)):
        return
    for word, after in pairwise(words):
        if word.kind == "name" and word.text in keywords and after.kind == "name" and after.text not in _COMMANDS:
            parts = after.text.split(".")
            yield ".".join(parts[1:] if parts[0] == "_root_" else (*namespace, *parts))


def with_scopes(source: str, blocks: Sequence[Block], block: Block) -> str:
    """Return the text of `block` inside the sections, namespaces and variables that it stands in."""
    heads, tails = scopes_of(source, blocks, block)
    return "\n".join([*heads, source[block.start : block.end].strip(), *tails])


def scopes_of(source: str, blocks: Sequence[Block], block: Block) -> tuple[list[str], list[str]]:
    """Return what opens the scopes that `block` stands in, outermost first, and what closes them."""
    heads = [source[blocks[at].start : blocks[at].end].strip() for at in block.scopes]
    opened = [head.split()[1:2] for head in heads if head.startswith(("namespace", "section"))]
    return heads, [" ".join(["end", *names]) for names in reversed(opened)]
