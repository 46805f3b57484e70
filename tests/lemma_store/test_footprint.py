"""Forks that have copies of what they write before they have anything to do."""

import mmap
import os
import resource
from collections.abc import Callable

import pytest

from lemma_store.lean.footprint import Footprint, take_copies, written_pages

_PAGES = 64


def _of_a_fork(work: Callable[[], bytes]) -> bytes:
    """Return what `work` returns in a fork."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(read_end)
            with os.fdopen(write_end, "wb") as reply:
                reply.write(work())
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as reply:
        found = reply.read()
    assert os.waitpid(pid, 0)[1] == 0
    return found


@pytest.fixture
def memory() -> mmap.mmap:
    """Memory that this process has written, and that its forks copy when they write to it."""
    found = mmap.mmap(-1, _PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _write(found)
    return found


def _write(memory: mmap.mmap) -> None:
    for page in range(_PAGES):
        memory[page * mmap.PAGESIZE] = 1


def _faults(memory: mmap.mmap) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    _write(memory)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def _studied(memory: mmap.mmap) -> bytes:
    _write(memory)
    return written_pages()


def test_a_fork_that_takes_copies_of_what_earlier_ones_wrote_copies_nothing_when_it_writes(memory: mmap.mmap):
    footprint = Footprint()
    for _ in range(2):
        assert footprint.is_due()
        footprint.learn(_of_a_fork(lambda: _studied(memory)))

    def prepared() -> bytes:
        take_copies(footprint.runs)
        return str(_faults(memory)).encode()

    assert int(_of_a_fork(lambda: str(_faults(memory)).encode())) >= _PAGES
    assert int(_of_a_fork(prepared)) < _PAGES // 2
    assert not footprint.is_due()


def test_forks_are_studied_again_now_and_then():
    footprint = Footprint()
    for _ in range(2):
        footprint.learn(written_pages())

    assert sum(footprint.is_due() for _ in range(100)) == 3


@pytest.mark.parametrize("told", [b"", b"\xc1", b"\x92\xa1a\x01", b"\x93\x00\xff\xcf\x7f\xff\xff\xff\xff\xff\xff\xff"])
def test_what_cannot_be_pages_is_left_out(told: bytes):
    footprint = Footprint()

    footprint.learn(told)
    take_copies(footprint.runs)

    assert footprint.runs == []
