"""The Lean kernel by ctypes: terms in, accepted declarations out, one process per question.

Only constructors of the kernel's own API build objects here, from terms that the memory-safe reader read. Objects
are never freed: a kernel lives for one judgement, or holds accepted terms only. Nothing here is safe for threads.
The layouts are those of Lean 4.35.0; the toolchain's hash is checked before the library is loaded.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lemma_store.declarations import Declaration, Kind
from lemma_store.refusals import Refused
from lemma_store.terms import IMAX, MAX, PARAM, PI, SUCC, ZERO, Name, Node, Terms, dotted

from .imported import ImportedLibrary
from .objects import Objects

_EXCEPTIONS = (
    "an unknown constant", "a name that is taken already", "a type mismatch in a declaration", "a metavariable",
    "a free variable", "a function expected", "a type expected", "a let type mismatch", "an expression type mismatch",
    "an application type mismatch", "an invalid projection", "a theorem whose type is no proposition", "another fault",
    "a deterministic timeout", "excessive memory", "too deep recursion", "an interruption",
)  # fmt: skip
_LIMITS = (13, 14, 15, 16)


class KernelLimit(Exception):
    """The kernel stopped at a limit: neither a yes nor a no."""


class Kernel:
    """A kernel environment that only grows. `add` accepts or refuses one declaration."""

    def __init__(self, library: Path, terms: Terms) -> None:
        self._objects = Objects(library)
        self._terms = terms
        self._built: dict[int, int] = {}
        self._names: dict[Name, int] = {(): 1}
        self._environment = self._objects.empty_environment()
        self._has_quotient = False
        self._library: ImportedLibrary | None = None
        self.accepted = 0
        """Declarations that the kernel said yes to; a mutual group counts once."""

    def import_library(self, path: str, modules: Iterable[Name]) -> None:
        """Have Lean import `modules` from the search path `path` into the empty environment, unchecked.

        Raises:
            OSError: Lean cannot import them.
        """
        self._library = ImportedLibrary(self._objects, self._terms, path, [self._name(name) for name in modules])
        self._environment = self._library.environment
        self._has_quotient = True  # an environment with imports has it by Lean's decree

    def imported(self, name: Name) -> tuple[Declaration, frozenset[str]] | None:
        """Return a constant of the imported library and the axioms that it rests on, if safe ones may use it.

        Raises:
            Refused: the library is malformed.
        """
        if self._library is None or (found := self._library.declaration(self._name(name))) is None:
            return None
        return found, self._library.axioms(self._name(name))

    def add(self, declaration: Declaration, companions: Mapping[Name, Declaration]) -> None:
        """Check `declaration` and add it, with its whole mutual group and what the kernel derives from it.

        Args:
            declaration: An axiom, definition, theorem, opaque constant, quotient constant or inductive type.
            companions: Finds the other types of an inductive group, and constructors.

        Raises:
            Refused: the kernel says no.
            KernelLimit: it stopped at a limit.
        """
        if declaration.kind is Kind.QUOTIENT:
            if self._has_quotient:
                return
            self._has_quotient = True
        result = self._objects.add_declaration(self._environment, self._declaration(declaration, companions))
        failure, environment = result
        if failure is not None:
            fault = _EXCEPTIONS[failure] if failure < len(_EXCEPTIONS) else f"exception {failure}"
            if failure in _LIMITS:
                raise KernelLimit(f"the kernel stopped at {declaration.text}: {fault}")
            raise Refused(f"the kernel refuses {declaration.text}: {fault}")
        self._environment = environment
        self.accepted += 1

    def holds(self, declaration: Declaration) -> bool:
        """Return whether the kernel has a constant of this name, kind and type, as derived by itself."""
        found = self._objects.find(self._environment, self._name(declaration.name))
        if found is None:
            return False
        kind, type_ = self._objects.kind_and_type(found)
        return kind == int(declaration.kind) and self._objects.same_expr(type_, self.build(declaration.type))

    def write_module(self, path: Path, *, imports: list[Name], names: list[Name]) -> None:
        """Write the accepted constants `names` as a module without environment extensions.

        Raises:
            OSError: the file could not be written.
        """
        found = [self._objects.find(self._environment, self._name(name)) for name in names]
        constants = [item for item in found if item is not None]
        if len(constants) != len(names):
            raise LookupError("a constant to be written was never accepted")
        self._objects.save_module(
            path, [self._name(name) for name in imports], [self._name(name) for name in names], constants
        )

    def fill_gaps(self) -> None:
        """See `Objects.fill_gaps`."""
        self._objects.fill_gaps()

    def build(self, term: int) -> int:
        """Return the Lean object of `term`."""
        return self._terms.fold(term, self._objects.application, self._object, self._built)

    def _name(self, name: Name) -> int:
        known = self._names.get(name)
        if known is None:
            prefix, part = self._name(name[:-1]), name[-1]
            known = (
                self._objects.name_string(prefix, part)
                if isinstance(part, str)
                else self._objects.name_number(prefix, part)
            )
            self._names[name] = known
        return known

    def _object(self, node: Node, below: list[Any]) -> int:
        make = self._objects
        match node[0]:
            case 0:
                return make.call("lean_expr_mk_bvar", make.number(node[1]))
            case 3:
                return make.call("lean_expr_mk_sort", below[0])
            case 4:
                return make.call("lean_expr_mk_const", self._name(node[1]), make.sequence(below))
            case 6 | 7:
                type_, body = below
                return make.binder(self._name(node[3]), type_, body, is_pi=node[0] == PI, style=node[4])
            case 8:
                return make.call("lean_expr_mk_let", self._name(node[4]), *below)
            case 9:
                return make.literal(node[1])
            case 11:
                return make.call("lean_expr_mk_proj", self._name(node[1]), make.number(node[2]), below[0])
            case _:
                return self._level(node, below)

    def _level(self, node: Node, below: list[Any]) -> int:
        make = self._objects
        if node[0] == ZERO:
            return make.call("lean_level_mk_zero", 1)
        if node[0] == PARAM:
            return make.call("lean_level_mk_param", self._name(node[1]))
        symbol = {SUCC: "lean_level_mk_succ", MAX: "lean_level_mk_max", IMAX: "lean_level_mk_imax"}[node[0]]
        return make.call(symbol, *below)

    def _head(self, declaration: Declaration) -> int:
        make = self._objects
        params = make.sequence([self._name(param) for param in declaration.params])
        return make.constructor(0, [self._name(declaration.name), params, self.build(declaration.type)])

    def _declaration(self, declaration: Declaration, companions: Mapping[Name, Declaration]) -> int:
        make, kind = self._objects, declaration.kind
        if kind is Kind.QUOTIENT:
            return make.box(4)
        if kind is Kind.INDUCTIVE:
            return self._inductive(declaration, companions)
        head = self._head(declaration)
        if kind is Kind.AXIOM:
            return make.constructor(0, [make.constructor(0, [head], b"\0")])
        assert declaration.value is not None
        value, alone = self.build(declaration.value), make.sequence([self._name(declaration.name)])
        if kind is Kind.THEOREM:
            return make.constructor(2, [make.constructor(0, [head, value, alone])])
        if kind is Kind.OPAQUE:
            return make.constructor(3, [make.constructor(0, [head, value, alone], b"\0")])
        if kind is Kind.DEFINITION:
            return make.constructor(1, [make.constructor(0, [head, value, self._hints(declaration), alone], b"\1")])
        raise Refused(f"{declaration.text} cannot be declared by itself")

    def _hints(self, declaration: Declaration) -> int:
        hints = declaration.hints or 0
        if hints < 2:
            return self._objects.box(hints)
        return self._objects.constructor(2, [], (hints - 2).to_bytes(8, "little"))

    def _inductive(self, declaration: Declaration, companions: Mapping[Name, Declaration]) -> int:
        make = self._objects
        if missing := [name for name in declaration.group if name not in companions]:
            raise Refused(f"{declaration.text} lacks its mutual companion {dotted(missing[0])}")
        group = [companions[name] for name in declaration.group]
        if missing := [name for item in group for name in item.constructors if name not in companions]:
            raise Refused(f"{declaration.text} lacks its constructor {dotted(missing[0])}")
        types: list[int] = []
        for member in group:
            constructors = [companions[name] for name in member.constructors]
            pairs = [make.constructor(0, [self._name(item.name), self.build(item.type)]) for item in constructors]
            types.append(make.constructor(0, [self._name(member.name), self.build(member.type), make.sequence(pairs)]))
        params = make.sequence([self._name(param) for param in declaration.params])
        return make.constructor(6, [params, make.number(declaration.num_params), make.sequence(types)], b"\0")
