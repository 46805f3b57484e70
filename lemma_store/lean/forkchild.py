"""One check: a guardian process that starts a prover process, watches it, and reports how it ended.

Both come from the fork server by `fork`, so Lean is already initialised in them. Both wait in their place, the prover
behind closed doors already, until the text comes. The guardian is ours from beginning to end. The prover is ours until
it calls Lean; from then on it may run anything an agent thought of. The artifact is read only after the prover, and
with it everything it could have started, is dead.
"""

import ctypes
import os
import select
import signal
import stat
import time
from collections.abc import Sequence
from typing import NoReturn

import msgspec

from . import libc
from .forkprover import FAILED, begin, prove, write_all
from .jobs import Job, JobReport, Limits, Setting, decode_request, encode, frame, read_frame
from .sandbox import Cell, close_cell, open_cell, written_bytes

_TICK_MS = 40
_CHUNK_BYTES = 1 << 16
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ARTIFACT = "out.olean"


def guard(
    setting: Setting,
    *,
    lean: ctypes.CDLL,
    scratch: str,
    question: int,
    reply: int,
    control: int,
    foreign: Sequence[int],
) -> NoReturn:
    """Make the place of a check, run the job that comes from `question` in it, write the report to `reply`, and exit.

    Without a job it ends when `question` does. Closing `control` from outside ends the job early. `foreign` are the
    fork server's other descriptors, which are closed.
    """
    status = FAILED
    try:
        libc.die_with_parent(signal.SIGKILL)
        # Descriptors of the Lean runtime stay: it closes them by number in every fork, and must not meet ours there.
        for descriptor in foreign:
            os.close(descriptor)
        _serve_once(setting, lean=lean, scratch=scratch, question=question, reply=reply, control=control)
        status = 0
    finally:
        os._exit(status)


def _serve_once(setting: Setting, *, lean: ctypes.CDLL, scratch: str, question: int, reply: int, control: int) -> None:
    stage: _Stage | str
    try:
        stage = _set_up(setting, lean=lean, scratch=scratch)
    except OSError as error:
        stage = f"the check could not be set up: {error}"
    job = _read_job(question)
    if job is not None:
        write_all(reply, frame(encode(_report(job, stage, control=control))))
    elif not isinstance(stage, str):
        os.kill(stage.prover, signal.SIGKILL)
        os.waitpid(stage.prover, 0)
        close_cell(stage.place)


class _Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A place with a prover in it that waits for its words."""

    place: Cell
    prover: int
    words: int
    """Descriptor that takes the arguments of Lean."""

    output: int
    processes: int
    """Descriptor of a `/proc` that shows the prover."""


def _set_up(setting: Setting, *, lean: ctypes.CDLL, scratch: str) -> _Stage:
    processes = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    place = open_cell(scratch, setting=setting)
    output, output_end = os.pipe()
    words_end, words = os.pipe()
    prover = os.fork()
    if prover == 0:
        prove(setting, lean=lean, place=place, words=words_end, output=output_end)
    os.close(output_end)
    os.close(words_end)
    return _Stage(place=place, prover=prover, words=words, output=output, processes=processes)


def _read_job(question: int) -> Job | None:
    if (found := read_frame(question)) is None:
        return None
    job = decode_request(found)
    assert isinstance(job, Job)
    return job


def _report(job: Job, stage: _Stage | str, *, control: int) -> JobReport:
    if isinstance(stage, str):
        return JobReport(id=job.id, outcome="crashed", reason=stage)
    try:
        return _run(job, stage, control=control)
    except OSError as error:
        return JobReport(id=job.id, outcome="crashed", reason=f"the check could not be set up: {error}")


def _run(job: Job, stage: _Stage, *, control: int) -> JobReport:
    started = time.monotonic()
    place, prover = stage.place, stage.prover
    watch = _Watch(job, stage, control=control)
    source = _write_source(place, job)
    begin(stage.words, _words(job, source))
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


def _words(job: Job, source: str) -> list[str]:
    words = ["lean", "--json", "-R", ".", *(f"-D{option}" for option in job.options)]
    if job.wants_artifact:
        words += ["-o", _ARTIFACT]
    return [*words, source]


def _ending(limits: Limits, *, code: int, cpu_ms: float) -> tuple[str, str]:
    """Name the way a prover ended that the guardian did not kill."""
    if code >= 0:
        return ("crashed", "the sandbox could not be entered") if code == FAILED else ("finished", "")
    if -code == signal.SIGKILL and cpu_ms >= limits.cpu_s * 800:  # the kernel's two counts differ
        return "timeout", f"used more than {limits.cpu_s} s of processor time"
    return "crashed", f"ended by signal {-code}"


class _Watch:
    """Collects a prover's output and kills it when it exceeds a limit."""

    def __init__(self, job: Job, stage: _Stage, *, control: int) -> None:
        self._limits = job.limits
        self._place = stage.place
        self._prover = stage.prover
        self._output = stage.output
        self._processes = stage.processes
        self._control = control
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


def _write_source(place: Cell, job: Job) -> str:
    """Put the source where its module name says; Lean takes the module's name from the path."""
    *folders, name = job.module.split(".")
    folder = place.folder
    for part in folders:
        os.mkdir(part, dir_fd=folder)
        folder = os.open(part, os.O_PATH | os.O_DIRECTORY, dir_fd=folder)
    file = os.open(f"{name}.lean", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400, dir_fd=folder)
    write_all(file, job.source)
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
