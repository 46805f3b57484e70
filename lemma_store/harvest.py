"""What of a checked artifact travels into the store: units, their members and their content names.

A *unit* is a theorem or a definition that the author wrote. Its *members* are the constants that travel with it:
auxiliary ones (matchers, proofs that Lean abstracted, equation lemmas) as copies under the unit's own name. Units
may use each other and accepted lemmas. Notation, instances as instances, attributes and macros do not travel.
"""

import hashlib
from collections.abc import Collection, Mapping

import msgspec

from .declarations import Declaration, Kind, mentioned
from .refusals import Refused
from .terms import Name, Terms, dotted

_SUFFIX_DIGITS = 6
_DERIVED = (Kind.CONSTRUCTOR, Kind.RECURSOR)


class Unit(msgspec.Struct, kw_only=True):
    """A theorem or definition of the author's, and all that must travel with it."""

    name: Name
    is_theorem: bool
    members: dict[Name, Declaration]
    """Original name → declaration, the unit's own included."""

    units: set[Name]
    """Other units that it uses directly."""

    known: set[Name]
    """Constants of the library, the problem or accepted lemmas that it uses directly."""


def find_units(
    declarations: Mapping[Name, Declaration], *, theorems: Collection[str], definitions: Collection[str]
) -> dict[Name, bool]:
    """Return the author's own constants: name → whether it is a theorem.

    `theorems` and `definitions` are names as the source writes them; a namespace may stand before them.
    """
    found: dict[Name, bool] = {}
    for name, declaration in declarations.items():
        if declaration.kind is Kind.THEOREM and _is_written(name, theorems):
            found[name] = True
        elif declaration.kind not in (Kind.THEOREM, *_DERIVED) and _is_written(name, definitions):
            found[name] = False
    return found


def _is_written(name: Name, written: Collection[str]) -> bool:
    parts = [str(part) for part in name]
    return any(".".join(parts[at:]) in written for at in range(len(parts)))


def collect(
    start: Name,
    declarations: Mapping[Name, Declaration],
    units: Mapping[Name, bool],
    known: Collection[Name],
    terms: Terms,
) -> Unit:
    """Return the unit `start` with its members and dependencies.

    Raises:
        Refused: it uses an unsafe constant or one that neither the artifact nor the environment declares.
    """
    unit = Unit(name=start, is_theorem=units[start], members={}, units=set(), known=set())
    family = [start]
    if not unit.is_theorem:
        family += [name for name in declarations if _is_family(name, start, declarations, units)]
    stack = family[::-1]
    while stack:
        name = stack.pop()
        if name in unit.members:
            continue
        declaration = declarations[name]
        if not declaration.is_safe:
            raise Refused(f"{dotted(name)} is unsafe or partial")
        unit.members[name] = declaration
        stack += _follow(unit, declaration, declarations, units, known, terms)
    return unit


def _follow(
    unit: Unit, declaration: Declaration, declarations: Mapping[Name, Declaration], units: Mapping[Name, bool],
    known: Collection[Name], terms: Terms,
) -> list[Name]:  # fmt: skip
    inner: list[Name] = []
    for below in mentioned(declaration, terms):
        if below in declarations:
            owner = _owner(below, units)
            if owner is not None and owner != unit.name:
                unit.units.add(owner)
            else:
                inner.append(below)
        elif below in known:
            unit.known.add(below)
        else:
            raise Refused(f"{declaration.text} uses {dotted(below)}, which nothing declares")
    return inner


def _owner(name: Name, units: Mapping[Name, bool]) -> Name | None:
    """Return the unit whose module declares `name`: a theorem itself, or anything below a definition."""
    if units.get(name):
        return name
    return next((name[:end] for end in range(len(name), 0, -1) if units.get(name[:end]) is False), None)


def _is_family(name: Name, start: Name, declarations: Mapping[Name, Declaration], units: Mapping[Name, bool]) -> bool:
    below = name != start and name[: len(start)] == start
    return below and declarations[name].is_safe and _owner(name, units) == start


def renaming(unit: Unit, new: Name, others: Mapping[Name, Name]) -> dict[Name, Name]:
    """Return new names for the members of `unit`, whose own becomes `new`, and for the units in `others`."""
    names = {name: _renamed(name, unit.name, new) for name in unit.members}
    return {**others, **names}


def _renamed(name: Name, own: Name, new: Name) -> Name:
    if name[: len(own)] == own:
        return (*new, *name[len(own) :])
    return (*new, "_aux", *name)


def rename_with(names: Mapping[Name, Name], name: Name) -> Name:
    """Return the new name of `name`: by the longest renamed prefix, so that constructors follow their type."""
    for end in range(len(name), 0, -1):
        found = names.get(name[:end])
        if found is not None:
            return (*found, *name[end:])
    return name


def content_id(unit: Unit, others: Mapping[Name, Name], ids: Collection[str], terms: Terms, *, world: str) -> str:
    """Return the unit's content id: `l` and a SHA-256 over its members' terms, its dependencies' ids and `world`.

    `others` names the units that it uses; `ids` are their ids and those of the lemmas it uses. `world` stands for
    toolchain, library and policy. The author's names of the unit and its members do not enter.
    """
    self_names = renaming(unit, ("%self",), others)
    state = hashlib.sha256(repr((world, sorted(ids), unit.is_theorem)).encode())
    for name, declaration in sorted(unit.members.items(), key=lambda item: repr(self_names[item[0]])):
        parts = [declaration.type] if declaration.value is None else [declaration.type, declaration.value]
        digests = [terms.digest(part, declaration.params, lambda old: rename_with(self_names, old)) for part in parts]
        head = (self_names[name], int(declaration.kind), len(declaration.params), declaration.num_params)
        state.update(repr(head).encode() + b"".join(digests))
    # A letter first: the id is also a component of a module name.
    return f"l{state.hexdigest()}"


def content_name(unit: Name, content: str, taken: Collection[Name]) -> Name:
    """Return the stored name: the author's name and as much of the content id as makes it unique."""
    plain = tuple(part for part in unit if isinstance(part, str))
    if plain and plain[0] == "_private":
        # `_private.Module.0.name`: the module part ends at the number.
        plain = tuple(part for part in unit[unit.index(0) + 1 :] if isinstance(part, str)) if 0 in unit else plain
    for digits in range(_SUFFIX_DIGITS, len(content), 2):
        name = (*plain[:-1], f"{plain[-1]}_{content[1 : 1 + digits]}")
        if name not in taken:
            return name
    return (*plain[:-1], f"{plain[-1]}_{content[1:]}")
