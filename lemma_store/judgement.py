"""Steps 3 to 8 of the pipeline for one artifact, inside a process made for it: read, compare, close, replay, write.

The process that runs this forked from one that holds accepted terms only, and ends with the answer.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from .declarations import Declaration, Kind, Module
from .description import described
from .harvest import Harvest, Unit, content_id, content_name, public, rename_with, renaming
from .lean.core_library import LIBRARY
from .lean.kernel import KernelLimit
from .lean.olean import read_module
from .policy import is_allowed_extension
from .refusals import Refused
from .session import Session, in_dependency_order
from .tasks import LEMMA_PREFIX, Artifact, Composition, Judged, Question
from .terms import APP, CONST, PI, Name, dotted, undotted


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
    own = {name for name in session.terms.constants(declaration.type) if name not in session.known}
    if own:
        raise Refused(f"the statement needs {dotted(min(own, key=repr))}; define it in the problem or avoid `match`")
    return described(session, declaration, name=task.theorem)


def judge_composition(session: Session, task: Composition) -> Judged:
    """Build, check and write the theorem `glue child₁ … childₙ`.

    Raises:
        Refused: the parts do not fit, or the kernel refuses the result.
    """
    terms = session.terms
    for name in (task.glue, *task.children):
        session.find(undotted(name))  # the kernel must have it
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
        path="", imports=(), theorems=(task.name,), definitions=(), world=task.world, folder=task.folder
    )  # fmt: skip
    return _Bench(session, artifact, {theorem.name: theorem}).judge()[0]


def _read(session: Session, path: str, imports: tuple[str, ...]) -> dict[Name, Declaration]:
    module = read_module(Path(path).read_bytes(), session.terms, version=session.version)
    refuse_imports(module, imports)
    session.take_in(imports)
    if foreign := [name for name in module.extensions if not is_allowed_extension(name)]:
        raise Refused(f"the text extends Lean itself ({foreign[0]})")
    refuse_taken(module, session)
    return module.declarations


def refuse_imports(module: Module, imports: tuple[str, ...]) -> None:
    """Refuse a module that imports other modules than these."""
    if tuple(dotted(name) for name in module.imports) != imports:
        raise Refused("the artifact imports other modules than the server wrote into its header")


def refuse_taken(module: Module, session: Session) -> None:
    """Refuse a module that declares what the session knows already."""
    if taken := [name for name in module.declarations if session.find(name)]:
        raise Refused(f"{dotted(taken[0])} is a name of the library, the problem or a lemma")


class _Bench:
    """Judges the units of one artifact in the order of their dependencies."""

    def __init__(self, session: Session, task: Artifact, declarations: dict[Name, Declaration]) -> None:
        self._session = session
        self._task = task
        self._declarations = declarations
        self._harvest = Harvest(
            declarations,
            theorems=task.theorems,
            definitions=task.definitions,
            known=session.known,
            terms=session.terms,
        )
        self._new_names: dict[Name, Name] = {}
        self._members: set[Name] = set()
        """Constants of the artifact that are in the store by now, as parts of what they belong to."""
        self._found: dict[Name, Judged] = {}
        self._above: list[Name] = []

    def judge(self) -> list[Judged]:
        for name in self._harvest.units:
            self._judge(name)
        return list(self._found.values())

    def _judge(self, name: Name) -> bool:
        """Judge one unit and what it needs first; return whether it was accepted."""
        if name in self._found:
            return self._found[name].outcome == "accepted"
        self._above.append(name)
        try:
            judged = self._admit(self._harvest.collect(name, self._refers))
        except Refused as refusal:
            judged = self._failed(name, "rejected", refusal.reason)
        except KernelLimit as limit:
            judged = self._failed(name, "undecided", str(limit))
        self._above.pop()
        self._found[name] = judged
        return judged.outcome == "accepted"

    def _failed(self, name: Name, outcome: str, reason: str) -> Judged:
        is_theorem = self._harvest.is_theorem(name)
        return Judged(name=dotted(public(name)), outcome=outcome, reasons=(reason,), is_theorem=is_theorem)

    def _refers(self, owner: Name, below: Name) -> bool:
        """Return whether `below` is part of what the unit `owner` is, once that is accepted."""
        if owner in self._above:
            if below in self._harvest.units[owner]:
                raise Refused(f"{dotted(public(owner))} and {dotted(public(self._above[-1]))} need each other")
            return False  # what Lean made for one of two mutual definitions travels with both
        if not self._judge(owner):
            if self._found[owner].outcome == "undecided":
                raise KernelLimit(f"{dotted(public(owner))} could not be decided")
            raise Refused(f"it uses {dotted(public(owner))}, which was not accepted")
        # Not for extras: another text may have published the unit without this one.
        return below in self._members

    def _admit(self, unit: Unit) -> Judged:
        session = self._session
        self._refuse_axioms(unit)
        others = {name: rename_with(self._new_names, name) for name in unit.uses}
        uses = {dotted(self._new_names[name]) for name in unit.uses.values()} | self._lemmas_in(unit)
        content = content_id(
            unit, others, {session.unit_ids[use] for use in uses}, session.terms, world=self._task.world
        )
        new = self._stored_names(unit, content)
        existing = new is not None
        if new is None:
            new = {head: content_name(head, content, self._is_taken) for head in unit.heads}
        renamed = self._rename(unit, renaming(unit, new, others))
        if not existing:
            session.replay(renamed, module=f"{LEMMA_PREFIX}{content}")
        self._new_names.update(new)
        self._members |= unit.members.keys()
        session.name_unit(content, tuple(dotted(name) for name in new.values()))
        return described(
            session,
            session.known[new[unit.name]].declaration,
            name=dotted(public(unit.name)),
            names={dotted(public(head)): dotted(name) for head, name in new.items()},
            is_theorem=unit.is_theorem,
            id=content,
            stored_name=dotted(new[unit.name]),
            uses=tuple(sorted(uses)),
            axioms=tuple(sorted(session.known[new[unit.name]].axioms)),
            module="" if existing else self._write(unit, renamed, content, uses),
        )

    def _stored_names(self, unit: Unit, content: str) -> dict[Name, Name] | None:
        """Return the names under which the session has this very unit, or None when it does not."""
        stored = self._session.unit_names.get(content)
        if not stored:
            return None
        self._session.take_in([f"{LEMMA_PREFIX}{content}"])
        return dict(zip(unit.heads, map(undotted, stored), strict=True))

    def _is_taken(self, name: Name) -> bool:
        return self._session.find(name) is not None

    def _refuse_axioms(self, unit: Unit) -> None:
        own = [item.text for item in unit.members.values() if item.kind is Kind.AXIOM]
        if own:
            raise Refused(f"it rests on the axiom {own[0]} of the text itself")
        if bad := self._session.forbidden(self._session.axioms_of(unit.known)):
            raise Refused("it uses sorry" if bad == ["sorryAx"] else f"it rests on forbidden axioms: {', '.join(bad)}")

    def _lemmas_in(self, unit: Unit) -> set[str]:
        modules = {self._session.known[name].module for name in unit.known}
        found = (self._session.unit_names.get(module.removeprefix(LEMMA_PREFIX)) for module in modules)
        return {names[0] for names in found if names}

    def _rename(self, unit: Unit, names: dict[Name, Name]) -> dict[Name, Declaration]:
        memo: dict[int, int] = {}
        renamed = [
            _renamed(item, names, lambda term: self._session.terms.rename(term, names, memo))
            for item in (*unit.members.values(), *unit.extras.values())
        ]
        found = {item.name: item for item in renamed}
        if len(found) != len(renamed):
            raise Refused(f"two constants of {dotted(unit.name)} would get one name")
        return found

    def _write(self, unit: Unit, renamed: dict[Name, Declaration], content: str, uses: set[str]) -> str:
        session = self._session
        path = Path(self._task.folder) / f"{content}.olean"
        origins = {session.known[name].module for name in unit.known}
        modules = origins - {LIBRARY} | {f"{LEMMA_PREFIX}{session.unit_ids[use]}" for use in uses}
        imports = [undotted(module) for module in (*session.imports, *sorted(modules))]
        order = [item.name for item in in_dependency_order(renamed, session.terms)]
        session.kernel.write_module(path, imports=imports, names=order)
        # The bytes that are published are read back: they must hold the very terms that the kernel accepted.
        written = read_module(path.read_bytes(), session.terms, version=session.version)
        if {name: _core(item) for name, item in written.declarations.items()} != {
            name: _core(item) for name, item in renamed.items()
        }:
            raise OSError("the written module differs from what the kernel accepted")
        return str(path)


def _core(item: Declaration) -> tuple[Any, ...]:
    return item.kind, item.params, item.type, item.value, item.group, item.constructors


def _renamed(item: Declaration, names: Mapping[Name, Name], rename: Callable[[int], int]) -> Declaration:
    def new(name: Name) -> Name:
        return names.get(name, name)

    return msgspec.structs.replace(
        item,
        name=new(item.name),
        type=rename(item.type),
        value=None if item.value is None else rename(item.value),
        group=tuple(new(name) for name in item.group),
        constructors=tuple(new(name) for name in item.constructors),
    )
