"""The judges that run: one per episode in which something is going on."""

from pathlib import Path

import anyio
import anyio.abc
import msgspec
import structlog

from .description import LEMMA_PREFIX
from .judge import Judge, start_judge
from .lean.toolchain import Toolchain
from .world import World

_log = structlog.get_logger()


class _Running(msgspec.Struct, frozen=True, kw_only=True):
    judge: Judge
    stop: anyio.Event
    """Set to end the judge."""


class Judges:
    """Starts a judge when an episode needs one, and again when it died."""

    def __init__(self, toolchain: Toolchain, tasks: anyio.abc.TaskGroup) -> None:
        self._toolchain = toolchain
        self._tasks = tasks
        self._running: dict[str, _Running] = {}

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
        for unit in world.units():
            # What was published while it was starting.
            await found.judge.hold(f"{LEMMA_PREFIX}{unit.id}", world.module_path(unit.id))
        return found.judge

    def release(self, episode: str) -> None:
        """End the judge of an episode; the next question starts another."""
        found = self._running.pop(episode, None)
        if found is not None:
            found.stop.set()

    async def _start(self, world: World) -> _Running:
        order = world.closure(list(world.lemma_ids.values()))
        modules = [
            *world.trusted(),
            *((f"{LEMMA_PREFIX}{unit.id}", world.module_path(unit.id)) for unit in order),
        ]
        stop = anyio.Event()
        # The judge outlives the call that needs it first, so a task of the store hosts it.
        judge: Judge = await self._tasks.start(self._host, modules, stop)
        _log.info("judge_started", episode=world.problem.episode, lemmas=len(order), pid=judge.pid)
        return _Running(judge=judge, stop=stop)

    async def _host(
        self, modules: list[tuple[str, Path]], stop: anyio.Event, *, task_status: anyio.abc.TaskStatus[Judge]
    ) -> None:
        async with start_judge(self._toolchain, modules) as judge:
            task_status.started(judge)
            await stop.wait()
