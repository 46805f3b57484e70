"""The judge's world: a kernel that holds accepted declarations only, and what is known about each of them."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .declarations import Declaration, Kind, Module, mentioned
from .known import Known, KnownAndImported
from .lean.core_library import LIBRARY
from .lean.kernel import Kernel, KernelLimit
from .lean.olean import read_module, read_parts
from .policy import ALLOWED_AXIOMS
from .refusals import Refused
from .shelf import Held, Shelf
from .tasks import LEMMA_PREFIX
from .terms import Name, Terms, dotted, undotted

_QUOTIENT = (("Quot",), ("Quot", "mk"), ("Quot", "lift"), ("Quot", "ind"))
_DERIVED = (Kind.CONSTRUCTOR, Kind.RECURSOR)


class Session:
    """A growing environment of trusted and accepted modules, replayed declaration by declaration.

    Each module is read by the memory-safe reader and sent to the kernel from terms; nothing is mapped or imported, but
    for a trusted library that is too large for it.
    """

    def __init__(self, library: Path, *, version: str, imports: tuple[str, ...] = ()) -> None:
        self.terms = Terms()
        self.kernel = Kernel(library, self.terms)
        self.known: dict[Name, Known] = {}
        self.version = version
        self.imports = imports
        """What a written module imports to have all of the trusted library."""
        self.unit_ids: dict[str, str] = {}
        """Stored name → content id of every unit of agents' work that it holds."""
        self.unit_names: dict[str, tuple[str, ...]] = {}
        """The same the other way round: one name, or those of mutual types in their order."""
        self._shelf = Shelf(version=version)

    def import_library(self, path: str) -> None:
        """Begin with the trusted library as Lean imports it from the search path `path`, unchecked.

        Raises:
            Refused: it leaves the quotient free, which the kernel then takes from anybody.
            OSError: Lean cannot import it.
        """
        self.kernel.import_library(path, map(undotted, self.imports))
        self.known = KnownAndImported(self.kernel)
        for name in _QUOTIENT:
            found = self.known.get(name)
            if found is None or found.declaration.kind is not Kind.QUOTIENT:
                raise Refused(f"the library does not have {dotted(name)} of Lean's core")

    def name_unit(self, content: str, names: tuple[str, ...]) -> None:
        """Remember under which names a unit is stored."""
        self.unit_names[content] = names
        self.unit_ids.update(dict.fromkeys(names, content))

    def hold(self, unit: Held) -> None:
        """Keep an accepted unit; it is replayed when something needs it."""
        self._shelf.put(unit)
        self.name_unit(unit.module.removeprefix(LEMMA_PREFIX), unit.names)

    def take_in(self, modules: Iterable[str]) -> bool:
        """Replay those of `modules` that are only held, and what they rest on; return whether there were any.

        Raises:
            KernelLimit: one of them is refused now, or the kernel stopped at a limit.
        """
        try:
            units = self._shelf.needed(modules)
            for unit in units:
                self.admit(unit.data, module=unit.module)
                self._shelf.remove(unit)
        except Refused as refusal:
            raise KernelLimit(f"an accepted unit is refused now: {refusal.reason}") from refusal
        return bool(units)

    def find(self, name: Name) -> Known | None:
        """Return the constant of this name, if there is one; the unit that has it is taken in.

        Raises:
            KernelLimit: see `take_in`.
        """
        if (module := self._shelf.owner(name)) is not None:
            self.take_in([module])
        return self.known.get(name)

    def admit(self, data: bytes, *more: bytes, module: str) -> Module:
        """Replay a trusted or accepted module. One of the library may be in parts.

        Raises:
            Refused: it is malformed, collides with a known name, or the kernel refuses a declaration of it.
            KernelLimit: the kernel stopped at a limit.
        """
        if module == LIBRARY:
            found = read_parts([data, *more], self.terms, version=self.version)
        else:
            found = read_module(data, self.terms, version=self.version)
        self.replay(found.declarations, module=module)
        return found

    def replay(self, declarations: Mapping[Name, Declaration], *, module: str) -> None:
        """Send `declarations` to the kernel in dependency order, then compare what the kernel derived.

        `unsafe` and `partial` constants are left out: no safe constant can mention them.
        """
        taken = [name for name in declarations if name in self.known]
        if foreign := [name for name in taken if not self._is_again(declarations[name], module)]:
            raise Refused(f"{dotted(foreign[0])} is declared already")
        safe = {name: item for name, item in declarations.items() if item.is_safe and name not in self.known}
        for declaration in in_dependency_order(safe, self.terms):
            self._learn(declaration, safe, module)

    def _is_again(self, declaration: Declaration, module: str) -> bool:
        """Return whether two modules of the library prove the same; Lean allows it, for equations made on demand."""
        known = self.known[declaration.name]
        return (
            module == known.module == LIBRARY
            and declaration.kind == known.declaration.kind == Kind.THEOREM
            and self.statement_hash(declaration) == self.statement_hash(known.declaration)
        )

    def _learn(self, declaration: Declaration, companions: Mapping[Name, Declaration], module: str) -> None:
        if declaration.kind not in _DERIVED and not self._is_later_member(declaration):
            self.kernel.add(declaration, companions)
        if not self.kernel.holds(declaration):
            raise Refused(f"{declaration.text} differs from what the kernel derives")
        axioms = self._axioms(declaration, companions)
        self.known[declaration.name] = Known(declaration=declaration, module=module, axioms=axioms)

    def _is_later_member(self, declaration: Declaration) -> bool:
        return declaration.kind is Kind.INDUCTIVE and any(name in self.known for name in declaration.group)

    def _axioms(self, declaration: Declaration, companions: Mapping[Name, Declaration]) -> frozenset[str]:
        own = {declaration.text} if declaration.kind is Kind.AXIOM else set[str]()
        # A type stands for its whole group: constructors come later, but what they rest on counts now.
        group = [companions[name] for name in declaration.group if name in companions]
        parts = [declaration, *group, *(companions[name] for item in group for name in item.constructors)]
        names = {name for part in parts for name in mentioned(part, self.terms)}
        below = (self.known[name].axioms for name in names if name in self.known)
        return frozenset(own).union(*below)

    def axioms_of(self, names: Iterable[Name]) -> frozenset[str]:
        """Return the axioms in the closure of known constants."""
        return frozenset[str]().union(*(self.known[name].axioms for name in names))

    def forbidden(self, axioms: Iterable[str]) -> list[str]:
        """Return the axioms among `axioms` that policy does not allow, sorted."""
        return sorted(axiom for axiom in axioms if not self._is_allowed(axiom))

    def _is_allowed(self, axiom: str) -> bool:
        wanted = ALLOWED_AXIOMS.get(axiom)
        known = self.known.get(tuple(axiom.split(".")))
        return wanted is not None and known is not None and self.statement_hash(known.declaration) == wanted

    def statement_hash(self, declaration: Declaration) -> str:
        """Return the hash of a declaration's type, as `Statement.hash` defines it."""
        return self.terms.digest(declaration.type, declaration.params).hex()


def in_dependency_order(declarations: Mapping[Name, Declaration], terms: Terms) -> Iterator[Declaration]:
    """Yield `declarations` so that each comes after those of the same mapping that it mentions.

    An inductive group comes before its constructors and recursors.

    Raises:
        Refused: they depend on each other in a circle.
    """
    done: set[Name] = set()
    open_: set[Name] = set()
    for start in declarations:
        stack = [(start, False)]
        while stack:
            name, is_ready = stack.pop()
            if is_ready:
                open_.discard(name)
                done.add(name)
                yield declarations[name]
            elif name not in done:
                if name in open_:
                    raise Refused(f"{dotted(name)} depends on itself")
                open_.add(name)
                stack.append((name, True))
                stack.extend((below, False) for below in _needs(declarations, name, terms) if below not in done)


def _needs(declarations: Mapping[Name, Declaration], name: Name, terms: Terms) -> set[Name]:
    declaration = declarations[name]
    if declaration.kind in _DERIVED:
        # A recursor comes out of its group; only the group must be there.
        return {owner for owner in declaration.group if owner in declarations}
    if declaration.kind is Kind.INDUCTIVE:
        group = {member for member in declaration.group if member in declarations}
        built = {item for member in group for item in declarations[member].constructors if item in declarations}
        found = {below for item in group | built for below in terms.constants(declarations[item].type)}
        return {below for below in found - group - built if below in declarations}
    needs = mentioned(declaration, terms)
    if declaration.kind is Kind.QUOTIENT:
        needs = needs | {("Eq",)}  # the kernel wants equality before quotients
    return {below for below in needs if below in declarations and below != name}
