"""What a check can do to processes and to the kernel: nothing."""

import ctypes
import fcntl
import mmap
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lemma_store.lean import libc
from lemma_store.lean.jobs import Confinement
from tests.lemma_store.attacks import (
    NAMESPACES_ONLY,
    attack,
    filtered,
    layers,
    listed,
    names_of_living,
    needs_namespaces,
    only_child,
    say,
    start,
    tried,
)


@pytest.mark.parametrize("confinement", layers)
def test_other_processes_cannot_be_killed_or_traced(
    confinement: Confinement, scratch: Path, victim: subprocess.Popen[bytes]
):
    ptrace_attach = 16

    report = attack(
        tried(
            lambda: os.kill(victim.pid, signal.SIGKILL),
            lambda: os.kill(os.getppid() or victim.pid, signal.SIGSTOP),
            lambda: libc.syscall(101, ptrace_attach, victim.pid, 0, 0),
            lambda: libc.syscall(434, victim.pid, 0),
            lambda: os.sched_setaffinity(victim.pid, {0}),
            lambda: fcntl.fcntl(1, fcntl.F_SETOWN, victim.pid),
        ),
        scratch=scratch,
        confinement=confinement,
    )

    assert victim.poll() is None
    assert report.outcome == "finished"
    assert b"done" not in report.output


@needs_namespaces
def test_no_other_process_can_be_seen(scratch: Path):
    report = attack(lambda: say((os.getpid(), os.getppid(), listed("/"))), scratch=scratch)
    isolated = attack(
        lambda: say((os.getpid(), os.getppid(), listed("/proc"))),
        scratch=scratch,
        confinement=NAMESPACES_ONLY,
    )

    assert report.exit_code != 0
    assert isolated.output == b"(1, 0, ['1'])\n"


@pytest.mark.parametrize("confinement", filtered)
def test_no_process_and_no_program_can_be_started(confinement: Confinement, scratch: Path):
    clone_and_signal_parent = 17

    report = attack(
        tried(
            os.fork,
            lambda: libc.syscall(58),
            lambda: libc.syscall(56, clone_and_signal_parent, 0, 0, 0, 0),
            lambda: os.execv("/bin/sh", ["sh"]),  # noqa: S606
            os.setsid,
        ),
        scratch=scratch,
        confinement=confinement,
    )

    assert report.output.split() == [b"PermissionError"] * 5


@pytest.mark.parametrize("confinement", filtered)
def test_the_kernel_is_out_of_reach(confinement: Confinement, scratch: Path):
    mount, unshare, bpf, perf, keyctl, io_uring, userfault, memfd = 165, 272, 321, 298, 250, 425, 323, 319

    report = attack(
        tried(
            *(
                lambda number=number: libc.syscall(number, 0, 0, 0, 0, 0)
                for number in (mount, unshare, bpf, perf, keyctl, io_uring, userfault, memfd)
            )
        ),
        scratch=scratch,
        confinement=confinement,
    )

    assert report.output.split() == [b"PermissionError"] * 8


def test_the_other_numbering_of_system_calls_is_refused(scratch: Path):
    x32_getpid = 0x40000000 + 39

    report = attack(tried(lambda: libc.syscall(x32_getpid)), scratch=scratch)

    assert report.output == b"PermissionError\n"


def test_calls_of_the_thirty_two_bit_machine_are_deadly(scratch: Path):
    getpid_by_interrupt = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"

    def action() -> int:
        memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        memory.write(getpid_by_interrupt)
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
        return say("survived")

    report = attack(action, scratch=scratch)

    assert (report.outcome, report.output) == ("crashed", b"")


@needs_namespaces
def test_a_process_left_behind_is_dead_when_the_artifact_is_taken(scratch: Path):
    name = f"left-{os.getpid()}"[:15]

    def action() -> int:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                Path("/proc/self/comm")
                ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
                time.sleep(60)
            os._exit(0)
        return 0

    report = attack(action, scratch=scratch, confinement=NAMESPACES_ONLY)

    assert report.outcome == "finished"
    assert name not in names_of_living()


@pytest.mark.parametrize("confinement", filtered)
def test_a_check_cannot_outlive_its_guardian(confinement: Confinement, scratch: Path):
    name = f"orphan-{os.getpid()}"[:15]

    def action() -> int:
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
        ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
        say("ready")
        time.sleep(60)
        return 0

    attempt = start(action, scratch=scratch, confinement=confinement)
    prover = only_child(attempt.pid, name=name)
    ended = os.pidfd_open(prover)
    os.kill(attempt.pid, signal.SIGKILL)

    assert select.select([ended], [], [], 5)[0]
    os.close(ended)
    os.close(attempt.control)
    os.close(attempt.reply)
    os.waitpid(attempt.pid, 0)
