"""What a check can use up, and how it ends."""

import ctypes
import mmap
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from lemma_store.lean.core_library import CoreLibrary
from lemma_store.lean.elaboration import Elaboration, ForkServer
from lemma_store.lean.jobs import Confinement, Limits
from tests.lemma_store.attacks import (
    NOTHING,
    attack,
    layers,
    say,
    start,
    tried,
)


@pytest.mark.parametrize("confinement", layers)
def test_an_endless_loop_is_a_timeout(confinement: Confinement, scratch: Path):
    def action() -> int:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            pass

    report = attack(action, scratch=scratch, confinement=confinement, limits=Limits(wall_ms=200))

    assert (report.outcome, report.artifact) == ("timeout", None)
    assert 200 <= report.wall_ms < 2_000


def test_processor_time_beyond_the_limit_is_a_timeout(scratch: Path):
    def action() -> int:
        while True:
            pass

    report = attack(action, scratch=scratch, limits=Limits(wall_ms=60_000, cpu_s=1))

    assert (report.outcome, report.reason) == ("timeout", "used more than 1 s of processor time")


@pytest.mark.parametrize("confinement", layers)
def test_four_gigabytes_are_too_much_memory(confinement: Confinement, scratch: Path):
    def action() -> int:
        kept = [bytearray(b"x") * (1 << 26) for _ in range(64)]
        return len(kept)

    report = attack(action, scratch=scratch, confinement=confinement, limits=Limits(memory_bytes=1 << 29))

    assert report.outcome == "memory"
    assert report.peak_bytes < 4 << 30


def test_address_space_is_limited_too(scratch: Path):
    def action() -> int:
        try:
            mmap.mmap(-1, 65 << 30)
        except (MemoryError, OSError):
            return say("refused")
        return 0

    assert attack(action, scratch=scratch).output == b"refused\n"


def test_a_thousand_threads_are_too_many(scratch: Path):
    def action() -> int:
        try:
            for _ in range(1_000):
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        except RuntimeError:
            return say("refused")
        time.sleep(60)
        return 0

    report = attack(action, scratch=scratch)

    # The kernel counts the threads of an ordinary user; those of root are counted by the guardian.
    assert report.output == b"refused\n" or report.reason == "started more than 64 threads"


@pytest.mark.parametrize("confinement", layers)
def test_a_gigabyte_of_output_is_a_flood(confinement: Confinement, scratch: Path):
    def action() -> int:
        for _ in range(1 << 14):
            os.write(1, b"x" * (1 << 16))
        return 0

    report = attack(action, scratch=scratch, confinement=confinement, limits=Limits(output_bytes=100_000))

    assert (report.outcome, report.is_truncated, report.artifact) == ("flooded", True, None)
    assert len(report.output) == 100_000


@pytest.mark.parametrize("confinement", layers)
def test_the_disk_cannot_be_filled(confinement: Confinement, scratch: Path):
    def action() -> int:
        number = 0
        try:
            for number in range(512):
                Path(f"file{number}").write_bytes(b"x" * (1 << 20))
        except OSError as error:
            return say(f"{type(error).__name__} {number}")
        time.sleep(60)
        return 0

    report = attack(action, scratch=scratch, confinement=confinement, limits=Limits(scratch_bytes=16 << 20))

    assert report.outcome == "memory" or report.output in {b"OSError 15\n", b"OSError 16\n"}
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("confinement", layers)
def test_one_file_cannot_be_larger_than_the_scratch(confinement: Confinement, scratch: Path):
    report = attack(
        tried(lambda: os.truncate("Attack.lean", 1 << 30), lambda: Path("big").write_bytes(b"x" * (2 << 20))),
        scratch=scratch,
        confinement=confinement,
        limits=Limits(scratch_bytes=1 << 20),
    )

    assert b"done" not in report.output


@pytest.mark.parametrize("confinement", [*layers, pytest.param(NOTHING, id="no layer")])
def test_an_artifact_that_is_a_link_or_a_pipe_is_none(confinement: Confinement, scratch: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("secret")

    def link() -> int:
        Path("out.olean").symlink_to(secret)
        return 0

    def pipe() -> int:
        os.mkfifo("out.olean")
        return 0

    for action in (link, pipe):
        assert attack(action, scratch=scratch, confinement=confinement).artifact is None


def test_an_artifact_that_is_too_large_is_none(scratch: Path):
    def action() -> int:
        Path("out.olean").write_bytes(b"x" * 1_000)
        return 0

    assert attack(action, scratch=scratch, limits=Limits(artifact_bytes=999)).artifact is None
    assert attack(action, scratch=scratch, limits=Limits(artifact_bytes=1_000)).artifact == b"x" * 1_000


@pytest.mark.parametrize("confinement", layers)
def test_a_crash_names_its_signal(confinement: Confinement, scratch: Path):
    def action() -> int:
        return ctypes.string_at(0)[0]

    report = attack(action, scratch=scratch, confinement=confinement)

    assert (report.outcome, report.reason, report.artifact) == ("crashed", "ended by signal 11", None)


@pytest.mark.parametrize("confinement", layers)
def test_an_abort_ends_the_check(confinement: Confinement, scratch: Path):
    report = attack(lambda: os.abort(), scratch=scratch, confinement=confinement)  # noqa: PLW0108

    assert report.outcome == "crashed"


def test_closing_the_control_ends_the_check(scratch: Path):
    def action() -> int:
        time.sleep(60)
        return 0

    attempt = start(action, scratch=scratch)
    os.close(os.dup(attempt.control))
    spare, attempt.control = attempt.control, os.open("/dev/null", os.O_RDONLY)
    os.close(spare)

    assert attempt.report().reason == "cancelled"


def test_a_library_folder_that_is_missing_is_no_verdict(scratch: Path, tmp_path: Path):
    report = attack(lambda: 0, scratch=scratch, lean_path=(str(tmp_path / "missing"),))

    assert report.outcome == "crashed"
    assert "missing" in report.reason or "No such file" in report.reason


@pytest.mark.anyio
async def test_a_text_of_many_theorems_has_the_address_space_that_its_threads_reserve(
    lean: ForkServer, core: CoreLibrary
):
    """Eight GiB of it ended such texts by signal 11: Lean reserves a stack for every theorem in work."""
    lemma = "theorem t{0} (p q : Nat) (h : p + {0} = q) : q = p + {0} := by\n  induction p <;> simp_all\n"
    text = "prelude\nimport MiniCore\n" + "".join(lemma.format(number) for number in range(24))

    done = await lean.run(Elaboration(source=text.encode(), lean_path=(str(core.folder),)))

    assert (done.outcome, done.exit_code) == ("finished", 0)
