"""A suite: every problem of a list is an episode of its own, run one after the other or a few at a time."""

import shutil
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from bus.errors import ConnectionLost, InfraPause
from bus.records import EpisodeRecord, Task

from .measured_episode import EpisodePlan, Station, measured
from .server_process import own_server
from .suite_folder import SuiteFolder, SuiteOrder, slug

EPISODES_PER_SERVER = 20
"""Then the server and all that it keeps are thrown away, so that neither disk nor memory grows with the suite."""

LOST_SERVERS = 3
"""So many servers may be lost one after the other without one finished episode."""


class SuiteViewer(Protocol):
    """Whoever wants to see a suite while it goes on."""

    def begin(self, total: int, done: Sequence[EpisodeRecord]) -> None:
        """So many episodes there are, these are done already."""
        ...

    def starts(self, task: Task) -> None:
        """An episode begins."""
        ...

    def ends(self, record: EpisodeRecord) -> None:
        """An episode has ended and is on disk."""
        ...


async def run_suite(order: SuiteOrder, folder: SuiteFolder, *, viewer: SuiteViewer) -> bool:
    """Run what is not done yet. SIGINT and SIGTERM end it; what was under way begins anew when it is resumed.

    Returns:
        Whether all is done.

    Raises:
        InfraPause: servers are lost again and again.
        ServiceError: no server can be started.
    """
    done = folder.records(order.tasks)
    viewer.begin(len(order.tasks), list(done.values()))
    todo = [task for task in order.tasks if task.id not in done]
    is_complete = False
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with anyio.create_task_group() as tasks:

                async def wait_for_signal() -> None:
                    async for _ in signals:
                        tasks.cancel_scope.cancel()

                tasks.start_soon(wait_for_signal)
                await _run_all(order, folder, todo, viewer)
                is_complete = True
                tasks.cancel_scope.cancel()
    finally:
        folder.clear_work()
    return is_complete


async def _run_all(order: SuiteOrder, folder: SuiteFolder, todo: Sequence[Task], viewer: SuiteViewer) -> None:
    lost = 0
    left = list(todo)
    while left:
        batch = left[:EPISODES_PER_SERVER]
        try:
            await _run_batch(order, folder, batch, viewer)
        except* ConnectionLost as group:
            lost += 1
            if lost >= LOST_SERVERS:
                raise InfraPause(f"{lost} servers were lost one after the other: {group.exceptions[0]}") from group
        done = folder.records(batch)
        lost = 0 if done else lost
        left = [task for task in left if task.id not in done]


async def _run_batch(order: SuiteOrder, folder: SuiteFolder, batch: Sequence[Task], viewer: SuiteViewer) -> None:
    waiting = list(reversed(batch))
    async with station(folder.work, adapter=order.adapter) as place:

        async def work() -> None:
            while waiting:
                task = waiting.pop()
                viewer.starts(task)
                record = await measured(_plan(order, task), place, name=slug(task.id), kept=folder.kept(task.id))
                folder.save_record(record)
                viewer.ends(record)

        async with anyio.create_task_group() as tasks:
            for _ in range(order.jobs):
                tasks.start_soon(work)


def _plan(order: SuiteOrder, task: Task) -> EpisodePlan:
    return EpisodePlan(
        task=task,
        team=order.team,
        caps=order.caps,
        seed=order.seed,
        mode=order.mode,
        roles=order.roles,
        hosting=order.hosting,
    )


@asynccontextmanager
async def station(work: Path, *, adapter: str = "") -> AsyncGenerator[Station]:
    """A server and room for episodes inside the block; what the folder held before is removed."""
    await anyio.to_thread.run_sync(_empty, work)
    data = work / "server"
    options = ("--adapter", adapter) if adapter else ()
    async with own_server(data, log=work / "server.log", options=options) as server:
        yield Station(server=server, token_file=data / "operator.token", work=work / "runs")


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
