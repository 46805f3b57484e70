"""Ask the judge: one process that holds accepted terms, spoken to in frames."""

import contextlib
import struct
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path

import anyio
import anyio.abc
import msgspec
import structlog

from bus.errors import LeanUnavailable
from bus.tasks import background_tasks

from .description import LEMMA_PREFIX
from .judge_process import Admit, Answer, Ask, LookUp, Start, Task, frame
from .lean.toolchain import Toolchain

_answers = msgspec.msgpack.Decoder(Answer)
_asks = msgspec.msgpack.Encoder()
COMMAND = (sys.executable, "-P", "-m", "lemma_store.judge_process")
_log = structlog.get_logger()
_GRACE_S = 10
_START_S = 60


class _Wait(msgspec.Struct, kw_only=True):
    done: anyio.Event
    answer: Answer | None = None


class Judge:
    """A live judge process. Questions may overlap; what it holds takes effect in order."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process
        self._ids = count(1)
        self._waits: dict[int, _Wait] = {}
        self._admissions: dict[int, str] = {}
        self.held: set[str] = set()
        """Modules of agents' work that it holds."""
        self._writing = anyio.Lock()
        self.is_alive = True
        self.names: tuple[str, ...] = ()
        """Constants of the last module it started with that a person would write."""
        self.axioms: frozenset[str] = frozenset()
        """Axioms that the last module it started with rests on."""
        self.declarations = 0
        """How many declarations its kernel accepted at the start."""

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    async def ask(self, task: Task, *, limit_ms: int = 30_000) -> Answer:
        """Return the judge's answer; a judge that is dead or dies answers `undecided`."""
        if not self.is_alive:
            return Answer(id=0, status="undecided", reason="the judge's process ended; the next call starts another")
        number, wait = next(self._ids), _Wait(done=anyio.Event())
        self._waits[number] = wait
        try:
            await self._send(Ask(id=number, task=task, limit_ms=limit_ms))
            with anyio.move_on_after(limit_ms / 1000 + _GRACE_S):
                await wait.done.wait()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.is_alive = False
        finally:
            del self._waits[number]
        return wait.answer or Answer(id=number, status="undecided", reason="the judge's process gave no answer")

    async def _send(self, ask: Ask) -> None:
        async with self._writing:
            assert self._process.stdin is not None
            await self._process.stdin.send(frame(_asks.encode(ask)))

    async def hold(self, module: str, path: Path) -> None:
        """Hold an accepted module from now on: before every later question, and without waiting until it is done.

        A judge that cannot hold what a judge accepted is broken: it is ended, and the next one replays everything.
        """
        if module in self.held:
            return
        self.held.add(module)
        number = next(self._ids)
        self._admissions[number] = module
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._send(Ask(id=number, task=Admit(module=module, path=str(path))))

    async def look_up(self, name: str) -> Answer:
        """Return what the kernel holds under `name`, or a refusal."""
        return await self.ask(LookUp(name=name))

    async def read_answers(self) -> None:
        """Deliver answers until the process ends; run it in a task of the owner."""
        assert self._process.stdout is not None
        pending = bytearray()
        try:
            async for data in self._process.stdout:
                pending += data
                self._deliver(pending)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            self.is_alive = False
            for wait in self._waits.values():
                wait.done.set()

    def _deliver(self, pending: bytearray) -> None:
        while len(pending) >= 4:
            (size,) = struct.unpack_from("<I", pending)
            if len(pending) < 4 + size:
                return
            answer = _answers.decode(pending[4 : 4 + size])
            del pending[: 4 + size]
            module = self._admissions.pop(answer.id, None)
            if module is not None and answer.status != "done":
                _log.error("judge_broken", module=module, reason=answer.reason)
                self._process.kill()
            wait = self._waits.get(answer.id)
            if wait is not None:
                wait.answer = answer
                wait.done.set()


@asynccontextmanager
async def start_judge(toolchain: Toolchain, modules: Sequence[tuple[str, Path]]) -> AsyncGenerator[Judge]:
    """Run a judge that has replayed `modules` — `(name, path)` in dependency order — from an empty environment.

    Raises:
        LeanUnavailable: it did not start, or the kernel refuses one of the modules.
    """
    async with await anyio.open_process(COMMAND, stderr=None) as process:
        try:
            judge = Judge(process)
            async with background_tasks() as tasks:
                tasks.start_soon(judge.read_answers)
                start = Start(
                    library=str(toolchain.library),
                    version=toolchain.version,
                    modules=[(name, str(path)) for name, path in modules],
                )
                answer = await judge.ask(start, limit_ms=_START_S * 1000)
                if answer.status != "done":
                    raise LeanUnavailable(f"the judge did not start: {answer.reason}")
                judge.held = {name for name, _ in modules if name.startswith(LEMMA_PREFIX)}
                judge.names, judge.axioms = tuple(answer.names), frozenset(answer.axioms)
                judge.declarations = answer.declarations
                yield judge
        finally:
            # Its forks die with it; it may be dead already.
            with suppress(ProcessLookupError):
                process.kill()
