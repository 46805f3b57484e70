"""The daemon's end of the socket to the fork server."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
import msgspec
import structlog

from bus.errors import LeanUnavailable

from . import bubblewrap
from .jobs import HEADER_BYTES, Cancel, Job, JobReport, Request, decode_report, encode, frame, frame_size
from .sandbox import SandboxReport
from .toolchain import Toolchain

_START_SECONDS = 60
"""As long as the store has: on a machine that is too busy a server starts late instead of not at all."""

_STOP_SECONDS = 10
_HINT = "`adapter-server doctor` says what is missing"

_log = structlog.get_logger()


class ForkLink:
    """One fork server process and the jobs that run in it."""

    def __init__(self, stream: anyio.abc.ByteStream, *, process: anyio.abc.Process) -> None:
        self._stream = stream
        self._process = process
        self._received = bytearray()
        self._sending = anyio.Lock()
        self._waiting: dict[int, anyio.Event] = {}
        self._reports: dict[int, JobReport] = {}
        self.is_alive = True
        self._is_stopping = False

    @property
    def pid(self) -> int:
        """Process id of the fork server."""
        return self._process.pid

    async def read_reports(self) -> None:
        """Hand reports to those who wait until the process ends; then everyone who waits gets `crashed`."""
        try:
            while True:
                report = decode_report(await self._next_frame())
                self._settle(report)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            if not self._is_stopping:
                _log.warning("fork_server_lost", pid=self.pid, running=len(self._waiting))
        finally:
            self.is_alive = False
            for job in list(self._waiting):
                self._settle(JobReport(id=job, outcome="crashed", reason="the fork server ended"))

    async def ask(self, job: Job) -> JobReport:
        """Run a job. Cancelling kills its child, and returns when it is dead."""
        done = self._waiting[job.id] = anyio.Event()
        try:
            await self._send(job)
            await done.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(_STOP_SECONDS, shield=True):
                await self._send(Cancel(id=job.id))
                await done.wait()
            raise
        finally:
            self._waiting.pop(job.id, None)
            report = self._reports.pop(job.id, None)
        return report or JobReport(id=job.id, outcome="crashed", reason="the fork server ended")

    async def stop(self) -> None:
        """End the process and everything it started."""
        self._is_stopping = True
        with anyio.CancelScope(shield=True):
            await self._stream.aclose()
            with anyio.move_on_after(_STOP_SECONDS):
                await self._process.wait()
            if self._process.returncode is None:
                self._process.kill()
                await self._process.wait()

    async def greet(self) -> SandboxReport:
        """Wait until Lean is loaded; return which layers of the sandbox hold. Raises LeanUnavailable."""
        try:
            with anyio.fail_after(_START_SECONDS):
                greeting = msgspec.msgpack.decode(await self._next_frame(), type=SandboxReport | str)
        except (anyio.EndOfStream, anyio.BrokenResourceError, TimeoutError) as error:
            raise LeanUnavailable("the process that loads Lean did not start", hint=_HINT) from error
        if isinstance(greeting, str):
            raise LeanUnavailable(f"Lean could not be loaded: {greeting}", hint=_HINT)
        return greeting

    def _settle(self, report: JobReport) -> None:
        if event := self._waiting.get(report.id):
            self._reports[report.id] = report
            event.set()

    async def _send(self, request: Request) -> None:
        # A frame that is cut off would shift all that follow, so a send is never cancelled.
        with anyio.CancelScope(shield=True):
            async with self._sending:
                try:
                    await self._stream.send(frame(encode(request)))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    self._settle(JobReport(id=request.id, outcome="crashed", reason="the fork server ended"))

    async def _next_frame(self) -> bytes:
        end = HEADER_BYTES + frame_size(await self._peek(HEADER_BYTES))
        payload = bytes((await self._peek(end))[HEADER_BYTES:])
        del self._received[:end]
        return payload

    async def _peek(self, size: int) -> bytes:
        while len(self._received) < size:
            self._received += await self._stream.receive(1 << 18)
        return bytes(self._received[:size])


async def start_fork_server(
    toolchain: Toolchain, *, scratch: Path, readable: Sequence[Path] = (), is_wrapped: bool = True
) -> tuple[ForkLink, SandboxReport]:
    """Start a fork server and wait until it is ready. Raises LeanUnavailable.

    With `is_wrapped`, bubblewrap is put around it where that works; then it sees only the folders `readable` and what
    it needs itself.
    """
    unwrapped = await anyio.to_thread.run_sync(bubblewrap.missing) if is_wrapped else "not asked for"
    ours, theirs = socket.socketpair()
    with theirs:
        descriptor = theirs.fileno()
        command = [
            *(sys.executable, "-I", "-W", "ignore", "-m", "lemma_store.lean.forkserver"),
            *(str(toolchain.library), str(scratch), str(descriptor)),
        ]
        if not unwrapped:
            command = bubblewrap.wrapped(command, scratch=scratch, readable=[toolchain.library.parent, *readable])
        process = await anyio.open_process(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None,
            env={name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"},
            start_new_session=True,
            pass_fds=(descriptor,),
        )
    link = ForkLink(await anyio.abc.UNIXSocketStream.from_socket(ours), process=process)
    async with AsyncExitStack() as unless_ready:
        unless_ready.push_async_callback(link.stop)
        report = (await link.greet()).with_layer("bubblewrap", missing=unwrapped)
        unless_ready.pop_all()
    _log.info("fork_server_started", pid=link.pid)
    return link, report
