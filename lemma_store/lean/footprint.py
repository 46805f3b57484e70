"""Which memory the forks of a process write: the next one gets its copies of it before it has anything to do."""

import array
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from . import libc

_PAGE_BITS, _ENTRY_BYTES = 12, 8
_IS_ITS_OWN = 1 << 63 | 1 << 56
"""Of an entry of `/proc/self/pagemap`: the page is there, and no other process has it."""
_LOOKED_AT_BYTES = 64 << 20
"""Larger areas are reserved and used from their beginning."""
_MAX_PAGES, _LAST_PAGE = 1 << 14, 1 << 35
_STUDIES, _STUDY_EVERY = 2, 32
_WRITABLE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p ", re.MULTILINE)
_pages = msgspec.msgpack.Decoder(list[int])


class Footprint:
    """The pages that the last forks under study all wrote. A fork under study starts without copies."""

    def __init__(self) -> None:
        self.runs: list[tuple[int, int]] = []
        """Start and size, in bytes."""
        self._studies: list[set[int]] = []
        self._forks = 0

    def is_due(self) -> bool:
        """Return whether the fork that is about to be made should be studied."""
        self._forks += 1
        return len(self._studies) < _STUDIES or self._forks % _STUDY_EVERY == 0

    def learn(self, told: bytes) -> None:
        """Take in the pages that a fork under study wrote; what cannot be that is left out."""
        try:
            pages = _pages.decode(told)
        except msgspec.MsgspecError:
            return
        found = {page for page in pages[:_MAX_PAGES] if 0 < page < _LAST_PAGE}
        self._studies = [*self._studies[1 - _STUDIES :], found]
        common = self._studies[0] & self._studies[-1]
        self.runs = [(first << _PAGE_BITS, count << _PAGE_BITS) for first, count in _runs(common)]


def _runs(pages: Iterable[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for page in sorted(pages):
        if found and sum(found[-1]) == page:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((page, 1))
    return found


def written_pages() -> bytes:
    """Return which pages this process does not share: what a fork has written since it was made. For `learn`."""
    found: list[int] = []
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        for begin, end in _WRITABLE.findall(Path("/proc/self/maps").read_text()):
            first, size = int(begin, 16) >> _PAGE_BITS, int(end, 16) - int(begin, 16)
            pagemap.seek(first * _ENTRY_BYTES)
            entries = array.array("Q", pagemap.read((min(size, _LOOKED_AT_BYTES) >> _PAGE_BITS) * _ENTRY_BYTES))
            found += [first + at for at, entry in enumerate(entries) if entry & _IS_ITS_OWN == _IS_ITS_OWN]
    return msgspec.msgpack.encode(found)


def take_copies(runs: Iterable[tuple[int, int]]) -> None:
    """Make this process's own copies of memory that it shares (Linux 5.14; otherwise they come when it writes)."""
    for start, size in runs:
        libc.populate(start, size)
