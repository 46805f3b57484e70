"""A suite: every problem of a list is an episode of its own, run one after the other or a few at a time."""

import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread
import msgspec

from bus.errors import AdapterError, ConnectionLost, InfraPause
from bus.records import EpisodeRecord, Task
from clients.nursery import open_nursery

from .measured_episode import EpisodePlan, Station, may_pass, measured
from .runner import first_error
from .server_process import own_server
from .signals import until_signal
from .suite_folder import SuiteFolder, SuiteOrder, slug
from .team import has_tacticians

EPISODES_PER_SERVER = 20
"""Then the server and all that it keeps are thrown away, so that neither disk nor memory grows with the suite."""

LOST_SERVERS = 3
"""So many servers may be lost one after the other without one finished episode."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """An episode of a suite."""

    order: SuiteOrder
    folder: SuiteFolder
    task: Task

    @property
    def label(self) -> str:
        """How people tell it from the others."""
        return f"{self.task.id} {self.order.arm}".strip()

    @property
    def is_done(self) -> bool:
        """Whether its record is there."""
        return self.folder.record_file(self.task.id).exists()


class SuiteViewer(Protocol):
    """Whoever wants to see a suite while it goes on."""

    def begin(self, total: int, done: Sequence[EpisodeRecord]) -> None:
        """So many episodes there are, these are done already."""
        ...

    def starts(self, label: str) -> None:
        """An episode begins."""
        ...

    def ends(self, label: str, record: EpisodeRecord) -> None:
        """An episode has ended and is on disk."""
        ...


async def run_suite(order: SuiteOrder, folder: SuiteFolder, *, viewer: SuiteViewer) -> bool:
    """Run what is not done yet; see `run_jobs`."""
    jobs = [Job(order=order, folder=folder, task=task) for task in order.tasks]
    return await run_jobs(jobs, work=folder.work, viewer=viewer)


async def run_jobs(jobs: Sequence[Job], *, work: Path, viewer: SuiteViewer) -> bool:
    """Run what is not done yet, in this order; all jobs have the same version, project and number at a time.

    SIGINT and SIGTERM end it; an episode that was under way begins anew when it is resumed.

    Returns:
        Whether all is done.

    Raises:
        InfraPause: servers are lost again and again.
        ServiceError: no server can be started.
    """
    viewer.begin(len(jobs), [job.folder.record(job.task.id) for job in jobs if job.is_done])
    is_complete = False
    failure: AdapterError | None = None
    try:
        left = [job for job in jobs if not job.is_done]
        is_complete = await until_signal(partial(_run_all, left, work, viewer)) is not None
    except* AdapterError as group:
        failure = first_error(group)
    if failure is not None:
        raise failure  # the server's log stays
    shutil.rmtree(work, ignore_errors=True)
    return is_complete


async def _run_all(jobs: Sequence[Job], work: Path, viewer: SuiteViewer) -> bool:
    lost = 0
    left = list(jobs)
    while left:
        batch = left[:EPISODES_PER_SERVER]
        try:
            await _run_batch(batch, work, viewer)
        except* ConnectionLost as group:
            lost += 1
            if lost >= LOST_SERVERS:
                raise InfraPause(f"{lost} servers were lost one after the other: {group.exceptions[0]}") from group
        lost = 0 if any(job.is_done for job in batch) else lost
        left = [job for job in left if not job.is_done]
    return True


async def _run_batch(batch: Sequence[Job], work: Path, viewer: SuiteViewer) -> None:
    waiting = list(reversed(batch))
    first = batch[0].order
    async with station(work, team=first.team, adapter=first.adapter, project=first.project) as place:

        async def take_turns() -> None:
            while waiting:
                job = waiting.pop()
                viewer.starts(job.label)
                name = slug(job.label.replace(" ", "__"))
                kept = job.folder.kept(job.task.id)
                record = await measured(_plan(job.order, job.task), place, name=name, kept=kept)
                if may_pass(record):
                    record = await measured(_plan(job.order, job.task), place, name=f"{name}__again", kept=kept)
                job.folder.save_record(record)
                viewer.ends(job.label, record)

        async with anyio.create_task_group() as tasks:
            for _ in range(first.jobs):
                tasks.start_soon(take_turns)


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
async def station(work: Path, *, team: str, adapter: str = "", project: str = "") -> AsyncGenerator[Station]:
    """What episodes of a team need, inside the block; what the folder held before is removed."""
    await anyio.to_thread.run_sync(_empty, work)
    data = work / "server"
    given = {"--adapter": adapter, "--project": project}
    options = tuple(word for option, value in given.items() if value for word in (option, value))
    async with (
        open_nursery(work / "nursery.log", at_once=has_tacticians(team)) as nursery,
        own_server(data, log=work / "server.log", options=options) as server,
    ):
        token_file = data / "operator.token"
        yield Station(server=server, token_file=token_file, work=work / "runs", nursery=nursery)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
