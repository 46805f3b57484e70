"""The judge's process: holds a `Session` of accepted terms and forks once for each judgement.

Spoken to over its standard input and output in frames: four bytes of length, then msgpack. A judgement that crashes,
hangs or grows too large takes down its own fork only and is answered `undecided`.
"""

import contextlib
import gc
import os
import re
import resource
import selectors
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from .declarations import Module
from .description import describe
from .judgement import judge_artifact, judge_composition, judge_statement
from .lean.kernel import KernelLimit
from .lean.libc import die_with_parent
from .refusals import Refused
from .session import Session
from .tasks import Artifact, Composition, Judged, Question
from .terms import dotted

_AUXILIARY = re.compile(
    r"(^|\.)_|(^|\.)(match|eq|proof)_\d|\.(rec|recOn|casesOn|brecOn|below|ibelow|noConfusion\w*|ctorIdx|ctorElim\w*|elim"
    r"|toCtorIdx|inj|injEq|sizeOf_spec|eq_def|induct\w*|fun_cases\w*|splitter|binductionOn|go)(\.|$)|^inst"
)
_STACK_BYTES = 120 << 20
_ADDRESS_SPACE_BYTES = 12 << 30
_FORK_BYTES = 3 << 30
"""What one judgement may allocate on top of what its parent holds."""
_RECURSION = 20_000


class Start(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """First frame: the kernel's library and the modules to hold from the beginning."""

    library: str
    version: str
    modules: list[tuple[str, str]]
    """`(module name, path)` in dependency order."""


class Admit(msgspec.Struct, frozen=True, kw_only=True, tag="admit"):
    """Hold an accepted or trusted module from now on."""

    module: str
    path: str


class LookUp(msgspec.Struct, frozen=True, kw_only=True, tag="look_up"):
    """What does the kernel hold under a name?"""

    name: str


Task = LookUp | Start | Admit | Artifact | Question | Composition


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One question."""

    id: int
    task: Task
    limit_ms: int = 30_000


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to the question of the same id."""

    id: int
    status: str
    """`done`, `refused` (the candidate's fault) or `undecided` (a limit or a broken part)."""

    reason: str = ""
    judged: list[Judged] = []
    declarations: int = 0
    """How many declarations the kernel holds."""

    names: list[str] = []
    """Constants of the last admitted module that a person would write."""

    axioms: list[str] = []
    """Axioms that the last admitted module rests on."""


_asks = msgspec.msgpack.Decoder(Ask)
_answers = msgspec.msgpack.Encoder()


def frame(data: bytes) -> bytes:
    """Return `data` with its length in front."""
    return struct.pack("<I", len(data)) + data


class _Fork(msgspec.Struct, kw_only=True):
    ask: Ask
    pid: int
    deadline: float
    received: bytearray


class JudgeProcess:
    """The serving loop. One thread; forks do the judging."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._forks: dict[int, _Fork] = {}
        self._pending = bytearray()
        self._session: Session | None = None

    def serve(self) -> None:
        """Answer until standard input ends; then kill what still runs."""
        self._selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select(self._patience()):
                if key.fd == 0 and not self._hear():
                    return self._end()
                if key.fd != 0:
                    self._collect(key.fd)
            self._enforce()

    def _patience(self) -> float | None:
        deadlines = [fork.deadline for fork in self._forks.values()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _hear(self) -> bool:
        data = os.read(0, 1 << 20)
        self._pending += data
        while len(self._pending) >= 4:
            (size,) = struct.unpack_from("<I", self._pending)
            if len(self._pending) < 4 + size:
                break
            ask = _asks.decode(self._pending[4 : 4 + size])
            del self._pending[: 4 + size]
            self._handle(ask)
        return bool(data)

    def _handle(self, ask: Ask) -> None:
        if isinstance(ask.task, LookUp):
            name = ask.task.name
            self._answer(_guarded(ask, lambda: Answer(id=ask.id, status="done", judged=[describe(self._held(), name)])))
        elif isinstance(ask.task, Start | Admit):
            self._answer(_guarded(ask, lambda: self._extend(ask)))
        else:
            self._fork(ask)

    def _extend(self, ask: Ask) -> Answer:
        if isinstance(ask.task, Start):
            self._session = Session(Path(ask.task.library), version=ask.task.version)
            modules = ask.task.modules
        else:
            assert isinstance(ask.task, Admit)
            modules = [(ask.task.module, ask.task.path)]
        session = self._held()
        last: Module | None = None
        for module, path in modules:
            last = session.admit(Path(path).read_bytes(), module=module)
        gc.collect()
        gc.freeze()
        names = [name for name, item in last.declarations.items() if item.is_safe] if last else []
        return Answer(
            id=ask.id,
            status="done",
            declarations=session.kernel.accepted,
            names=[dotted(name) for name in names if not _AUXILIARY.search(dotted(name))],
            axioms=sorted(session.axioms_of(names)),
        )

    def _held(self) -> Session:
        if self._session is None:
            raise RuntimeError("the judge was asked before it was started")
        return self._session

    def _fork(self, ask: Ask) -> None:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _judge_in_fork(self._held(), ask, writing)
        os.close(writing)
        self._forks[reading] = _Fork(
            ask=ask, pid=pid, deadline=time.monotonic() + ask.limit_ms / 1000, received=bytearray()
        )
        self._selector.register(reading, selectors.EVENT_READ)

    def _collect(self, fd: int) -> None:
        fork = self._forks[fd]
        data = os.read(fd, 1 << 20)
        fork.received += data
        if data:
            return
        self._forget(fd)
        _, status = os.waitpid(fork.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            self._write(bytes(fork.received))
        else:
            self._answer(Answer(id=fork.ask.id, status="undecided", reason=f"the judge's process ended with {code}"))

    def _enforce(self) -> None:
        now = time.monotonic()
        for fd in [fd for fd, fork in self._forks.items() if fork.deadline <= now]:
            fork = self._forks[fd]
            os.kill(fork.pid, signal.SIGKILL)
            os.waitpid(fork.pid, 0)
            self._forget(fd)
            reason = f"judging took longer than {fork.ask.limit_ms} ms"
            self._answer(Answer(id=fork.ask.id, status="undecided", reason=reason))

    def _forget(self, fd: int) -> None:
        self._selector.unregister(fd)
        os.close(fd)
        del self._forks[fd]

    def _answer(self, answer: Answer) -> None:
        self._write(_answers.encode(answer))

    def _write(self, data: bytes) -> None:
        view = memoryview(frame(data))
        while view:
            view = view[os.write(1, view) :]

    def _end(self) -> None:
        for fork in self._forks.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(fork.pid, signal.SIGKILL)
            os.waitpid(fork.pid, 0)


def _judge_in_fork(session: Session, ask: Ask, writing: int) -> None:
    die_with_parent(signal.SIGKILL)
    gc.disable()
    _limit_memory()
    # What the runtime prints must not get between the answers.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    answer = _answers.encode(_guarded(ask, lambda: _judge(session, ask)))
    view = memoryview(answer)
    while view:
        view = view[os.write(writing, view) :]
    os._exit(0)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (min(pages * resource.getpagesize() + _FORK_BYTES, hard), hard))


def _judge(session: Session, ask: Ask) -> Answer:
    task = ask.task
    if isinstance(task, Artifact):
        judged = judge_artifact(session, task)
    elif isinstance(task, Question):
        judged = [judge_statement(session, task)]
    else:
        assert isinstance(task, Composition)
        judged = [judge_composition(session, task)]
    return Answer(id=ask.id, status="done", judged=judged, declarations=session.kernel.accepted)


def _guarded(ask: Ask, work: Any) -> Answer:
    try:
        return work()
    except Refused as refusal:
        return Answer(id=ask.id, status="refused", reason=refusal.reason)
    except (KernelLimit, OSError, MemoryError, RecursionError) as error:
        return Answer(id=ask.id, status="undecided", reason=str(error) or type(error).__name__)


def main() -> None:
    """Serve on standard input and output, no longer than the process that asks lives."""
    die_with_parent(signal.SIGKILL)  # a replay at the start would not notice that the input ended
    # Lean derives its stack guard from this limit when it initialises.
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = _STACK_BYTES if hard == resource.RLIM_INFINITY else min(_STACK_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE_BYTES, _ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.setrecursionlimit(_RECURSION)
    sys.set_int_max_str_digits(0)  # the reader bounds numbers
    JudgeProcess().serve()


if __name__ == "__main__":
    main()
