"""Checks that may outlive their calls: run by the daemon, followed by id; what came of them is kept for the episode."""

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Literal

import anyio
import anyio.abc
import msgspec
import structlog

from blackboard.board import Board
from blackboard.jobs import JobRecord
from bus.errors import AdapterError, Gone, Internal, QueueFull, UnknownId, error_from_fields

from .caller import Caller
from .reply import Facts, ToolReply

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


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a job, as the board keeps it."""

    headline: str = ""
    facts: Facts = {}
    error: Facts | None = None


class Jobs:
    """Jobs of all episodes. After a restart none of them runs; what those that had ended came to is on the board."""

    def __init__(self, tasks: anyio.abc.TaskGroup, *, board: Board, on_change: Callable[[str], None]) -> None:
        self._tasks = tasks
        self._board = board
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

    def running(self, caller: Caller, id: str) -> Job | None:  # noqa: A002 - the field's name on the wire
        """Find a job of the caller's episode that this server began and still knows."""
        return self._jobs.get(caller.episode, OrderedDict[str, Job]()).get(id)

    async def earlier(self, caller: Caller, id: str) -> ToolReply:  # noqa: A002
        """What came of a job that another run of the server began; of one that was cut off, that it has to be repeated.

        Raises:
            Gone: it was forgotten, or ended before its author was told of it.
            UnknownId: that is no job's id.
            AdapterError: what the check failed with.
        """
        record = await self._board.job(caller.episode, id)
        if record is None:
            raise self._unknown(caller, id)
        if record.state == "running":
            return ToolReply(
                headline=f"{id} was cut off when the server stopped: check again. What it had proved by then is stored",
                facts={"job": id, "state": "interrupted", "check_again": True},
            )
        if record.state == "cancelled":
            return ToolReply(headline=f"{id} was cancelled", facts={"job": id, "state": record.state})
        answer = msgspec.json.decode(record.answer, type=_Answer)
        if answer.error is not None:
            raise error_from_fields(answer.error)
        return ToolReply(headline=answer.headline, facts={"job": id, "state": record.state} | answer.facts)

    def _unknown(self, caller: Caller, id: str) -> AdapterError:  # noqa: A002
        if _ID.fullmatch(id):
            hint = "What it proved is stored: digest and find show it. For its verdicts check again."
            return Gone(f"job {id} is not known any more", hint=hint, replacement=None)
        own = [
            name
            for name, job in self._jobs.get(caller.episode, OrderedDict[str, Job]()).items()
            if job.agent == caller.agent
        ]
        return UnknownId(f"there is no job {id}", nearest=own[-3:])

    async def result(self, caller: Caller, job: Job, *, wait_s: float) -> ToolReply | None:
        """Wait for the end of a job: its reply; None when it goes on or was cancelled.

        Raises:
            Exception: what the work raised.
        """
        with anyio.move_on_after(min(wait_s, WAIT_MAX_S)):
            await job.is_over.wait()
        if not job.is_over.is_set() and not job.is_detached:
            job.is_detached = True
            await self._board.record_job(caller.episode, JobRecord(id=job.id, agent=job.agent))
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
        if job.is_detached:
            await self._record(episode, job)

    async def _record(self, episode: str, job: Job) -> None:
        """Keep what came of it. Where that fails, a restart makes it one that was cut off, which is safe to believe."""
        state, error = job.state, None
        if job.error is not None:
            known = job.error if isinstance(job.error, AdapterError) else Internal("the server has a defect")
            error = known.to_fields()
        reply = job.reply or ToolReply(headline="")
        answer = _Answer(headline=reply.headline, facts=reply.facts, error=error)
        record = JobRecord(id=job.id, agent=job.agent, state=state, answer=msgspec.json.encode(answer).decode())
        try:
            await self._board.record_job(episode, record)
        except AdapterError as failure:
            log.warning("job_not_recorded", episode=episode, job=job.id, code=failure.code)
