"""What an evolution on real teams is made of: versions on disk, the pointer in the store, the laboratory."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from adapter_server.bundle import default_bundle_folder, read_bundle
from adapter_server.champion import Champion, open_champions
from adapter_server.data_folder import DataFolder
from adapter_server.evolver.budget import remaining
from adapter_server.evolver.campaign import fate_of
from adapter_server.evolver.context import remove_context, write_context
from adapter_server.evolver.events import Reference
from adapter_server.evolver.evidence import evidence_pack
from adapter_server.evolver.gate_result import GateResult
from adapter_server.evolver.leakage import LeakGuard, leak_guard
from adapter_server.evolver.patch import Patch, edited
from adapter_server.evolver.plan import SPLIT_OF
from adapter_server.evolver.proposing import ProposalContext
from adapter_server.evolver.state import State
from adapter_server.evolver.static_gates import StaticRules, static_gates
from adapter_server.evolver.traces import traces_in
from adapter_server.settings import Settings
from adapter_server.staging import read_files, stage_files
from adapter_server.tools.listing import tool_listing
from bus.records import EpisodeRecord, Task
from scenarios.lean.laboratory import Laboratory, LaboratorySettings, open_laboratory
from scenarios.lean.problem_files import load_problem


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where an evolution keeps its things, inside a data folder."""

    data: DataFolder

    @property
    def folder(self) -> Path:
        """All of it."""
        return self.data.path / "evolver"

    @property
    def ledger(self) -> Path:
        """What happened."""
        return self.folder / "ledger.jsonl"

    @property
    def laboratory(self) -> Path:
        """What episodes left."""
        return self.folder / "laboratory"

    @property
    def report(self) -> Path:
        """The page for people."""
        return self.folder / "report.html"


class StoredPointer:
    """The pointer of the data folder. The store is opened for each question, so that a daemon can start meanwhile."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def champion(self) -> Reference:
        """Return the version in use."""
        async with open_champions(self._settings) as champions:
            return _reference(await champions.champion())

    async def promote(self, *, expected: Reference, bundle: str) -> Reference:
        """Put a version in use instead of the expected one."""
        before = Champion(bundle=expected.bundle, epoch=expected.epoch)
        async with open_champions(self._settings) as champions:
            return _reference(await champions.promote(expected=before, bundle=bundle))

    async def roll_back(self, *, to: str) -> Reference:
        """Put an earlier version in use again."""
        async with open_champions(self._settings) as champions:
            return _reference(await champions.roll_back(to=to))

    async def restore(self, champion: Reference) -> None:
        """Put back a pointer that the store has lost."""
        async with open_champions(self._settings) as champions:
            await champions.restore(Champion(bundle=champion.bundle, epoch=champion.epoch))


class StoredVersions:
    """Versions in the data folder, and what proposers are told about them."""

    def __init__(self, places: Places, tasks: Sequence[Task]) -> None:
        self._places = places
        self._rules = StaticRules(
            listing=tool_listing,
            widest=read_bundle(read_files(default_bundle_folder())).tools,
            leaks=_leaks(tasks),
        )

    def files(self, bundle: str) -> Mapping[str, bytes]:
        """The files of a version."""
        return read_files(self._places.data.adapters / bundle)

    def stage(self, files: Mapping[str, bytes]) -> str:
        """Keep a version; its id."""
        return stage_files(files, self._places.data.adapters).id

    def changed(self, files: Mapping[str, bytes], patch: Patch) -> Mapping[str, bytes]:
        """The files with the change."""
        return edited(files, patch)

    def static_gates(self, files: Mapping[str, bytes], patch: Patch) -> list[GateResult]:
        """G0 to G2."""
        return static_gates(files, patch, self._rules)

    def context(self, state: State) -> ProposalContext:
        """A folder with what a proposer may know: episodes on search tasks, and fates."""
        folder = self._places.folder / "contexts" / f"round-{state.rounds}"
        if folder.exists():
            remove_context(folder)
        left = {str(unit): amount for unit, amount in remaining(state).items()}
        return write_context(
            folder,
            self.files(state.champion.bundle),
            evidence=evidence_pack(search_records(state), traces_in(self._places.laboratory / "episodes")),
            fates=[fate_of(state, proposal) for proposal in state.proposals.values() if proposal.fate != "open"],
            remaining=left,
            round_=state.rounds,
            seed=state.started.plan.seed,
        )


def search_records(state: State) -> list[EpisodeRecord]:
    """Episodes that proposers may see."""
    measured = [
        record
        for comparison in state.comparisons.values()
        if SPLIT_OF[comparison.opened.stage] == "search"
        for arms in comparison.records.values()
        for record in arms.values()
    ]
    return [*measured, *state.searches]


@asynccontextmanager
async def laboratory_of(places: Places, state: State, *, is_alone: bool = False) -> AsyncGenerator[Laboratory]:
    """The laboratory that the campaign was set up with; with agents that work by themselves where that is asked for."""
    settings = msgspec.convert(state.started.laboratory, LaboratorySettings)
    folder = places.laboratory
    if is_alone:
        settings, folder = msgspec.structs.replace(settings, mode="isolated"), folder / "alone"
    async with open_laboratory(folder, adapters=places.data.adapters, settings=settings) as laboratory:
        yield laboratory


def _leaks(tasks: Sequence[Task]) -> LeakGuard:
    statements: list[tuple[str, str]] = []
    names: list[str] = []
    for task in tasks:
        problem = load_problem(task.path)
        statement = problem.source.rpartition(f"theorem {problem.theorem}")[2].rpartition(":=")[0]
        statements.append((task.id, statement.strip().removeprefix(":").strip()))
        names += [task.id, problem.theorem]
    return leak_guard(statements, names=names)


def _reference(champion: Champion) -> Reference:
    return Reference(bundle=champion.bundle, epoch=champion.epoch)
