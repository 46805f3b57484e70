"""Ask the judge: one process that holds accepted terms, spoken to in frames."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import anyio
import anyio.abc
import msgspec
import structlog
from anyio.abc import SocketAttribute

from bus.errors import BadProblem, LeanUnavailable
from bus.tasks import background_tasks

from .lean.core_library import CoreLibrary
from .lean.jobs import frame, take_frame
from .lean.toolchain import Toolchain
from .policy import COMPUTED
from .tasks import LEMMA_PREFIX, Admit, Answer, Ask, Hold, LookUp, Split, Start, Task

_answers = msgspec.msgpack.Decoder(Answer)
_asks = msgspec.msgpack.Encoder()
COMMAND = (sys.executable, "-P", "-m", "lemma_store.judge_process")
_log = structlog.get_logger()
_GRACE_S = 10
_START_MS, _START_MS_PER_MB = 120_000, 3_000
"""For a replay at the start: it takes about a second a megabyte where nothing else runs."""
_FASTER = 10
"""How many times faster Lean imports, at least."""
_CHUNK_BYTES = 1 << 18


class _Wait(msgspec.Struct, kw_only=True):
    done: anyio.Event
    answer: Answer | None = None


class Judge:
    """A live judge process. Questions may overlap; what it holds takes effect in order."""

    def __init__(self, stream: anyio.abc.UNIXSocketStream) -> None:
        self._stream = stream
        self._ids = count(1)
        self._waits: dict[int, _Wait] = {}
        self._admissions: dict[int, str] = {}
        self.held: set[str] = set()
        """Modules of agents' work that it holds."""
        self._writing = anyio.Lock()
        self.asked = 0
        """How many questions there were."""
        self.ended = anyio.Event()
        """Set when the process gives no more answers."""
        self.pid = 0
        """Process id."""
        self._handle = -1
        self.names: tuple[str, ...] = ()
        """Constants of the last module it started with that a person would write."""
        self.axioms: frozenset[str] = frozenset()
        """Axioms that the last module it started with rests on."""
        self.declarations = 0
        """How many declarations its kernel accepted at the start."""

    @property
    def is_alive(self) -> bool:
        """Whether it still answers, as far as is known."""
        return not self.ended.is_set()

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._waits)

    async def ask(self, task: Task, *, limit_ms: int = 30_000, sockets: Sequence[int] = ()) -> Answer:
        """Return the judge's answer; a judge that is dead or dies answers `undecided`."""
        if not self.is_alive:
            return Answer(id=0, status="undecided", reason="the judge's process ended; the next call starts another")
        self.asked += 1
        number, wait = next(self._ids), _Wait(done=anyio.Event())
        self._waits[number] = wait
        try:
            await self._send(Ask(id=number, task=task, limit_ms=limit_ms), sockets)
            with anyio.move_on_after(limit_ms / 1000 + _GRACE_S):
                await wait.done.wait()
        finally:
            del self._waits[number]
        return wait.answer or Answer(id=number, status="undecided", reason="the judge's process gave no answer")

    async def _send(self, ask: Ask, sockets: Sequence[int] = ()) -> None:
        data = frame(_asks.encode(ask))
        # A frame that is cut off would shift all that follow, so a send is never cancelled.
        with anyio.CancelScope(shield=True):
            async with self._writing:
                try:
                    await (self._stream.send_fds(data, sockets) if sockets else self._stream.send(data))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    self._lose()

    async def hold(self, unit: Hold) -> None:
        """Hold an accepted unit from now on: before every later question, and without waiting until it is done.

        A judge that cannot hold what a judge accepted is broken: it ends, and the next one replays everything.
        """
        if unit.module in self.held:
            return
        self.held.add(unit.module)
        number = next(self._ids)
        self._admissions[number] = unit.module
        await self._send(Ask(id=number, task=unit))

    async def look_up(self, name: str) -> Answer:
        """Return what the kernel holds under `name`, or a refusal."""
        return await self.ask(LookUp(name=name))

    async def refuse_free_names(self) -> None:
        """Return when what it holds declares everything that the kernel computes by name.

        Raises:
            BadProblem: a text could declare such a name, and the kernel would believe it to be the usual function.
        """
        for name in COMPUTED:
            if (await self.look_up(name)).status != "done":
                hint = "import all of the toolchain's core: Init, or MiniCore"
                reason = f"the imports leave the name {name} free, which the kernel computes specially"
                raise BadProblem(reason, hint=hint)

    async def begin(self, task: Start | Admit) -> None:
        """Hold modules before it is used.

        Raises:
            LeanUnavailable: it did not start, or the kernel refuses one of the modules.
        """
        paths = [task.path] if isinstance(task, Admit) else [path for _, paths in task.modules for path in paths]
        size = sum([(await anyio.Path(path).stat()).st_size for path in paths])
        size += task.library_bytes // _FASTER if isinstance(task, Start) else 0
        answer = await self.ask(task, limit_ms=_START_MS + (size >> 20) * _START_MS_PER_MB)
        if answer.status != "done":
            raise LeanUnavailable(f"the judge did not start: {answer.reason}")
        modules = [task.module] if isinstance(task, Admit) else [name for name, _ in task.modules]
        self.held.update(name for name in modules if name.startswith(LEMMA_PREFIX))
        self.names, self.axioms = tuple(answer.names), frozenset(answer.axioms)
        self.declarations = answer.declarations

    @asynccontextmanager
    async def split(self) -> AsyncGenerator["Judge"]:
        """Run another judge that holds what this one holds, and lives as long as the block.

        Raises:
            LeanUnavailable: there can be no other now.
        """
        ours, theirs = socket.socketpair()
        async with _spoken_to(ours) as other:
            with theirs:
                answer = await self.ask(Split(), sockets=[theirs.fileno()])
            if answer.status != "done":
                raise LeanUnavailable(f"the judge did not split: {answer.reason}")
            other.watch(answer.process)
            yield other

    def watch(self, process: int) -> None:
        """Take note of the process that answers, so that it can be ended."""
        self.pid = process
        with contextlib.suppress(ProcessLookupError):  # it is dead already
            self._handle = os.pidfd_open(process)

    def kill(self) -> None:
        """End the process, and with it its forks."""
        if self._handle >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def close(self) -> None:
        """End the process, and hear no more of it."""
        self.kill()
        with contextlib.suppress(OSError):  # the other end is gone already
            self._stream.extra(SocketAttribute.raw_socket).shutdown(socket.SHUT_RDWR)  # noqa: S610 - no query
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    async def read_answers(self) -> None:
        """Deliver answers until the process ends; run it in a task of the owner, who ends it by `close`."""
        pending = bytearray()
        # Not by cancelling: a wait for a socket that is cancelled just when data comes in fails.
        with anyio.CancelScope(shield=True):
            try:
                while True:
                    pending += await self._stream.receive(_CHUNK_BYTES)
                    while (data := take_frame(pending)) is not None:
                        self._deliver(_answers.decode(data))
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass
            finally:
                self._lose()

    def _lose(self) -> None:
        self.ended.set()
        for wait in self._waits.values():
            wait.done.set()

    def _deliver(self, answer: Answer) -> None:
        module = self._admissions.pop(answer.id, None)
        if module is not None and answer.status != "done":
            _log.error("judge_broken", module=module, reason=answer.reason)
            self.kill()
        wait = self._waits.get(answer.id)
        if wait is not None:
            wait.answer = answer
            wait.done.set()


@asynccontextmanager
async def _spoken_to(end: socket.socket) -> AsyncGenerator[Judge]:
    stream = await anyio.abc.UNIXSocketStream.from_socket(end)
    judge = Judge(stream)
    async with stream, background_tasks() as tasks:
        tasks.start_soon(judge.read_answers)
        try:
            yield judge
        finally:
            judge.close()


@asynccontextmanager
async def start_judge(
    toolchain: Toolchain, core: CoreLibrary, more: Sequence[tuple[str, Path]] = ()
) -> AsyncGenerator[Judge]:
    """Run a judge that has replayed `core` and `more` — `(name, path)` in dependency order — from an empty environment.

    A library too large for that is imported by Lean instead.

    Raises:
        LeanUnavailable: it did not start, or the kernel refuses one of the modules.
        BadProblem: the library leaves names free which the kernel computes specially.
    """
    ours, theirs = socket.socketpair()
    async with _spoken_to(ours) as judge:
        with theirs:
            process = await anyio.open_process(
                (*COMMAND, str(theirs.fileno())),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None,
                pass_fds=(theirs.fileno(),),
            )
        async with process:
            judge.watch(process.pid)
            try:
                await judge.begin(
                    Start(
                        library=str(toolchain.library),
                        version=toolchain.version,
                        modules=[
                            *((name, tuple(map(str, paths))) for name, paths in core.replayed),
                            *((name, (str(path),)) for name, path in more),
                        ],
                        imports=core.imports,
                        library_path=":".join(core.lean_path) if core.imported_bytes else "",
                        library_bytes=core.imported_bytes,
                    )
                )
                await judge.refuse_free_names()
                yield judge
            finally:
                # Its forks die with it; it may be dead already.
                judge.kill()
