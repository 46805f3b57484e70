"""Memory that a process shares with its forks, in pages as large as there are: a fork copies less and ends sooner."""

import contextlib
import ctypes
import gc
import os
import re
from pathlib import Path

from . import libc

_HUGE_BYTES = 2 << 20
_MAX_AREA_BYTES = 512 << 20
"""Larger areas are reserved and hardly used."""

_OWN = r"rw-p \S+ \S+ 0 *(?:\[heap\])?"
_CODE = r"r-xp \S+ \S+ \d+ +{}"


def freeze() -> None:
    """Keep the collector off all objects that there are: it would write to every one of them."""
    gc.collect()
    gc.freeze()


def gather() -> None:
    """Put this process's own memory into large pages, where the kernel can (Linux 6.1). Takes about 20 ms."""
    for start, size in _areas(_OWN):
        for address in range(start, start + size if size < _MAX_AREA_BYTES else start, _HUGE_BYTES):
            with contextlib.suppress(OSError):  # nothing is there, or the kernel is older or has no such page now
                libc.collapse(address, _HUGE_BYTES)


def gather_code(library: str) -> None:
    """Put a copy of a loaded library's code into large pages in its place, where the kernel can; nothing may run in it.

    A fork finds it all there, where otherwise each first step into a piece of it is a fault.
    """
    for start, size in _areas(_CODE.format(re.escape(os.path.realpath(library)))):
        with contextlib.suppress(OSError):  # no memory for it, or no large page
            _replace(start, size)


def _replace(start: int, size: int) -> None:
    space = libc.reserve(size + _HUGE_BYTES)
    copy = -(-space // _HUGE_BYTES) * _HUGE_BYTES
    try:
        libc.ask_for_large_pages(copy, size)
        ctypes.memmove(copy, start, size)
        libc.collapse(copy, size)  # in small pages it would only cost
        libc.make_executable(copy, size)
        libc.move(copy, size, start)
    except OSError:
        libc.release(space, size + _HUGE_BYTES)
        raise


def _areas(kind: str) -> list[tuple[int, int]]:
    """Return start and size of what of this process's areas of a kind can be in large pages."""
    lines = re.findall(rf"^([0-9a-f]+)-([0-9a-f]+) {kind}$", Path("/proc/self/maps").read_text(), re.MULTILINE)
    bounds = [(-(-int(begin, 16) // _HUGE_BYTES), int(end, 16) // _HUGE_BYTES) for begin, end in lines]
    return [(first * _HUGE_BYTES, (last - first) * _HUGE_BYTES) for first, last in bounds if first < last]
