"""Memory-safe reader of Lean 4.35 `.olean` files: untrusted bytes in, closed kernel terms out.

Pure Python, iterative, bounds-checked. Reading never maps the file and never runs Lean code. Anything that is not
exactly of the expected form is `Refused`.
"""

from collections.abc import Callable
from typing import TypeVar

from lemma_store.declarations import SAFE, Declaration, Kind, Module
from lemma_store.refusals import Refused
from lemma_store.terms import APP, BVAR, CONST, IMAX, LAM, LET, LIT, MAX, PARAM, PI, PROJ, SORT, SUCC, ZERO, Name, Terms

from .regions import Region

MAX_CONSTANTS = 200_000
# Lean keeps the range of loose variables in 20 bits of every term and panics beyond.
_MAX_BINDERS = 1 << 18
_FVAR, _MVAR, _MDATA = 1, 2, 10
_STYLES = 4

T = TypeVar("T")

_Object = tuple[int, int, tuple[int, ...], bytes]
"""Offset, tag, field pointers, scalar bytes."""


def read_module(data: bytes, terms: Terms, *, version: str) -> Module:
    """Read `data` into `terms`.

    Raises:
        Refused: the bytes are no well-formed module of Lean `version`, or hold metavariables, free variables, open
            terms or duplicate names.
    """
    return _Reader(Region(data, version=version), terms).module()


def read_imports(data: bytes, *, version: str) -> list[str]:
    """Return the names of the modules that a module imports.

    Raises:
        Refused: the bytes are no well-formed module of Lean `version`.
    """
    names = _Reader(Region(data, version=version), Terms()).imports()
    return [".".join(map(str, name)) for name in names]


class _Reader:
    def __init__(self, region: Region, terms: Terms) -> None:
        self._region = region
        self._terms = terms
        self._names: dict[int, Name] = {}
        self._levels: dict[int, int] = {}
        self._exprs: dict[int, int] = {}

    def imports(self) -> tuple[Name, ...]:
        at, _, fields, _ = self._expect(self._region.root, None, 5)
        spot, items = self._region.array(fields[0], at)
        found = [self._expect(item, spot, 1) for item in items]
        return tuple(self._name(fields[0], at) for at, _, fields, _ in found)

    def module(self) -> Module:
        region = self._region
        at, _, fields, _ = self._expect(region.root, None, 5)
        spot, items = region.array(fields[2], at)
        if len(items) > MAX_CONSTANTS:
            raise Refused(f"the artifact declares {len(items)} constants, more than {MAX_CONSTANTS}")
        declarations: dict[Name, Declaration] = {}
        for item in items:
            declaration = self._declaration(item, spot)
            if declaration.name in declarations:
                raise Refused(f"{declaration.text} is declared twice")
            declarations[declaration.name] = declaration
        return Module(
            imports=self.imports(),
            declarations=declarations,
            extensions=self._extensions(fields[4], at),
        )

    def _extensions(self, pointer: int, parent: int) -> dict[str, int]:
        spot, items = self._region.array(pointer, parent)
        found: dict[str, int] = {}
        for item in items:
            at, _, fields, _ = self._expect(item, spot, 2)
            name = ".".join(str(part) for part in self._name(fields[0], at))
            found[name] = found.get(name, 0) + len(self._region.array(fields[1], at)[1])
        return found

    def _expect(self, pointer: int, parent: int | None, count: int) -> tuple[int, int, tuple[int, ...], bytes]:
        at, tag, fields, scalars = self._region.constructor(pointer, parent)
        if len(fields) != count:
            raise Refused(f"an object has {len(fields)} fields where {count} are due")
        return at, tag, fields, scalars

    def _list(self, pointer: int, parent: int, read: Callable[[int, int], T]) -> tuple[T, ...]:
        found: list[T] = []
        while pointer != 1:
            parent, tag, fields, _ = self._expect(pointer, parent, 2)
            if tag != 1:
                raise Refused("a list is malformed")
            found.append(read(fields[0], parent))
            pointer = fields[1]
        return tuple(found)

    def _name(self, pointer: int, parent: int) -> Name:
        if (known := self._names.get(pointer)) is not None:
            return known
        steps: list[tuple[int, str | int]] = []
        while pointer != 1:
            if pointer in self._names:
                break
            at, tag, fields, _ = self._expect(pointer, parent, 2)
            if tag not in (1, 2):
                raise Refused("a name is malformed")
            part = self._region.string(fields[1], at) if tag == 1 else self._region.number(fields[1], at)
            steps.append((pointer, part))
            pointer, parent = fields[0], at
        name = () if pointer == 1 else self._names[pointer]
        for place, part in reversed(steps):
            self._names[place] = name = (*name, part)
        return name

    # Terms and levels share one loop: everything below a pointer is opened once, then built from the bottom.
    def _resolve(
        self,
        pointer: int,
        parent: int,
        memo: dict[int, int],
        below: Callable[[_Object], tuple[int, ...]],
        build: Callable[[_Object, list[int]], int],
    ) -> int:
        open_ = self._region.constructor
        opened: dict[int, tuple[_Object, tuple[int, ...]]] = {}
        stack = [(pointer, parent)]
        while stack:
            place, above = stack.pop()
            if place in opened or place in memo:
                continue
            found = open_(place, above)
            parts = below(found)
            opened[place] = found, parts
            at = found[0]
            stack += [(child, at) for child in parts if child not in opened]
        for place in sorted(opened):
            found, parts = opened[place]
            try:
                inner = [memo[child] for child in parts]
            except KeyError:
                raise Refused("a pointer points forward") from None
            memo[place] = build(found, inner)
        return memo[pointer]

    def _level(self, pointer: int, parent: int) -> int:
        if (known := self._levels.get(pointer)) is not None:
            return known
        return self._resolve(pointer, parent, self._levels, _levels_below, self._build_level)

    def _build_level(self, found: _Object, inner: list[int]) -> int:
        at, tag, fields, _ = found
        if tag == 0:
            return self._terms.add((ZERO,))
        if tag == 4:
            return self._terms.add((PARAM, self._name(fields[0], at)))
        return self._terms.add(({1: SUCC, 2: MAX, 3: IMAX}[tag], *inner))

    def _expr(self, pointer: int, parent: int) -> int:
        return self._resolve(pointer, parent, self._exprs, _terms_below, self._build_term)

    def _build_term(self, found: _Object, inner: list[int]) -> int:
        return inner[0] if found[1] == _MDATA else self._node(found, inner)

    def _node(self, found: _Object, inner: list[int]) -> int:
        at, tag, fields, scalars = found
        add, region = self._terms.add, self._region
        match tag:
            case 5:
                return add((APP, *inner))
            case 0:
                index = region.number(fields[0], at)
                if index >= _MAX_BINDERS:
                    raise Refused("a term has more nested binders than Lean counts")
                return add((BVAR, index))
            case 3:
                return add((SORT, self._level(fields[0], at)))
            case 4:
                return add((CONST, self._name(fields[0], at), self._list(fields[1], at, self._level)))
            case 6 | 7:
                if len(scalars) < 9 or scalars[8] >= _STYLES:
                    raise Refused("a binder is malformed")
                return add((LAM if tag == 6 else PI, *inner, self._name(fields[0], at), scalars[8]))
            case 8:
                return add((LET, *inner, self._name(fields[0], at)))
            case 9:
                return add((LIT, self._literal(fields[0], at)))
            case _:
                return add((PROJ, self._name(fields[0], at), region.number(fields[1], at), inner[0]))

    def _literal(self, pointer: int, parent: int) -> int | str:
        at, tag, fields, _ = self._expect(pointer, parent, 1)
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

    def _declaration(self, pointer: int, parent: int) -> Declaration:
        region = self._region
        at, tag, fields, _ = self._expect(pointer, parent, 1)
        if tag > Kind.RECURSOR:
            raise Refused("a constant is of no known kind")
        kind = Kind(tag)
        at, _, fields, scalars = self._expect(fields[0], at, _FIELDS[kind])
        head, _, names, _ = self._expect(fields[0], at, 3)
        return Declaration(
            kind=kind,
            name=self._name(names[0], head),
            params=self._list(names[1], head, self._name),
            type=self._closed(names[2], head),
            value=self._closed(fields[1], at) if kind in _VALUED else None,
            is_safe=_is_safe(kind, scalars),
            hints=self._hints(fields[2], at) if kind is Kind.DEFINITION else None,
            group=self._group(kind, fields, at),
            constructors=self._list(fields[4], at, self._name) if kind is Kind.INDUCTIVE else (),
            num_params=region.number(fields[1], at) if kind is Kind.INDUCTIVE else 0,
        )

    def _group(self, kind: Kind, fields: tuple[int, ...], at: int) -> tuple[Name, ...]:
        if kind is Kind.INDUCTIVE:
            return self._list(fields[3], at, self._name)
        if kind is Kind.CONSTRUCTOR:
            return (self._name(fields[1], at),)
        return self._list(fields[1], at, self._name) if kind is Kind.RECURSOR else ()

    def _hints(self, pointer: int, parent: int) -> int:
        _, tag, _, scalars = self._region.constructor(pointer, parent)
        if tag in (0, 1):
            return tag
        if tag != 2 or len(scalars) < 4:
            raise Refused("a reducibility hint is malformed")
        return 2 + int.from_bytes(scalars[:4], "little")


def _levels_below(found: _Object) -> tuple[int, ...]:
    _, tag, fields, _ = found
    if _LEVELS.get(tag) != len(fields):
        raise Refused("a universe level is malformed or holds a metavariable")
    return () if tag == 4 else fields


def _terms_below(found: _Object) -> tuple[int, ...]:
    _, tag, fields, _ = found
    below, arity = _SHAPES.get(tag, _NO_SHAPE)
    if arity != len(fields):
        is_open = tag in (_FVAR, _MVAR)
        raise Refused("a term holds a free variable or metavariable" if is_open else "a term is malformed")
    return fields[below]


# Level tag → how many fields it has.
_LEVELS = {0: 0, 1: 1, 2: 2, 3: 2, 4: 1}
_NO_SHAPE = (slice(0, 0), -1)
# Expression tag → where its child terms stand among the fields, and how many fields it has.
_SHAPES = {
    0: (slice(0, 0), 1), 3: (slice(0, 0), 1), 4: (slice(0, 0), 2), 5: (slice(0, 2), 2), 6: (slice(1, 3), 3),
    7: (slice(1, 3), 3), 8: (slice(1, 4), 4), 9: (slice(0, 0), 1), 10: (slice(1, 2), 2), 11: (slice(2, 3), 3),
}  # fmt: skip
_VALUED = (Kind.DEFINITION, Kind.THEOREM, Kind.OPAQUE)
_FIELDS = {
    Kind.AXIOM: 1, Kind.DEFINITION: 4, Kind.THEOREM: 3, Kind.OPAQUE: 3, Kind.QUOTIENT: 1, Kind.INDUCTIVE: 6,
    Kind.CONSTRUCTOR: 5, Kind.RECURSOR: 7,
}  # fmt: skip
# Where a kind keeps its `isUnsafe` byte among its scalars.
_UNSAFE_BYTE = {Kind.AXIOM: 0, Kind.OPAQUE: 0, Kind.INDUCTIVE: 1, Kind.CONSTRUCTOR: 0, Kind.RECURSOR: 1}


def _is_safe(kind: Kind, scalars: bytes) -> bool:
    if kind in (Kind.THEOREM, Kind.QUOTIENT):
        return True
    where = 0 if kind is Kind.DEFINITION else _UNSAFE_BYTE[kind]
    if len(scalars) <= where:
        raise Refused("a constant lacks its safety")
    return scalars[where] == (SAFE if kind is Kind.DEFINITION else 0)
