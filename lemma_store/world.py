"""One episode's share of the store: its folder, its trusted problem, its judge, and its lemmas by name."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import anyio
import msgspec

from bus.errors import UnknownId

from .lean.core_library import CoreLibrary
from .lean.toolchain import Toolchain
from .likeness import Likeness
from .policy import POLICY_ID
from .repeats import Repeats
from .tasks import LEMMA_PREFIX, Admit, Hold
from .types import Lemma, Problem

PROBLEM_MODULE = "Problem"


class World:
    """What the judge and the checks of one episode need. Only the store makes and closes worlds."""

    def __init__(self, folder: Path, *, core: CoreLibrary, toolchain: Toolchain, problem: Problem) -> None:
        self.folder = folder
        self.problem = problem
        self.core = core
        self.toolchain = toolchain
        self.publishing = anyio.Lock()
        self.opening = anyio.Lock()
        """Held while a judge starts."""
        self.repeats = Repeats()
        self._by_id: dict[str, Lemma] = {}
        self._likeness = Likeness()
        self._by_name: dict[str, Lemma] = {}
        self._by_hash: dict[str, Lemma] = {}
        self._by_order_free_hash: dict[str, Lemma] = {}
        self._by_last: dict[str, Lemma] = {}
        self.revoked: dict[str, str] = {}
        """Content id of what was taken back → why."""
        self.lemma_ids: dict[str, str] = {}
        """Stored name → content id of every published unit, definitions included."""

    @property
    def modules(self) -> Path:
        """Folder of compiled modules, on Lean's search path."""
        return self.folder / "modules"

    @property
    def stamp(self) -> str:
        """Toolchain, library, problem and policy, as they enter content ids."""
        problem = hashlib.sha256(self.problem.source.encode()).hexdigest()[:16]
        return f"{self.toolchain.id} {self.core.id} {problem} {POLICY_ID}"

    @property
    def lean_path(self) -> tuple[str, ...]:
        """Search path of a check."""
        return *self.core.lean_path, str(self.modules)

    @property
    def problem_module(self) -> tuple[str, Path]:
        """Name and file of the module that the operator vouches for besides the library."""
        return PROBLEM_MODULE, self.modules / f"{PROBLEM_MODULE}.olean"

    def problem_admission(self) -> Admit:
        """Return the problem's module as a judge takes it."""
        module, path = self.problem_module
        return Admit(module=module, path=str(path))

    def admission(self, unit: Lemma) -> Admit:
        """Return a unit's module as a judge takes it."""
        return Admit(module=f"{LEMMA_PREFIX}{unit.id}", path=str(self.module_path(unit.id)), names=unit.names)

    def holding(self, unit: Lemma) -> Hold:
        """Return a unit's module as a judge takes it that may wait until something needs it."""
        admission = self.admission(unit)
        return Hold(module=admission.module, path=admission.path, names=admission.names)

    def module_path(self, lemma_id: str) -> Path:
        """Return where the module of a published unit lies."""
        return self.modules / "L" / f"{lemma_id}.olean"

    def remember(self, lemma: Lemma) -> None:
        """Index a published unit. Definitions are indexed by name only."""
        if lemma.statement.hash and lemma.id not in self._by_id:
            self._likeness.add(lemma)
        self._by_id[lemma.id] = lemma
        for name in lemma.names:
            self.lemma_ids[name] = lemma.id
            self._by_name[name] = lemma
            self._by_last[name.rpartition(".")[2]] = lemma
        if lemma.statement.hash:
            self._by_hash.setdefault(lemma.statement.hash, lemma)
            self._by_order_free_hash.setdefault(lemma.statement.order_free_hash, lemma)

    def like(self, text: str, *, limit: int) -> list[Lemma]:
        """Return the lemmas that are most like a text."""
        return self._likeness.like(text, limit=limit)

    def may_close(self, goal: str, *, limit: int) -> list[Lemma]:
        """Return the lemmas that are worth trying on a goal, best first."""
        return self._likeness.may_close(goal, limit=limit)

    def forget(self, reasons: Mapping[str, str]) -> None:
        """Take units out of the index, for good."""
        self.revoked.update(reasons)
        left = [unit for unit in self._by_id.values() if unit.id not in reasons]
        same = (self._by_hash, self._by_order_free_hash)
        for index in (self._by_id, self._by_name, *same, self._by_last, self.lemma_ids):
            index.clear()
        self._likeness = Likeness()
        for unit in left:
            self.remember(unit)

    def units(self) -> list[Lemma]:
        """Return lemmas and definitions, oldest first."""
        return list(self._by_id.values())

    def lemmas(self) -> list[Lemma]:
        """Return the lemmas, oldest first."""
        return [lemma for lemma in self._by_id.values() if lemma.statement.hash]

    def published(self, unit_id: str) -> Lemma | None:
        """Return the unit with this content id, if there is one."""
        return self._by_id.get(unit_id)

    def same(self, statement_hash: str) -> Lemma | None:
        """Return the first lemma with this statement."""
        return self._by_hash.get(statement_hash)

    def reordered(self, order_free_hash: str) -> Lemma | None:
        """Return the first lemma whose statement differs at most in the order of independent hypotheses."""
        return self._by_order_free_hash.get(order_free_hash) if order_free_hash else None

    def unit(self, lemma_id: str) -> Lemma:
        """Return a published unit by its id."""
        return self._by_id[lemma_id]

    def lemma(self, key: str) -> Lemma:
        """Return a lemma by id, unique id prefix of 8 digits or more, or stored name.

        Raises:
            UnknownId: there is none; names the three nearest.
        """
        found = self._by_id.get(key) or self._by_name.get(key)
        if found is None and len(key) >= 8:
            matches = [lemma for ident, lemma in self._by_id.items() if ident.startswith(key)]
            found = matches[0] if len(matches) == 1 else None
        if found is None:
            import difflib

            nearest = difflib.get_close_matches(key, list(self._by_name), n=3, cutoff=0.3)
            raise UnknownId(f"no lemma {key!r}", hint="`find` lists lemmas", nearest=nearest)
        return found

    def mentioned(self, words: Iterable[str]) -> list[Lemma]:
        """Return the published units whose stored names, or their last components, occur among `words`."""
        found = [self._by_last.get(word) for word in sorted(words)]
        return list({unit.id: unit for unit in found if unit is not None}.values())

    def closure(self, ids: Iterable[str]) -> list[Lemma]:
        """Return units and all that they rest on, dependencies first."""
        order: dict[str, Lemma] = {}
        stack = [(ident, False) for ident in ids]
        while stack:
            ident, is_ready = stack.pop()
            if ident in order:
                continue
            unit = self._by_id[ident]
            if is_ready:
                order[ident] = unit
            else:
                stack.append((ident, True))
                stack.extend((below, False) for below in unit.uses)
        return list(order.values())


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is either there whole, and on disk, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(data)
    move_in(draft, path)


def move_in(draft: Path, path: Path) -> None:
    """Move a written file of the same file system to where it is either whole, and on disk, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _sync(draft)
    draft.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_problem(folder: Path) -> Problem | None:
    """Return the problem of an episode folder, or None when it holds none."""
    path = folder / "problem.json"
    return msgspec.json.decode(path.read_bytes(), type=Problem) if path.exists() else None
