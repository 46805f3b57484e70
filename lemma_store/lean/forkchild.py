"""One check: a guardian process that starts a prover process, watches it, and reports how it ended.

Both come from the fork server by `fork`, so Lean is already initialised in them. The guardian is ours from beginning
to end. The prover is ours until it calls Lean; from then on it may run anything an agent thought of. The artifact is
read only after the prover, and with it everything it could have started, is dead.
"""

import ctypes
import os
import select
import signal
import stat
import time
from collections.abc import Sequence
from typing import NoReturn

from . import libc
from .jobs import Job, JobReport, Limits, encode
from .sandbox import Cell, close_cell, confine, open_cell, written_bytes

_TICK_MS = 40
_CHUNK_BYTES = 1 << 16
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ARTIFACT = "out.olean"
_FAILED = 125


def guard(job: Job, *, lean: ctypes.CDLL, scratch: str, reply: int, control: int, foreign: Sequence[int]) -> NoReturn:
    """Run a job to its end, write the report to `reply`, and exit. Closing `control` from outside ends it early.

    `foreign` are the fork server's other descriptors, which are closed.
    """
    status = _FAILED
    try:
        libc.die_with_parent(signal.SIGKILL)
        # Descriptors of the Lean runtime stay: it closes them by number in every fork, and must not meet ours there.
        for descriptor in foreign:
            os.close(descriptor)
        _write_all(reply, encode(_report(job, lean=lean, scratch=scratch, control=control)))
        status = 0
    finally:
        os._exit(status)


def _report(job: Job, *, lean: ctypes.CDLL, scratch: str, control: int) -> JobReport:
    try:
        return _run(job, lean=lean, scratch=scratch, control=control)
    except OSError as error:
        return JobReport(id=job.id, outcome="crashed", reason=f"the check could not be set up: {error}")


def _run(job: Job, *, lean: ctypes.CDLL, scratch: str, control: int) -> JobReport:
    started = time.monotonic()
    processes = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    place = open_cell(scratch, job=job)
    source = _write_source(place, job)
    output, output_end = os.pipe()
    alive, alive_end = os.pipe()
    prover = os.fork()
    if prover == 0:
        _prove(job, lean=lean, place=place, source=source, output=output_end, alive=(alive, alive_end))
    os.close(output_end)
    watch = _Watch(job, place=place, prover=prover, output=output, control=control, processes=processes)
    watch.until_dead()
    _, status, usage = os.wait4(prover, 0)
    watch.drain()
    code = os.waitstatus_to_exitcode(status)
    cpu_ms = (usage.ru_utime + usage.ru_stime) * 1000
    outcome, reason = _ending(job.limits, code=code, cpu_ms=cpu_ms)
    artifact = _take_artifact(place, job) if outcome == "finished" and job.wants_artifact else None
    close_cell(place)
    return JobReport(
        id=job.id,
        outcome=watch.outcome or outcome,
        exit_code=code,
        output=bytes(watch.text),
        is_truncated=watch.outcome == "flooded",
        artifact=artifact,
        wall_ms=(time.monotonic() - started) * 1000,
        cpu_ms=cpu_ms,
        peak_bytes=usage.ru_maxrss * 1024,
        reason=watch.reason or reason,
    )


def _ending(limits: Limits, *, code: int, cpu_ms: float) -> tuple[str, str]:
    """Name the way a prover ended that the guardian did not kill."""
    if code >= 0:
        return ("crashed", "the sandbox could not be entered") if code == _FAILED else ("finished", "")
    if -code == signal.SIGKILL and cpu_ms >= limits.cpu_s * 800:  # the kernel's two counts differ
        return "timeout", f"used more than {limits.cpu_s} s of processor time"
    return "crashed", f"ended by signal {-code}"


class _Watch:
    """Collects a prover's output and kills it when it exceeds a limit."""

    def __init__(self, job: Job, *, place: Cell, prover: int, output: int, control: int, processes: int) -> None:
        self._limits = job.limits
        self._place = place
        self._prover = prover
        self._output = output
        self._control = control
        self._processes = processes
        self._deadline = time.monotonic() + job.limits.wall_ms / 1000
        self.text = bytearray()
        self.outcome = ""
        self.reason = ""

    def until_dead(self) -> None:
        """Return when the prover has ended, by itself or by us."""
        ended = os.pidfd_open(self._prover)
        poll = select.poll()
        for descriptor in (ended, self._output, self._control):
            poll.register(descriptor, select.POLLIN)
        os.set_blocking(self._output, False)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(self._wait_ms())}
            if self._output in ready and self._read() == 0:
                poll.unregister(self._output)
            if ended in ready:
                break
            if self._control in ready:
                poll.unregister(self._control)
                self._kill("crashed", "cancelled")
            self._enforce()
        os.close(ended)

    def drain(self) -> None:
        """Take what the dead prover left in the pipe."""
        while self._read():
            pass

    def _wait_ms(self) -> float:
        return min(_TICK_MS, max(0.0, (self._deadline - time.monotonic()) * 1000) + 1)

    def _read(self) -> int | None:
        """Take one piece of output; 0 at its end, None when there is none now."""
        try:
            chunk = os.read(self._output, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        room = self._limits.output_bytes - len(self.text)
        self.text += chunk[:room]
        if len(chunk) > room:
            self._kill("flooded", f"printed more than {self._limits.output_bytes} bytes")
        return len(chunk)

    def _enforce(self) -> None:
        if time.monotonic() > self._deadline:
            self._kill("timeout", f"ran longer than {self._limits.wall_ms} ms")
        resident, threads = self._usage()
        if resident > self._limits.memory_bytes:
            self._kill("memory", f"used more than {self._limits.memory_bytes} bytes of memory")
        if threads > self._limits.threads:
            self._kill("memory", f"started more than {self._limits.threads} threads")
        if written_bytes(self._place) > self._limits.scratch_bytes:
            self._kill("memory", f"wrote more than {self._limits.scratch_bytes} bytes")

    def _usage(self) -> tuple[int, int]:
        try:
            stats = os.open(f"{self._prover}/stat", os.O_RDONLY, dir_fd=self._processes)
        except OSError:
            return 0, 0
        with os.fdopen(stats, "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[21]) * _PAGE_BYTES, int(fields[17])

    def _kill(self, outcome: str, reason: str) -> None:
        if not self.outcome:
            self.outcome, self.reason = outcome, reason
            os.kill(self._prover, signal.SIGKILL)


def _prove(job: Job, *, lean: ctypes.CDLL, place: Cell, source: str, output: int, alive: tuple[int, int]) -> NoReturn:
    """Become the prover: shut every door, then let Lean read what the agent wrote."""
    status = _FAILED
    try:
        libc.die_with_parent(signal.SIGKILL)
        os.close(alive[1])
        if not _has_hung_up(alive[0]):
            os.dup2(output, 1)
            os.dup2(output, 2)
            confine(place, limits=job.limits, confinement=job.confinement)
            status = _lean_main(job, lean=lean, place=place, source=source)
    except OSError as error:
        os.write(2, f"the sandbox could not be entered: {error}".encode())
    finally:
        os._exit(status)


def _lean_main(job: Job, *, lean: ctypes.CDLL, place: Cell, source: str) -> int:
    os.environ.clear()
    os.environ.update({"LEAN_PATH": ":".join(place.lean_path), "LEAN_NUM_THREADS": "1"})
    words = ["lean", "--json", "-R", ".", *(f"-D{option}" for option in job.options)]
    if job.wants_artifact:
        words += ["-o", _ARTIFACT]
    words.append(source)
    array = (ctypes.c_char_p * (len(words) + 1))(*(os.fsencode(word) for word in words), None)
    return lean.lean_main(len(words), array)


def _write_source(place: Cell, job: Job) -> str:
    """Put the source where its module name says; Lean takes the module's name from the path."""
    *folders, name = job.module.split(".")
    folder = place.folder
    for part in folders:
        os.mkdir(part, dir_fd=folder)
        folder = os.open(part, os.O_PATH | os.O_DIRECTORY, dir_fd=folder)
    file = os.open(f"{name}.lean", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400, dir_fd=folder)
    _write_all(file, job.source)
    os.close(file)
    return "/".join([*folders, f"{name}.lean"])


def _take_artifact(place: Cell, job: Job) -> bytes | None:
    """Read the one artifact: an ordinary file of bounded size, never what a link or a pipe points to."""
    try:
        file = os.open(_ARTIFACT, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place.folder)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > job.limits.artifact_bytes:
            return None
        return opened.read(job.limits.artifact_bytes)


def _has_hung_up(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, 0)
    return bool(poll.poll(0))


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
