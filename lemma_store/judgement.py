"""Steps 3 to 8 of the pipeline for one artifact, inside a process made for it: read, compare, close, replay, write.

The process that runs this forked from one that holds accepted terms only, and ends with the answer.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from .declarations import Declaration, Kind
from .harvest import Unit, collect, content_id, content_name, find_units, rename_with, renaming
from .lean.olean import read_module
from .policy import is_allowed_extension
from .printing import Printer
from .refusals import Refused
from .session import Session, in_dependency_order
from .tasks import Artifact, Composition, Judged, Question
from .terms import APP, CONST, PI, Name, dotted, undotted

_MAX_PREMISES = 32


def judge_artifact(session: Session, task: Artifact) -> list[Judged]:
    """Judge every unit of an artifact, each by itself.

    Raises:
        Refused: the artifact as a whole is no honest module.
    """
    return _Bench(session, task, _read(session, task.path, task.imports)).judge()


def judge_statement(session: Session, task: Question) -> Judged:
    """Return the statement of an unproved theorem, which may mention known constants only.

    Raises:
        Refused: the artifact is no honest module, or the statement needs constants of its own.
    """
    declarations = _read(session, task.path, task.imports)
    declaration = declarations.get(undotted(task.theorem))
    if declaration is None or declaration.kind is not Kind.THEOREM:
        raise Refused("the text declares no theorem of the expected name")
    if len(declarations) > 1:
        raise Refused("the text is more than one proposition, or needs constants of its own")
    own = session.terms.constants(declaration.type) - session.known.keys()
    if own:
        raise Refused(f"the statement needs {dotted(min(own, key=repr))}; define it in the problem or avoid `match`")
    return _describe(session, declaration, name=task.theorem)


def judge_composition(session: Session, task: Composition) -> Judged:
    """Build, check and write the theorem `glue child₁ … childₙ`.

    Raises:
        Refused: the parts do not fit, or the kernel refuses the result.
    """
    terms = session.terms
    glue = session.known[undotted(task.glue)].declaration
    statement, value = glue.type, terms.add((CONST, glue.name, ()))
    for child in task.children:
        if terms.nodes[statement][0] != PI or terms.loose(terms.nodes[statement][2]):
            raise Refused("the glue does not take its children as hypotheses")
        statement = terms.nodes[statement][2]
        value = terms.add((APP, value, terms.add((CONST, undotted(child), ()))))
    theorem = Declaration(kind=Kind.THEOREM, name=undotted(task.name), params=(), type=statement, value=value)
    if session.statement_hash(theorem) != task.expected:
        raise Refused("the composed theorem has another statement than the node")
    artifact = Artifact(
        path="", imports=(), theorems=(task.name,), definitions=(), world=task.world, folder=task.folder,
        lemma_ids=task.lemma_ids,
    )  # fmt: skip
    return _Bench(session, artifact, {theorem.name: theorem}).judge()[0]


def _read(session: Session, path: str, imports: tuple[str, ...]) -> dict[Name, Declaration]:
    module = read_module(Path(path).read_bytes(), session.terms, version=session.version)
    if tuple(dotted(name) for name in module.imports) != imports:
        raise Refused("the artifact imports other modules than the server wrote into its header")
    if foreign := [name for name in module.extensions if not is_allowed_extension(name)]:
        raise Refused(f"the text extends Lean itself ({foreign[0]})")
    if taken := [name for name in module.declarations if name in session.known]:
        raise Refused(f"{dotted(taken[0])} is a name of the library, the problem or a lemma")
    return module.declarations


def describe(session: Session, name: str) -> Judged:
    """Return what the kernel holds under `name`.

    Raises:
        Refused: it holds nothing.
    """
    known = session.known.get(undotted(name))
    if known is None:
        raise Refused(f"the kernel holds nothing named {name}")
    is_theorem = known.declaration.kind is Kind.THEOREM
    return _describe(
        session,
        known.declaration,
        name=name,
        stored_name=name,
        is_theorem=is_theorem,
        axioms=tuple(sorted(known.axioms)),
    )


def _describe(session: Session, declaration: Declaration, *, name: str, **more: Any) -> Judged:
    def find(constant: Name) -> Declaration | None:
        known = session.known.get(constant)
        return None if known is None else known.declaration

    return Judged(
        name=name,
        outcome="accepted",
        pretty=Printer(session.terms, find).text(declaration.type),
        statement_hash=session.statement_hash(declaration),
        universes=len(declaration.params),
        premises=_premises(session, declaration),
        **more,
    )


def _premises(session: Session, declaration: Declaration) -> tuple[tuple[str, str], ...]:
    terms, term = session.terms, declaration.type

    def digest(part: int) -> str:
        return terms.digest(part, declaration.params).hex()

    found: list[tuple[str, str]] = []
    while (node := terms.nodes[term])[0] == PI and not terms.loose(node[2]) and len(found) < _MAX_PREMISES:
        found.append((digest(node[1]), digest(term)))
        term = node[2]
    return (*found, ("", digest(term)))


class _Bench:
    """Judges the units of one artifact in the order of their dependencies."""

    def __init__(self, session: Session, task: Artifact, declarations: dict[Name, Declaration]) -> None:
        self._session = session
        self._task = task
        self._declarations = declarations
        self._units = find_units(declarations, theorems=task.theorems, definitions=task.definitions)
        self._new_names: dict[Name, Name] = {}
        self._ids: dict[str, str] = dict(task.lemma_ids)
        self._found: dict[Name, Judged] = {}

    def judge(self) -> list[Judged]:
        for name in self._units:
            self._judge(name, ())
        return list(self._found.values())

    def _judge(self, name: Name, above: tuple[Name, ...]) -> bool:
        """Judge one unit and what it needs first; return whether it was accepted."""
        if name in self._found:
            return self._found[name].outcome == "accepted"
        try:
            self._found[name] = self._admit(self._prepare(name, above))
        except Refused as refusal:
            self._found[name] = Judged(
                name=dotted(name), outcome="rejected", reasons=(refusal.reason,), is_theorem=self._units[name]
            )
        return self._found[name].outcome == "accepted"

    def _prepare(self, name: Name, above: tuple[Name, ...]) -> Unit:
        """Return the unit with everything that it needs accepted."""
        if name in above:
            raise Refused(f"{dotted(name)} and {dotted(above[-1])} need each other")
        unit = collect(name, self._declarations, self._units, self._session.known, self._session.terms)
        for other in sorted(unit.units, key=repr):
            if not self._judge(other, (*above, name)):
                raise Refused(f"{dotted(name)} uses {dotted(other)}, which was not accepted")
        return unit

    def _admit(self, unit: Unit) -> Judged:
        session = self._session
        self._refuse_axioms(unit)
        others = {name: self._new_names[name] for name in unit.units}
        uses = {dotted(name) for name in others.values()} | self._lemmas_in(unit)
        content = content_id(unit, others, [self._ids[use] for use in uses], session.terms, world=self._task.world)
        existing = next((name for name, known in self._ids.items() if known == content), None)
        new = undotted(existing) if existing else content_name(unit.name, content, session.known)
        self._new_names[unit.name] = new
        self._ids[dotted(new)] = content
        renamed = self._rename(unit, renaming(unit, new, others))
        if existing is None:
            session.replay(renamed, module=f"L.{content}")
        return _describe(
            session,
            renamed[new],
            name=dotted(unit.name),
            is_theorem=unit.is_theorem,
            id=content,
            stored_name=dotted(new),
            uses=tuple(sorted(uses)),
            axioms=tuple(sorted(session.known[new].axioms)),
            module="" if existing else self._write(unit, renamed, content, uses),
        )

    def _refuse_axioms(self, unit: Unit) -> None:
        own = [item.text for item in unit.members.values() if item.kind is Kind.AXIOM]
        if own:
            raise Refused(f"it rests on the axiom {own[0]} of the text itself")
        if bad := self._session.forbidden(self._session.axioms_of(unit.known)):
            raise Refused("it uses sorry" if bad == ["sorryAx"] else f"it rests on forbidden axioms: {', '.join(bad)}")

    def _lemmas_in(self, unit: Unit) -> set[str]:
        modules = {self._session.known[name].module for name in unit.known}
        return {name for name, content in self._ids.items() if f"L.{content}" in modules}

    def _rename(self, unit: Unit, names: dict[Name, Name]) -> dict[Name, Declaration]:
        def new(name: Name) -> Name:
            return rename_with(names, name)

        memo: dict[int, int] = {}
        return {new(name): _renamed(item, new, lambda term: self._session.terms.rename(term, new, memo))
                for name, item in unit.members.items()}  # fmt: skip

    def _write(self, unit: Unit, renamed: dict[Name, Declaration], content: str, uses: set[str]) -> str:
        session = self._session
        path = Path(self._task.folder) / f"{content}.olean"
        origins = {session.known[name].module for name in unit.known}
        imports = ["MiniCore", *sorted(origins - {"MiniCore"} | {f"L.{self._ids[use]}" for use in uses})]
        order = [item.name for item in in_dependency_order(renamed, session.terms)]
        session.kernel.write_module(path, imports=[tuple(item.split(".")) for item in imports], names=order)
        # The bytes that are published are read back: they must hold the very terms that the kernel accepted.
        written = read_module(path.read_bytes(), session.terms, version=session.version)
        if {name: _core(item) for name, item in written.declarations.items()} != {
            name: _core(item) for name, item in renamed.items()
        }:
            raise OSError("the written module differs from what the kernel accepted")
        return str(path)


def _core(item: Declaration) -> tuple[Any, ...]:
    return item.kind, item.params, item.type, item.value, item.group, item.constructors


def _renamed(item: Declaration, new: Callable[[Name], Name], rename: Callable[[int], int]) -> Declaration:
    return msgspec.structs.replace(
        item,
        name=new(item.name),
        type=rename(item.type),
        value=None if item.value is None else rename(item.value),
        group=tuple(new(name) for name in item.group),
        constructors=tuple(new(name) for name in item.constructors),
    )
