"""The fork server: a process in which Lean is loaded once and forked for every check.

Started by the daemon as `python -I -m lemma_store.lean.forkserver LIBRARY SCRATCH SOCKET`. One thread, no state but the
running jobs. It ends when the daemon's end of the socket closes, and takes every child with it.
"""

import contextlib
import ctypes
import gc
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

import msgspec

from . import libc
from .forkchild import guard
from .jobs import HEADER_BYTES, Cancel, Job, JobReport, decode_request, encode, frame, frame_size
from .sandbox import SandboxReport, try_layers

_CHUNK_BYTES = 1 << 18


class _Running(msgspec.Struct, kw_only=True):
    job: int
    guardian: int
    reply: int
    control: int
    report: bytearray


class Server:
    """Starts a guardian for every job that comes in and sends back what it reports."""

    def __init__(self, link: socket.socket, *, lean: ctypes.CDLL, scratch: str) -> None:
        self._link = link
        self._lean = lean
        self._scratch = scratch
        self._selector = selectors.DefaultSelector()
        self._received = bytearray()
        self._running: dict[int, _Running] = {}

    def serve(self) -> None:
        """Return when the daemon has gone."""
        self._selector.register(self._link, selectors.EVENT_READ, None)
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    if not self._receive():
                        return
                else:
                    self._collect(key.data)

    def kill_all(self) -> None:
        """End every guardian; the kernel ends their provers with them."""
        for running in self._running.values():
            os.kill(running.guardian, signal.SIGKILL)
        for running in self._running.values():
            os.waitpid(running.guardian, 0)
        self._running.clear()
        self._bury_orphans()

    def _bury_orphans(self) -> None:
        """Wait for provers whose guardian was killed; the kernel has killed them at that moment."""
        guardians = {running.guardian for running in self._running.values()}
        for child in _children():
            if child not in guardians:
                os.waitpid(child, 0)

    def _receive(self) -> bool:
        try:
            chunk = self._link.recv(_CHUNK_BYTES)
        except ConnectionError:
            return False
        self._received += chunk
        while len(self._received) >= HEADER_BYTES:
            end = HEADER_BYTES + frame_size(bytes(self._received[:HEADER_BYTES]))
            if len(self._received) < end:
                break
            request = decode_request(self._received[HEADER_BYTES:end])
            del self._received[:end]
            self._handle(request)
        return bool(chunk)

    def _handle(self, request: Job | Cancel) -> None:
        if isinstance(request, Job):
            self._start(request)
        elif running := self._running.get(request.id):
            os.close(running.control)
            running.control = -1

    def _start(self, job: Job) -> None:
        reply, reply_end = os.pipe()
        control_end, control = os.pipe()
        if (guardian := os.fork()) == 0:
            others = [end for job_ in self._running.values() for end in (job_.reply, job_.control) if end >= 0]
            foreign = [self._link.fileno(), self._selector.fileno(), reply, control, *others]
            guard(job, lean=self._lean, scratch=self._scratch, reply=reply_end, control=control_end, foreign=foreign)
        os.close(reply_end)
        os.close(control_end)
        running = _Running(job=job.id, guardian=guardian, reply=reply, control=control, report=bytearray())
        self._running[job.id] = running
        self._selector.register(reply, selectors.EVENT_READ, running)

    def _collect(self, running: _Running) -> None:
        if chunk := os.read(running.reply, _CHUNK_BYTES):
            running.report += chunk
            return
        self._selector.unregister(running.reply)
        os.close(running.reply)
        if running.control >= 0:
            os.close(running.control)
        _, status = os.waitpid(running.guardian, 0)
        del self._running[running.job]
        if os.waitstatus_to_exitcode(status) != 0:
            self._bury_orphans()
            lost = JobReport(id=running.job, outcome="crashed", reason="the guardian of the check was killed")
            running.report = bytearray(encode(lost))
        self._link.sendall(frame(bytes(running.report)))


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
    lean.lean_initialize()
    gc.freeze()
    return lean


def _leave(*_: object) -> NoReturn:
    sys.exit()


if __name__ == "__main__":
    main(sys.argv[1:])
