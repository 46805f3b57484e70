"""What of a checked artifact travels into the store: units, their members and their content names.

A *unit* is a theorem or a definition that the author wrote; mutual inductive types are one unit. Its *members* are
the constants that travel with it under its own name: what its type and value rest on, as far as no other unit owns
it. A definition's *extras* are constants that Lean made about it (equation lemmas, `casesOn`): they travel so that
others can work with it, but are no part of what it is. Notation, attributes and macros do not travel.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping

import msgspec

from .declarations import Declaration, Kind, mentioned
from .lexing import IDENTIFIER
from .refusals import Refused
from .terms import LAM, PROJ, Name, Terms, dotted

_SUFFIX_DIGITS = 6
_MAX_NAME_CHARS = 200
_DERIVED = (Kind.CONSTRUCTOR, Kind.RECURSOR)
_AUXILIARY = re.compile(r"[\w'!?@✝]{1,200}")


class Unit(msgspec.Struct, kw_only=True):
    """A theorem or definition of the author's, and all that must travel with it."""

    heads: tuple[Name, ...]
    """Its name first; the other types of a mutual inductive declaration after it."""

    is_theorem: bool
    members: dict[Name, Declaration]
    """Original name → declaration, the heads included."""

    extras: dict[Name, Declaration]
    uses: dict[Name, Name]
    """Constant of another unit that it uses directly → that unit's first head."""

    known: set[Name]
    """Constants of the library, the problem or accepted lemmas that it uses directly."""

    @property
    def name(self) -> Name:
        """The author's name of it."""
        return self.heads[0]


def public(name: Name) -> Name:
    """Return `name` as its author wrote it: without the prefix that `private` puts before it."""
    if name[:1] != ("_private",) or 0 not in name:
        return name
    return name[name.index(0) + 1 :]


class Harvest:
    """The units of one artifact."""

    def __init__(
        self,
        declarations: Mapping[Name, Declaration],
        *,
        theorems: Collection[str],
        definitions: Collection[str],
        known: Container[Name],
        terms: Terms,
    ) -> None:
        """Names are as the source writes them; namespaces may stand before them."""
        self._declarations = declarations
        self._known = known
        self._terms = terms
        self.units: dict[Name, tuple[Name, ...]] = {}
        """First head → heads."""
        self._theorems: set[Name] = set()
        self._first: dict[Name, Name] = {}
        for name, declaration in declarations.items():
            if declaration.kind is Kind.THEOREM and _is_written(name, theorems):
                self._theorems.add(name)
                self._add((name,))
            elif declaration.kind not in (Kind.THEOREM, *_DERIVED) and _is_written(name, definitions):
                self._add(_heads(declaration, declarations))
        for name, declaration in declarations.items():
            if declaration.kind is Kind.DEFINITION and _is_instance(name) and self.owner(name) is None:
                self._add((name,))

    def _add(self, heads: tuple[Name, ...]) -> None:
        if heads[0] not in self.units:
            self.units[heads[0]] = heads
            self._first.update(dict.fromkeys(heads, heads[0]))

    def is_theorem(self, unit: Name) -> bool:
        """Return whether the unit is a theorem."""
        return unit in self._theorems

    def owner(self, name: Name) -> Name | None:
        """Return the unit that `name` belongs to: a theorem itself, or the nearest definition that it lies below."""
        if name in self._theorems:
            return name
        prefixes = (self._first.get(name[:end]) for end in range(len(name), 0, -1))
        return next((first for first in prefixes if first is not None and first not in self._theorems), None)

    def collect(self, start: Name, refers: Callable[[Name, Name], bool]) -> Unit:
        """Return the unit `start` with its members and dependencies.

        `refers(owner, name)` says whether a constant that another unit owns is used where it is; otherwise a copy of
        it becomes a member.

        Raises:
            Refused: it uses an unsafe constant or one that neither the artifact nor the environment declares.
        """
        heads = self.units[start]
        for head in heads:
            refuse_odd_name(public(head))
        unit = Unit(heads=heads, is_theorem=self.is_theorem(start), members={}, extras={}, uses={}, known=set())
        stack = [*heads, *(name for name in self._declarations if not unit.is_theorem and self._is_part(name, heads))]
        while stack:
            name = stack.pop()
            if name in unit.members:
                continue
            declaration = self._declarations[name]
            refuse_unsafe(declaration)
            unit.members[name] = declaration
            stack += self._follow(unit, declaration, refers)
        if not unit.is_theorem:
            self._add_extras(unit, refers)
        return unit

    def _is_part(self, name: Name, heads: tuple[Name, ...]) -> bool:
        """Return whether `name` is a recursor or projection of the types `heads`; their terms do not mention those."""
        declaration = self._declarations[name]
        if declaration.kind is Kind.RECURSOR:
            return any(item in heads for item in declaration.group)
        if name[:-1] not in heads or declaration.value is None:
            return False
        node = self._terms.nodes[declaration.value]
        while node[0] == LAM:
            node = self._terms.node(node[2])
        return node[0] == PROJ and node[1] == name[:-1]

    def _follow(self, unit: Unit, declaration: Declaration, refers: Callable[[Name, Name], bool]) -> list[Name]:
        inner: list[Name] = []
        for below in sorted(mentioned(declaration, self._terms), key=repr):
            if below in self._declarations:
                owner = self.owner(below)
                if owner is not None and owner != unit.name and refers(owner, below):
                    unit.uses[below] = owner
                else:
                    inner.append(below)
            elif below in self._known:
                unit.known.add(below)
            else:
                raise Refused(f"{declaration.text} uses {dotted(below)}, which nothing declares")
        return inner

    def _add_extras(self, unit: Unit, refers: Callable[[Name, Name], bool]) -> None:
        """Take along what Lean made below a definition, as far as it needs no other unit than the definition does."""
        family = {
            name: mentioned(declaration, self._terms)
            for name, declaration in self._declarations.items()
            if name not in unit.members and declaration.is_safe and self._is_below(name, unit)
        }
        owners = set(unit.uses.values())
        outer = {need: self.owner(need) for needs in family.values() for need in needs if need in self._declarations}
        uses = {need: owner for need, owner in outer.items() if owner in owners and owner and refers(owner, need)}
        needed = {need for needs in family.values() for need in needs if need not in self._declarations}
        there = {*unit.members, *uses, *(need for need in needed if need in self._known)}
        # Until nothing more falls out: what needs a constant that does not travel does not travel either.
        while left := [name for name, needs in family.items() if not needs <= there | family.keys()]:
            for name in left:
                del family[name]
        for name, needs in family.items():
            unit.extras[name] = self._declarations[name]
            unit.known |= {need for need in needs if need not in self._declarations}
            unit.uses |= {need: owner for need, owner in uses.items() if need in needs}

    def _is_below(self, name: Name, unit: Unit) -> bool:
        return self.owner(name) == unit.name and all(
            isinstance(part, int) or _AUXILIARY.fullmatch(part) for part in name
        )


def _heads(declaration: Declaration, declarations: Mapping[Name, Declaration]) -> tuple[Name, ...]:
    group = [name for name in declaration.group if name in declarations]
    is_mutual = declaration.kind is Kind.INDUCTIVE and declaration.name in group
    return tuple(group) if is_mutual else (declaration.name,)


def _is_written(name: Name, written: Collection[str]) -> bool:
    parts = [str(part) for part in public(name)]
    return any(".".join(parts[at:]) in written for at in range(len(parts)))


def _is_instance(name: Name) -> bool:
    # Lean names an instance without a name `inst…`.
    return bool(name) and isinstance(name[-1], str) and name[-1].startswith("inst")


def refuse_unsafe(declaration: Declaration) -> None:
    """Refuse a constant that the kernel does not vouch for, or whose name could pass for other text."""
    if not declaration.is_safe:
        raise Refused(f"{declaration.text} is unsafe or partial")
    if not all(isinstance(part, int) or _AUXILIARY.fullmatch(part) for part in declaration.name):
        raise Refused(f"{declaration.text[:100]!r} is an odd name")


def refuse_odd_name(name: Name) -> None:
    """Refuse a name that no text can write."""
    is_plain = all(isinstance(part, str) and IDENTIFIER.fullmatch(part) for part in name)
    if not name or not is_plain or len(dotted(name)) > _MAX_NAME_CHARS:
        raise Refused(f"{dotted(name)[:100]!r} is no name for a theorem or definition")


def renaming(unit: Unit, heads: Mapping[Name, Name], uses: Mapping[Name, Name]) -> dict[Name, Name]:
    """Return the new name of everything that `unit` has or uses: its heads get those in `heads`."""
    names = {name: _renamed(name, unit.name, heads) for name in (*unit.members, *unit.extras)}
    return {**uses, **names}


def _renamed(name: Name, first: Name, heads: Mapping[Name, Name]) -> Name:
    below = rename_with(heads, name)
    return below if below != name else (*heads[first], "_aux", *name)


def rename_with(heads: Mapping[Name, Name], name: Name) -> Name:
    """Return the new name of `name` when the longest prefix of it that is in `heads` is renamed."""
    for end in range(len(name), 0, -1):
        found = heads.get(name[:end])
        if found is not None:
            return (*found, *name[end:])
    return name


def content_id(unit: Unit, uses: Mapping[Name, Name], ids: Collection[str], terms: Terms, *, world: str) -> str:
    """Return the unit's content id: `l` and a SHA-256 over its members' terms, its dependencies' ids and `world`.

    `uses` gives the stored names of what it uses; `ids` are the ids of the units and lemmas it uses. `world` stands
    for toolchain, library and policy. The author's names of the unit and its members do not enter, nor do extras.
    """
    names = renaming(unit, {head: (f"%self{at}",) for at, head in enumerate(unit.heads)}, uses)
    state = hashlib.sha256(repr((world, sorted(ids), unit.is_theorem)).encode())
    for name, declaration in sorted(unit.members.items(), key=lambda item: repr(names[item[0]])):
        parts = [declaration.type] if declaration.value is None else [declaration.type, declaration.value]
        memo: dict[int, bytes] = {}
        digests = [terms.digest(part, declaration.params, lambda old: names.get(old, old), memo=memo) for part in parts]
        constructors = [names.get(item, item) for item in declaration.constructors]
        head = (names[name], int(declaration.kind), len(declaration.params), declaration.num_params, constructors)
        state.update(repr(head).encode("utf-8", "surrogatepass") + b"".join(digests))
    # A letter first: the id is also a component of a module name.
    return f"l{state.hexdigest()}"


def content_name(name: Name, content: str, is_taken: Callable[[Name], bool]) -> Name:
    """Return the stored name: the author's name and as much of the content id as makes it unique."""
    *space, last = (str(part) for part in public(name))
    for digits in _digits(content):
        found = (*space, f"{last}_{content[1 : 1 + digits]}")
        if not is_taken(found):
            return found
    raise Refused(f"{dotted(name)} is declared already")


def _digits(content: str) -> Iterator[int]:
    return iter(range(_SUFFIX_DIGITS, len(content), 2))
