"""The fork server: a process in which Lean is loaded once and forked for every check.

Started by the daemon as `python -I -m lemma_store.lean.forkserver LIBRARY SCRATCH SOCKET`. One thread, no state but the
running jobs and the guardians that wait for one. It ends when the daemon's end of the socket closes, and takes every
child with it.
"""

import contextlib
import ctypes
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

import msgspec

from . import libc
from .forkchild import guard
from .jobs import Cancel, Job, JobReport, Setting, decode_request, encode, frame, take_frame
from .pages import freeze, gather, gather_code
from .sandbox import SandboxReport, try_layers

_CHUNK_BYTES = 1 << 18
_QUIET_S = 0.005
"""So long without a word after a job has begun, a guardian is made for the next one."""
_MAX_SPARES, _KEEP_S = 4, 10.0
"""How many guardians may wait, each for jobs of one setting, and how long one is not replaced by another."""


class _Guardian(msgspec.Struct, kw_only=True, eq=False):
    pid: int
    setting: Setting
    born: float
    question: int
    """Descriptor that takes its job."""

    reply: int
    control: int
    job: int | None = None
    received: bytearray


class Server:
    """Gives every job that comes in to a guardian and sends back what it reports."""

    def __init__(self, link: socket.socket, *, lean: ctypes.CDLL, scratch: str) -> None:
        self._link = link
        self._lean = lean
        self._scratch = scratch
        self._selector = selectors.DefaultSelector()
        self._received = bytearray()
        self._guardians: set[_Guardian] = set()
        self._running: dict[int, _Guardian] = {}
        """By job."""
        self._spares: dict[Setting, _Guardian] = {}
        """Guardians that wait for a job, the one used last at the end."""
        self._wanted: Setting | None = None
        """Where a spare is missing."""

    def serve(self) -> None:
        """Return when the daemon has gone."""
        self._selector.register(self._link, selectors.EVENT_READ, None)
        while True:
            ready = self._selector.select(_QUIET_S if self._wanted else None)
            for key, _ in ready:
                if key.data is None:
                    if not self._receive():
                        return
                else:
                    self._collect(key.data)
            if not ready:
                self._make_spare()

    def kill_all(self) -> None:
        """End every guardian; the kernel ends their provers with them."""
        for guardian in self._guardians:
            os.kill(guardian.pid, signal.SIGKILL)
        for guardian in self._guardians:
            os.waitpid(guardian.pid, 0)
        self._guardians.clear()
        self._bury_orphans()

    def _bury_orphans(self) -> None:
        """Wait for provers whose guardian was killed; the kernel has killed them at that moment."""
        guardians = {guardian.pid for guardian in self._guardians}
        for child in _children():
            if child not in guardians:
                os.waitpid(child, 0)

    def _receive(self) -> bool:
        try:
            chunk = self._link.recv(_CHUNK_BYTES)
        except ConnectionError:
            return False
        self._received += chunk
        while (found := take_frame(self._received)) is not None:
            self._handle(decode_request(found))
        return bool(chunk)

    def _handle(self, request: Job | Cancel) -> None:
        if isinstance(request, Job):
            self._start(request)
        elif running := self._running.get(request.id):
            os.close(running.control)
            running.control = -1

    def _start(self, job: Job) -> None:
        guardian = self._spares.pop(job.setting, None)
        if guardian is None or not _give(guardian, job):
            guardian = self._new_guardian(job.setting)
            _give(guardian, job)
        guardian.job = job.id
        self._running[job.id] = guardian
        self._wanted = job.setting

    def _make_spare(self) -> None:
        """Make a guardian for a job like the last one, unless those that wait are fresh."""
        setting, self._wanted = self._wanted, None
        if setting is None or setting in self._spares:
            return
        if len(self._spares) >= _MAX_SPARES:
            oldest = min(self._spares.values(), key=lambda guardian: guardian.born)
            if time.monotonic() - oldest.born < _KEEP_S:
                return
            self._dismiss(oldest)
        with contextlib.suppress(OSError):
            self._spares[setting] = self._new_guardian(setting)

    def _dismiss(self, spare: _Guardian) -> None:
        del self._spares[spare.setting]
        os.close(spare.question)
        spare.question = -1

    def _new_guardian(self, setting: Setting) -> _Guardian:
        question_end, question = os.pipe()
        reply, reply_end = os.pipe()
        control_end, control = os.pipe()
        if (pid := os.fork()) == 0:
            others = [end for guardian in self._guardians for end in _ends(guardian)]
            guard(
                setting,
                lean=self._lean,
                scratch=self._scratch,
                question=question_end,
                reply=reply_end,
                control=control_end,
                foreign=[self._link.fileno(), self._selector.fileno(), question, reply, control, *others],
            )
        for end in (question_end, reply_end, control_end):
            os.close(end)
        guardian = _Guardian(
            pid=pid, setting=setting, born=time.monotonic(), question=question, reply=reply, control=control,
            received=bytearray(),
        )  # fmt: skip
        self._guardians.add(guardian)
        self._selector.register(reply, selectors.EVENT_READ, guardian)
        return guardian

    def _collect(self, guardian: _Guardian) -> None:
        chunk = os.read(guardian.reply, _CHUNK_BYTES)
        guardian.received += chunk
        if (report := take_frame(guardian.received)) is not None and guardian.job is not None:
            # Its prover is dead and it has nothing more to say; its own end takes time.
            self._settle(guardian, report)
        if not chunk:
            self._bury(guardian)

    def _settle(self, guardian: _Guardian, report: bytes) -> None:
        assert guardian.job is not None
        del self._running[guardian.job]
        guardian.job = None
        self._link.sendall(frame(report))

    def _bury(self, guardian: _Guardian) -> None:
        self._selector.unregister(guardian.reply)
        for end in _ends(guardian):
            os.close(end)
        self._guardians.discard(guardian)
        if self._spares.get(guardian.setting) is guardian:
            del self._spares[guardian.setting]
        _, status = os.waitpid(guardian.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            self._bury_orphans()
        if guardian.job is not None:
            reason = "the guardian of the check was killed"
            self._settle(guardian, encode(JobReport(id=guardian.job, outcome="crashed", reason=reason)))


def _give(guardian: _Guardian, job: Job) -> bool:
    """Hand over a job; return whether the guardian was there to take it."""
    view = memoryview(frame(encode(job)))
    with contextlib.suppress(BrokenPipeError):
        while view:
            view = view[os.write(guardian.question, view) :]
    os.close(guardian.question)
    guardian.question = -1
    return not view


def _ends(guardian: _Guardian) -> list[int]:
    return [end for end in (guardian.question, guardian.reply, guardian.control) if end >= 0]


def _children() -> list[int]:
    process = os.getpid()
    with contextlib.suppress(FileNotFoundError):  # a kernel may be built without this list
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def main(arguments: list[str]) -> NoReturn:
    """Try the sandbox, load Lean, report what holds (or why Lean does not load), and serve."""
    library, scratch, descriptor = arguments
    signal.signal(signal.SIGTERM, _leave)
    libc.die_with_parent(signal.SIGTERM)
    libc.adopt_orphans()
    cell = tempfile.mkdtemp(prefix="cell-", dir=scratch)
    link = socket.socket(fileno=int(descriptor))
    try:
        report = try_layers(cell)
        _serve(link, library=library, cell=cell, report=report)
    finally:
        shutil.rmtree(cell, ignore_errors=True)
        os._exit(0)


def _serve(link: socket.socket, *, library: str, cell: str, report: SandboxReport) -> None:
    try:
        lean = _load(library)
    except OSError as error:
        link.sendall(frame(encode(str(error))))
        return
    server = Server(link, lean=lean, scratch=cell)
    with contextlib.suppress(ConnectionError):
        try:
            link.sendall(frame(encode(report)))
            server.serve()
        finally:
            server.kill_all()


def _load(library: str) -> ctypes.CDLL:
    with contextlib.suppress(OSError):
        # The C library loads it when a thread is cancelled, too late to find it from inside a sandbox.
        ctypes.CDLL("libgcc_s.so.1")
    lean = ctypes.CDLL(library)
    lean.lean_main.argtypes = [ctypes.c_int, ctypes.c_void_p]
    lean.lean_main.restype = ctypes.c_int
    gather_code(library)
    lean.lean_initialize()
    freeze()
    gather()
    return lean


def _leave(*_: object) -> NoReturn:
    sys.exit()


if __name__ == "__main__":
    main(sys.argv[1:])
