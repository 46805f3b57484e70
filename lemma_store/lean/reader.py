"""Names, levels, terms and constants out of a region: every object checked to be exactly of the expected form.

Iterative; what is not of that form is `Refused`.
"""

from collections.abc import Callable
from typing import TypeVar

from lemma_store.declarations import SAFE, Declaration, Kind
from lemma_store.refusals import Refused
from lemma_store.terms import (
    APP,
    BVAR,
    CONST,
    IMAX,
    LAM,
    LET,
    LIT,
    MAX,
    PARAM,
    PI,
    PROJ,
    SORT,
    SUCC,
    ZERO,
    Name,
    Node,
    Terms,
)

from .regions import Region, Shapes, shape

# Lean keeps the range of loose variables in 20 bits of every term and panics beyond.
_MAX_BINDERS = 1 << 18
_BINDERS, _MDATA = (LAM, PI), 10
_SMALL_ZERO = 1
# A binder's style is the byte after its three fields and the eight bytes of its hash.
_STYLE_AT, _STYLES = 8 + 3 * 8 + 8, 4

T = TypeVar("T")


class Reader:
    """Reads one region into `terms`, and remembers what it has read of it; once it has refused, it is of no use."""

    def __init__(self, region: Region, terms: Terms) -> None:
        self._region = region
        self._terms = terms
        self._names: dict[int, Name] = {}
        self._levels: dict[int, int] = {_SMALL_ZERO: terms.add((ZERO,))}
        self._exprs: dict[int, int] = {}

    def expect(
        self, pointer: int, parent: int | None, count: int
    ) -> tuple[int, int, tuple[int, ...], bytes | memoryview]:
        """Return what `Region.constructor` does, if the object has `count` fields."""
        at, tag, fields, scalars = self._region.constructor(pointer, parent)
        if len(fields) != count:
            raise Refused(f"an object has {len(fields)} fields where {count} are due")
        return at, tag, fields, scalars

    def _list(self, pointer: int, parent: int, read: Callable[[int, int], T]) -> tuple[T, ...]:
        found: list[T] = []
        while pointer != 1:
            parent, tag, fields, _ = self.expect(pointer, parent, 2)
            if tag != 1:
                raise Refused("a list is malformed")
            found.append(read(fields[0], parent))
            pointer = fields[1]
        return tuple(found)

    def name(self, pointer: int, parent: int) -> Name:
        """Return a name."""
        if (known := self._names.get(pointer)) is not None:
            return known
        steps: list[tuple[int, str | int]] = []
        while pointer != 1:
            if pointer in self._names:
                break
            at, tag, fields, _ = self.expect(pointer, parent, 2)
            if tag not in (1, 2):
                raise Refused("a name is malformed")
            part = self._region.string(fields[1], at) if tag == 1 else self._region.number(fields[1], at)
            steps.append((pointer, part))
            pointer, parent = fields[0], at
        name = () if pointer == 1 else self._names[pointer]
        for place, part in reversed(steps):
            self._names[place] = name = (*name, part)
        return name

    def _level(self, pointer: int, parent: int) -> int:
        levels, words, base = self._levels, self._region.words, self._region.base
        if pointer not in levels:
            for place in self._region.reach(pointer, parent, _LEVELS, levels):
                at = place - base >> 3
                tag, fields = words[at] >> 56, words[at] >> 48 & 0xFF
                if tag == _LEVEL_PARAM:
                    node: Node = (PARAM, self.name(words[at + 1], place - base))
                else:
                    node = (_LEVEL_TAGS[tag], *map(levels.__getitem__, words[at + 1 : at + 1 + fields]))
                levels[place] = self._terms.add(node)
        return levels[pointer]

    def _expr(self, pointer: int, parent: int) -> int:
        exprs, words, base, add = self._exprs, self._region.words, self._region.base, self._terms.add
        for place in self._region.reach(pointer, parent, _SHAPES, exprs):
            at = place - base >> 3
            tag = words[at] >> 56
            if tag == APP:
                exprs[place] = add((APP, exprs[words[at + 1]], exprs[words[at + 2]]))
            elif tag in _BINDERS:
                name, style = self.name(words[at + 1], at << 3), self._style(at << 3)
                exprs[place] = add((tag, exprs[words[at + 2]], exprs[words[at + 3]], name, style))
            else:
                exprs[place] = exprs[words[at + 2]] if tag == _MDATA else add(self._node(tag, at))
        return exprs[pointer]

    def _node(self, tag: int, at: int) -> Node:
        exprs, words, offset = self._exprs, self._region.words, at << 3
        first = words[at + 1]
        match tag:
            case 0:
                return BVAR, self._index(first, offset)
            case 3:
                return SORT, self._level(first, offset)
            case 4:
                return CONST, self.name(first, offset), self._list(words[at + 2], offset, self._level)
            case 8:
                below = exprs[words[at + 2]], exprs[words[at + 3]], exprs[words[at + 4]]
                return LET, *below, self.name(first, offset)
            case 9:
                return LIT, self._literal(first, offset)
            case _:
                name, index = self.name(first, offset), self._region.number(words[at + 2], offset)
                return PROJ, name, index, exprs[words[at + 3]]

    def _index(self, pointer: int, parent: int) -> int:
        index = self._region.number(pointer, parent)
        if index >= _MAX_BINDERS:
            raise Refused("a term has more nested binders than Lean counts")
        return index

    def _style(self, offset: int) -> int:
        style = self._region.data[offset + _STYLE_AT]
        if style >= _STYLES:
            raise Refused("a binder is malformed")
        return style

    def _literal(self, pointer: int, parent: int) -> int | str:
        at, tag, fields, _ = self.expect(pointer, parent, 1)
        if tag not in (0, 1):
            raise Refused("a literal is malformed")
        return self._region.number(fields[0], at) if tag == 0 else self._region.string(fields[0], at)

    def _closed(self, pointer: int, parent: int) -> int:
        term = self._exprs.get(pointer)
        if term is None:
            term = self._expr(pointer, parent)
        if self._terms.loose(term):
            raise Refused("a term is not closed")
        return term

    def declaration(self, pointer: int, parent: int) -> Declaration:
        """Return a constant.

        Raises:
            Refused: it is malformed, or holds metavariables, free variables or open terms.
        """
        region = self._region
        at, tag, fields, _ = self.expect(pointer, parent, 1)
        if tag > Kind.RECURSOR:
            raise Refused("a constant is of no known kind")
        kind = Kind(tag)
        at, _, fields, scalars = self.expect(fields[0], at, _FIELDS[kind])
        head, _, names, _ = self.expect(fields[0], at, 3)
        return Declaration(
            kind=kind,
            name=self.name(names[0], head),
            params=self._name_list(names[1], head),
            type=self._closed(names[2], head),
            value=self._closed(fields[1], at) if kind in _VALUED else None,
            is_safe=_is_safe(kind, scalars),
            hints=self._hints(fields[2], at) if kind is Kind.DEFINITION else None,
            group=self._group(kind, fields, at),
            constructors=self._name_list(fields[4], at) if kind is Kind.INDUCTIVE else (),
            num_params=region.number(fields[1], at) if kind is Kind.INDUCTIVE else 0,
        )

    def _name_list(self, pointer: int, parent: int) -> tuple[Name, ...]:
        return self._list(pointer, parent, self.name)

    def _group(self, kind: Kind, fields: tuple[int, ...], at: int) -> tuple[Name, ...]:
        if kind is Kind.INDUCTIVE:
            return self._name_list(fields[3], at)
        if kind is Kind.CONSTRUCTOR:
            return (self.name(fields[1], at),)
        return self._name_list(fields[1], at) if kind is Kind.RECURSOR else ()

    def _hints(self, pointer: int, parent: int) -> int:
        _, tag, _, scalars = self._region.constructor(pointer, parent)
        if tag in (0, 1):
            return tag
        if tag != 2 or len(scalars) < 4:
            raise Refused("a reducibility hint is malformed")
        return 2 + int.from_bytes(scalars[:4], "little")


# The constructors of levels and terms, each with its scalars: a hash, and of a binder its style.
_LEVEL_TAGS, _LEVEL_PARAM = {0: ZERO, 1: SUCC, 2: MAX, 3: IMAX}, 4
_LEVELS: Shapes = {
    **shape(0, 0, 8, 0, 0), **shape(1, 1, 8, 0, 1), **shape(2, 2, 8, 0, 2), **shape(3, 2, 8, 0, 2),
    **shape(_LEVEL_PARAM, 1, 8, 0, 0),
}  # fmt: skip
_SHAPES: Shapes = {
    **shape(BVAR, 1, 8, 0, 0), **shape(SORT, 1, 8, 0, 0), **shape(CONST, 2, 8, 0, 0), **shape(APP, 2, 8, 0, 2),
    **shape(LAM, 3, 9, 1, 3), **shape(PI, 3, 9, 1, 3), **shape(LET, 4, 9, 1, 4), **shape(LIT, 1, 8, 0, 0),
    **shape(_MDATA, 2, 8, 1, 2), **shape(PROJ, 3, 8, 2, 3),
}  # fmt: skip
_VALUED = (Kind.DEFINITION, Kind.THEOREM, Kind.OPAQUE)
_FIELDS = {
    Kind.AXIOM: 1, Kind.DEFINITION: 4, Kind.THEOREM: 3, Kind.OPAQUE: 3, Kind.QUOTIENT: 1, Kind.INDUCTIVE: 6,
    Kind.CONSTRUCTOR: 5, Kind.RECURSOR: 7,
}  # fmt: skip
# Where a kind keeps its `isUnsafe` byte among its scalars.
_UNSAFE_BYTE = {Kind.AXIOM: 0, Kind.OPAQUE: 0, Kind.INDUCTIVE: 1, Kind.CONSTRUCTOR: 0, Kind.RECURSOR: 1}


def _is_safe(kind: Kind, scalars: bytes | memoryview) -> bool:
    if kind in (Kind.THEOREM, Kind.QUOTIENT):
        return True
    where = 0 if kind is Kind.DEFINITION else _UNSAFE_BYTE[kind]
    if len(scalars) <= where:
        raise Refused("a constant lacks its safety")
    return scalars[where] == (SAFE if kind is Kind.DEFINITION else 0)
