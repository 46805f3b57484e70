"""Elaborate Lean files, each in a pristine process of its own."""

import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, cast

import anyio
import msgspec

from bus.errors import BadArguments, LeanUnavailable, NoSandbox, QueueFull

from .forklink import ForkLink, start_fork_server
from .jobs import Job, JobReport, Limits
from .messages import LeanMessage, parse_messages
from .sandbox import SandboxReport
from .toolchain import Toolchain, cache_folder

ElaborationOutcome = Literal["finished", "timeout", "memory", "crashed", "flooded"]

_NO_SANDBOX_HINT = (
    "use Linux 5.13 or newer, or allow user namespaces; --unsafe-no-sandbox lets checked text read and write your files"
)
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9.]*=[A-Za-z0-9]+")
_LEAN_FOUND_ERRORS = 1


class Elaboration(msgspec.Struct, frozen=True, kw_only=True):
    """A Lean file to elaborate, header included."""

    source: bytes
    lean_path: tuple[str, ...]
    """Folders of compiled modules; nothing else of the file system can be read."""
    module: str = "Check"
    """Name of the module that the file becomes. It is inside private names, so a module that is kept needs its own."""
    wants_artifact: bool = False
    heartbeats: int = 4_000
    """Lean's deterministic clock, in thousands as its option counts."""
    wall_ms: int = 20_000
    options: tuple[str, ...] = ()
    """Lean options as `name=value`, for example `autoImplicit=false`."""


class Elaborated(msgspec.Struct, frozen=True, kw_only=True):
    """How an elaboration ended. Only `finished` says anything about the file; the other outcomes are limits."""

    outcome: ElaborationOutcome
    exit_code: int | None
    """0 or 1 as Lean says when finished; otherwise None or minus the signal."""
    messages: tuple[LeanMessage, ...]
    artifact: bytes | None
    """The compiled module, untrusted; Lean writes none for a file with errors."""
    wall_ms: float
    cpu_ms: float
    is_truncated: bool
    """Some output was dropped."""
    reason: str = ""
    """For people: what was exceeded, or what was printed that is no message."""
    peak_bytes: int = 0


class ForkServer:
    """A process in which Lean is loaded, forked once for each elaboration.

    Use as an async context manager. When the process dies, what ran in it answers `crashed`, and the next elaboration
    starts a new one. When this process dies, the fork server and everything below it die too.
    """

    def __init__(
        self, toolchain: Toolchain, *, scratch: Path, readable: Sequence[Path] = (), workers: int = 2,
        queue: int = 1_000, unsafe: bool = False, is_wrapped: bool = True,
    ) -> None:  # fmt: skip
        """Take a toolchain and its surroundings.

        With `is_wrapped`, bubblewrap is put around it where that works; it hides compiled modules that lie neither in
        the cache nor in `readable`.
        """
        self.toolchain = toolchain
        self.workers = workers
        self._scratch = scratch
        self._readable = (cache_folder(), *readable)
        self._is_wrapped = is_wrapped
        self._queue = queue
        self._is_unsafe = unsafe
        self.sandbox: SandboxReport
        self._ids = count(1)
        self._slots = anyio.CapacityLimiter(workers)
        self._starting = anyio.Lock()
        self._tasks = anyio.create_task_group()
        self._link: ForkLink | None = None
        self._is_closed = False

    async def __aenter__(self) -> Self:
        for folder in (self._scratch, *self._readable):
            await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
        async with AsyncExitStack() as unless_ready:
            await self._tasks.__aenter__()
            unless_ready.push_async_exit(self)
            await self._living_link()
            if not (self.sandbox.is_sufficient or self._is_unsafe):
                raise NoSandbox("this machine offers neither Landlock nor namespaces", hint=_NO_SANDBOX_HINT)
            unless_ready.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closed = True
        if self._link:
            await self._link.stop()
        # The task group must not wrap an error that is not its own.
        await self._tasks.__aexit__(None, None, None)

    @property
    def pid(self) -> int | None:
        """Process id of the fork server while it lives."""
        return self._link.pid if self._link and self._link.is_alive else None

    async def run(self, elaboration: Elaboration, /) -> Elaborated:
        """Elaborate a file as soon as a worker is free, first come first served; cancelling kills its process.

        Raises QueueFull when too many wait already, and LeanUnavailable when Lean cannot be started.
        """
        if self._slots.statistics().tasks_waiting >= self._queue:
            raise QueueFull(f"{self._queue} elaborations wait already", hint="try again in a few seconds")
        job = self._job(elaboration)
        async with self._slots:
            link = await self._living_link()
            return _elaborated(await link.ask(job))

    def _job(self, elaboration: Elaboration) -> Job:
        if not _MODULE.fullmatch(elaboration.module):
            raise BadArguments(f"{elaboration.module!r} is no module name")
        for option in elaboration.options:
            if not _OPTION.fullmatch(option):
                raise BadArguments(f"{option!r} is no option")
        return Job(
            id=next(self._ids),
            module=elaboration.module,
            source=elaboration.source,
            lean_path=elaboration.lean_path,
            options=(f"maxHeartbeats={elaboration.heartbeats}", *elaboration.options),
            wants_artifact=elaboration.wants_artifact,
            limits=Limits(wall_ms=elaboration.wall_ms, cpu_s=elaboration.wall_ms // 1000 + 5),
            confinement=self.sandbox.confinement,
        )

    async def _living_link(self) -> ForkLink:
        async with self._starting:
            if self._link and self._link.is_alive:
                return self._link
            if self._is_closed:
                raise LeanUnavailable("the fork server was closed")
            if self._link:
                await self._link.stop()
            self._link, self.sandbox = await start_fork_server(
                self.toolchain, scratch=self._scratch, readable=self._readable, is_wrapped=self._is_wrapped
            )
            self._tasks.start_soon(self._link.read_reports)
            return self._link


def _elaborated(report: JobReport) -> Elaborated:
    messages, rest = parse_messages(report.output)
    return Elaborated(
        outcome=cast(ElaborationOutcome, _outcome(report, messages=messages, rest=rest)),
        exit_code=report.exit_code,
        messages=messages,
        artifact=report.artifact,
        wall_ms=report.wall_ms,
        cpu_ms=report.cpu_ms,
        is_truncated=report.is_truncated,
        reason=report.reason or rest[:2000],
        peak_bytes=report.peak_bytes,
    )


def _outcome(report: JobReport, *, messages: tuple[LeanMessage, ...], rest: str) -> str:
    """Tell a verdict of Lean from its own accidents, which also end with an ordinary exit code."""
    if report.outcome != "finished" or report.exit_code == 0:
        return report.outcome
    if "out of memory" in rest:
        return "memory"
    has_errors = any(message.severity == "error" for message in messages)
    return "finished" if report.exit_code == _LEAN_FOUND_ERRORS and has_errors else "crashed"
