"""The judges that run: one per library that holds nothing else, one per episode in which something is going on."""

from typing import cast

import anyio
import anyio.abc
import msgspec
import structlog

from bus.errors import BadProblem, LeanUnavailable

from .judge import Judge, start_judge
from .lean.core_library import CoreLibrary
from .lean.toolchain import Toolchain
from .world import World

IDLE_S = 300.0
"""A judge that nobody asks for so long ends; the next question starts another."""

_log = structlog.get_logger()


class _Running(msgspec.Struct, kw_only=True):
    judge: Judge
    told: int = 0
    """How many units of its world it holds."""


class Judges:
    """Starts a judge when an episode needs one, and again when it died.

    A library is replayed once: the judges of episodes split from the one that holds it and nothing else.
    """

    def __init__(self, toolchain: Toolchain, tasks: anyio.abc.TaskGroup) -> None:
        self._toolchain = toolchain
        self._tasks = tasks
        self._running: dict[str, _Running] = {}
        self._libraries: dict[str, Judge] = {}
        self._starting = anyio.Lock()

    def prepare(self, core: CoreLibrary) -> None:
        """Replay a library in the background: a judge is needed soon."""
        if core.id not in self._libraries:
            self._tasks.start_soon(self._prepare, core)

    async def _prepare(self, core: CoreLibrary) -> None:
        try:
            await self._library_judge(core)
        except (LeanUnavailable, BadProblem) as error:
            _log.warning("judge_unavailable", reason=error.message)  # who needs it will be told

    async def get(self, world: World) -> Judge:
        """Return a living judge that holds everything published in `world`.

        Raises:
            LeanUnavailable: it does not start.
        """
        episode = world.problem.episode
        found = self._running.get(episode)
        if found is None or not found.judge.is_alive:
            async with world.opening:
                found = self._running.get(episode)
                if found is None or not found.judge.is_alive:
                    found = self._running[episode] = await self._start(world)
        # What was published while it was starting.
        units = world.units()
        for unit in units[found.told :]:
            await found.judge.hold(world.holding(unit))
        found.told = len(units)
        return found.judge

    def release(self, episode: str) -> None:
        """End the judge of an episode; the next question starts another."""
        found = self._running.pop(episode, None)
        if found is not None:
            found.judge.kill()

    async def _start(self, world: World) -> _Running:
        # The judge outlives the call that needs it first, so a task of the store hosts it.
        judge: Judge = await self._tasks.start(self._host, world, await self._library_judge(world.core))
        _log.info("judge_started", episode=world.problem.episode, lemmas=len(judge.held), pid=judge.pid)
        return _Running(judge=judge)

    async def _host(self, world: World, library: Judge, *, task_status: anyio.abc.TaskStatus[Judge]) -> None:
        async with library.split() as judge:
            await judge.begin(world.problem_admission())
            for unit in world.closure(list(world.lemma_ids.values())):
                await judge.begin(world.admission(unit))
            task_status.started(judge)
            asked = -1
            while judge.is_alive and (judge.is_busy or judge.asked > asked):
                asked = judge.asked
                with anyio.move_on_after(IDLE_S):
                    await judge.ended.wait()

    async def _library_judge(self, core: CoreLibrary) -> Judge:
        async with self._starting:
            library = self._libraries.get(core.id)
            if library is None or not library.is_alive:
                library = self._libraries[core.id] = cast(Judge, await self._tasks.start(self._host_library, core))
            return library

    async def _host_library(self, core: CoreLibrary, *, task_status: anyio.abc.TaskStatus[Judge]) -> None:
        async with start_judge(self._toolchain, core) as judge:
            task_status.started(judge)
            await judge.ended.wait()
