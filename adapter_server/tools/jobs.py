"""Checks that may outlive their calls: run by the daemon, followed by id, kept in memory for a while."""

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Literal

import anyio
import anyio.abc
import structlog

from bus.errors import AdapterError, Gone, QueueFull, UnknownId

from .caller import Caller
from .reply import ToolReply

RUNNING_PER_AGENT = 8
FINISHED_PER_EPISODE = 200
WAIT_MAX_S = 44.0
"""Whatever an adapter version allows: a call has to be answered within its deadline."""

_ID = re.compile(r"j[0-9a-f]{8}")

JobState = Literal["running", "done", "failed", "cancelled"]

log = structlog.get_logger()


class Job:
    """One check."""

    def __init__(self, agent: str, key: str) -> None:
        self.id = f"j{token_hex(4)}"
        self.agent = agent
        self.key = key
        self.scope = anyio.CancelScope()
        self.is_over = anyio.Event()
        self.reply: ToolReply | None = None
        self.error: Exception | None = None
        self.is_detached = False
        """Whether the call that began it has been answered already, so that its end is news."""

    @property
    def state(self) -> JobState:
        """How it stands."""
        if not self.is_over.is_set():
            return "running"
        if self.reply is not None:
            return "done"
        return "failed" if self.error is not None else "cancelled"

    @property
    def known_as(self) -> str | None:
        """Its id once its author was told of it."""
        return self.id if self.is_detached else None


Work = Callable[[Job], Awaitable[ToolReply]]


class Jobs:
    """Jobs of all episodes. After a restart of the server none is left; the lemmas they proved are in the store."""

    def __init__(self, tasks: anyio.abc.TaskGroup, *, on_change: Callable[[str], None]) -> None:
        self._tasks = tasks
        self._on_change = on_change
        self._jobs: dict[str, OrderedDict[str, Job]] = {}

    def start(self, caller: Caller, key: str, work: Work) -> Job:
        """Begin `work` in the background; the same of the same agent while it runs is one job.

        Raises:
            QueueFull: the agent has too many jobs already.
        """
        jobs = self._jobs.setdefault(caller.episode, OrderedDict())
        running = [job for job in jobs.values() if job.agent == caller.agent and job.state == "running"]
        for job in running:
            if job.key == key:
                return job
        if len(running) >= RUNNING_PER_AGENT:
            raise QueueFull(f"{len(running)} checks of yours are running", hint="Follow them with job, or cancel one.")
        finished = [job.id for job in jobs.values() if job.state != "running"]
        for name in finished[: max(len(finished) - FINISHED_PER_EPISODE, 0)]:
            del jobs[name]
        job = Job(caller.agent, key)
        jobs[job.id] = job
        self._tasks.start_soon(self._run, caller.episode, job, work, name=f"job {job.id}")
        return job

    def job(self, caller: Caller, id: str) -> Job:  # noqa: A002 - the field's name on the wire
        """Find a job of the caller's episode.

        Raises:
            Gone: it was forgotten, or another run of the server had it.
            UnknownId: that is no job's id.
        """
        jobs = self._jobs.get(caller.episode, OrderedDict[str, Job]())
        if id not in jobs:
            if _ID.fullmatch(id):
                raise Gone(
                    f"job {id} is not known any more: the server has restarted, or it is long over",
                    hint="What it proved is stored: digest and find show it. For its verdicts check again.",
                    replacement=None,
                )
            own = [name for name, job in jobs.items() if job.agent == caller.agent]
            raise UnknownId(f"there is no job {id}", nearest=own[-3:])
        return jobs[id]

    async def result(self, job: Job, *, wait_s: float) -> ToolReply | None:
        """Wait for the end of a job: its reply; None when it goes on or was cancelled.

        Raises:
            Exception: what the work raised.
        """
        with anyio.move_on_after(min(wait_s, WAIT_MAX_S)):
            await job.is_over.wait()
        if not job.is_over.is_set():
            job.is_detached = True
        if job.error is not None:
            raise job.error
        return job.reply

    async def _run(self, episode: str, job: Job, work: Work) -> None:
        try:
            with job.scope:
                job.reply = await work(job)
        except AdapterError as error:
            job.error = error
        except Exception as error:
            # A defect in one check must not end the daemon under all others; who follows the job meets the error.
            job.error = error
            log.exception("job_failed", episode=episode, job=job.id)
        finally:
            job.is_over.set()
            self._on_change(episode)
