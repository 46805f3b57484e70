"""The judge's process: holds a `Session` of accepted terms and forks once for each judgement.

Spoken to over a socket in frames: four bytes of length, then msgpack. A judgement that crashes, hangs or grows too
large takes down its own fork only and is answered `undecided`. A judge can split: the other one, a fork too, holds the
same and goes its own way.
"""

import contextlib
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from math import inf
from pathlib import Path
from typing import NoReturn

import msgspec

from .declarations import Module
from .description import describe, is_auxiliary
from .judge_fork import Fork, close_question, fork_judge, give, guarded
from .judge_start import admit, limit_process, open_session
from .lean.footprint import Footprint
from .lean.jobs import frame, take_frame
from .lean.libc import die_with_parent
from .lean.pages import freeze, gather
from .session import Session
from .shelf import Held
from .tasks import LEMMA_PREFIX, Admit, Answer, Artifact, Ask, Hold, LookUp, Question, Split, Start
from .terms import dotted

_CHUNK_BYTES = 1 << 20
_MAX_SOCKETS = 4
_QUIET_S = 0.01
"""So long after an answer a fork is made for the next judgement; what was accepted comes in before that."""

_asks = msgspec.msgpack.Decoder(Ask)
_answers = msgspec.msgpack.Encoder()


class JudgeProcess:
    """The serving loop. One thread; forks do the judging."""

    def __init__(self, link: socket.socket, session: Session | None = None) -> None:
        self._link = link
        self._session = session
        self._selector = selectors.DefaultSelector()
        self._pending = bytearray()
        self._sockets: list[int] = []
        """Those that came with questions not yet handled."""
        self._forks: dict[int, Fork] = {}
        """By the descriptor that the answer comes from."""
        self._spare: Fork | None = None
        """Made for the next judgement; it holds all that this process holds."""
        self._spare_due = inf
        self._used: set[str] = set()
        """Modules that questions import, some of them perhaps only held: the next fork finds them taken in."""
        self._splits: dict[int, int] = {}
        """Handle → process id."""
        self._is_tidy = False
        self._footprint = Footprint()

    def serve(self) -> None:
        """Answer until the other end closes; then kill what still runs."""
        self._selector.register(self._link, selectors.EVENT_READ)
        with contextlib.suppress(ConnectionError):
            while self._turn():
                pass
        self._end()

    def _turn(self) -> bool:
        """Do what is due; return whether the other end is there."""
        is_open = True
        for key, _ in self._selector.select(self._patience()):
            if key.fd in self._forks:
                self._collect(key.fd)
            elif key.fd in self._splits:
                self._bury(key.fd)
            else:
                is_open = self._hear()
        self._enforce()
        self._prepare()
        return is_open

    def _patience(self) -> float | None:
        due = min([fork.deadline for fork in self._forks.values()], default=inf)
        due = due if self._spare else min(due, self._spare_due)
        return None if due == inf else max(0.0, due - time.monotonic())

    def _hear(self) -> bool:
        data, sockets, _, _ = socket.recv_fds(self._link, _CHUNK_BYTES, _MAX_SOCKETS)
        self._sockets += sockets
        self._pending += data
        while (found := take_frame(self._pending)) is not None:
            self._handle(_asks.decode(found))
        return bool(data)

    def _handle(self, ask: Ask) -> None:
        match ask.task:
            case LookUp(name=name):
                held = self._held()
                self._answer(guarded(ask, lambda: Answer(id=ask.id, status="done", judged=[describe(held, name)])))
            case Split():
                self._answer(guarded(ask, lambda: self._split(ask)))
            case Hold() as unit:
                self._answer(guarded(ask, lambda: self._hold(unit, ask.id)))
            case Start() | Admit() as task:
                self._answer(guarded(ask, lambda: self._extend(task, ask.id)))
            case _:
                self._give(ask)

    def _extend(self, task: Start | Admit, number: int) -> Answer:
        self._is_tidy = False
        self._drop_spare()
        if isinstance(task, Start):
            self._session = open_session(task)
        modules = [(task.module, (task.path,))] if isinstance(task, Admit) else task.modules
        session = self._held()
        last: Module | None = None
        for name, paths in modules:
            last = admit(session, name, paths)
        if isinstance(task, Admit) and task.names:
            session.name_unit(task.module.removeprefix(LEMMA_PREFIX), task.names)
        if isinstance(task, Start):
            session.kernel.fill_gaps()
            freeze()
            gather()  # once: those that split from this process share its pages
        names = [name for name, item in last.declarations.items() if item.is_safe] if last else []
        return Answer(
            id=number,
            status="done",
            declarations=session.kernel.accepted,
            names=[dotted(name) for name in names if not is_auxiliary(name)],
            axioms=sorted(session.axioms_of(names)),
        )

    def _hold(self, task: Hold, number: int) -> Answer:
        unit = Held(module=task.module, names=task.names, data=Path(task.path).read_bytes())
        self._held().hold(unit)
        if self._spare is not None:
            self._spare.unheard.append(unit)
        return Answer(id=number, status="done")

    def _held(self) -> Session:
        if self._session is None:
            raise RuntimeError("the judge was asked before it was started")
        return self._session

    def _split(self, ask: Ask) -> Answer:
        link = socket.socket(fileno=self._sockets.pop(0))
        self._tidy()
        with link:
            pid = os.fork()
            if pid == 0:
                self._serve_apart(link)
        handle = os.pidfd_open(pid)
        self._splits[handle] = pid
        self._selector.register(handle, selectors.EVENT_READ)
        return Answer(id=ask.id, status="done", process=pid)

    def _serve_apart(self, link: socket.socket) -> NoReturn:
        status = 1
        try:
            die_with_parent(signal.SIGKILL)
            for descriptor in self._foreign():
                os.close(descriptor)
            JudgeProcess(link, self._session).serve()
            status = 0
        except BaseException:  # noqa: BLE001 - a fork must not go on with its parent's work, whatever happens
            traceback.print_exc()
        finally:
            os._exit(status)

    def _bury(self, handle: int) -> None:
        self._selector.unregister(handle)
        os.close(handle)
        os.waitpid(self._splits.pop(handle), 0)

    def _foreign(self) -> list[int]:
        """The descriptors that a fork must not keep."""
        ends = [end for fork in self._forks.values() for end in (fork.question, fork.reply) if end >= 0]
        return [self._link.fileno(), self._selector.fileno(), *self._sockets, *self._splits, *ends]

    def _tidy(self) -> None:
        """Leave nothing for a fork's collector to touch."""
        if not self._is_tidy:
            freeze()
            self._is_tidy = True

    def _prepare(self) -> None:
        """Make a spare fork in a quiet moment."""
        if self._spare is None and self._spare_due <= time.monotonic():
            self._spare_due = inf
            with contextlib.suppress(OSError):
                self._spare = self._new_fork(is_spare=True)

    def _new_fork(self, *, is_spare: bool = False) -> Fork:
        self._tidy()
        if self._held().take_in(self._used):
            freeze()
        self._used.clear()
        is_studied = self._footprint.is_due()
        runs = self._footprint.runs if is_spare and not is_studied else ()
        fork = fork_judge(self._held(), foreign=self._foreign(), runs=runs, is_studied=is_studied)
        self._forks[fork.reply] = fork
        self._selector.register(fork.reply, selectors.EVENT_READ)
        return fork

    def _drop_spare(self) -> None:
        if self._spare is not None:
            close_question(self._spare)
        if self._spare is not None or self._spare_due < inf:
            self._spare_due = time.monotonic() + _QUIET_S
        self._spare = None

    def _give(self, ask: Ask) -> None:
        """Give a question to the spare fork, or to a new one."""
        if isinstance(ask.task, Artifact | Question):
            self._used.update(ask.task.imports)
        fork, self._spare, self._spare_due = self._spare, None, time.monotonic() + _QUIET_S
        try:
            fork = fork or self._new_fork()
            give(fork, ask)
        except OSError as error:
            self._answer(Answer(id=ask.id, status="undecided", reason=str(error)))
            if fork is not None:
                fork.is_answered = True

    def _collect(self, reply: int) -> None:
        fork = self._forks[reply]
        data = os.read(reply, _CHUNK_BYTES)
        fork.received += data
        if not fork.is_answered and (answer := take_frame(fork.received)) is not None:
            # Its end takes time.
            fork.is_answered = True
            self._link.sendall(frame(answer))
        if fork.is_answered and fork.is_studied and (pages := take_frame(fork.received)) is not None:
            self._footprint.learn(pages)
        if not data:
            self._forget(fork)

    def _forget(self, fork: Fork) -> None:
        self._selector.unregister(fork.reply)
        os.close(fork.reply)
        del self._forks[fork.reply]
        if fork.question >= 0:
            close_question(fork)
        if fork is self._spare:
            self._spare = None
        _, status = os.waitpid(fork.pid, 0)
        if fork.ask is not None and not fork.is_answered:
            code = os.waitstatus_to_exitcode(status)
            reason = f"the judge's process ended with {code}"
            self._answer(Answer(id=fork.ask.id, status="undecided", reason=reason))

    def _enforce(self) -> None:
        now = time.monotonic()
        for fork in [fork for fork in self._forks.values() if fork.deadline <= now]:
            fork.deadline = inf
            os.kill(fork.pid, signal.SIGKILL)
            if fork.ask is not None and not fork.is_answered:
                fork.is_answered = True
                reason = f"judging took longer than {fork.ask.limit_ms} ms"
                self._answer(Answer(id=fork.ask.id, status="undecided", reason=reason))

    def _answer(self, answer: Answer) -> None:
        self._link.sendall(frame(_answers.encode(answer)))

    def _end(self) -> None:
        for pid in (*(fork.pid for fork in self._forks.values()), *self._splits.values()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def main() -> None:
    """Serve on the socket whose descriptor is the last argument, no longer than the process that asks lives."""
    die_with_parent(signal.SIGKILL)  # a replay at the start would not notice that the other end closed
    limit_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    JudgeProcess(socket.socket(fileno=int(sys.argv[-1]))).serve()


if __name__ == "__main__":
    main()
