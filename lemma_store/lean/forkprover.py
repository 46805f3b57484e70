"""The prover of a check: confined and waiting before there is a text, then Lean.

It is ours until it calls Lean; from then on it may run anything an agent thought of.
"""

import contextlib
import ctypes
import os
import signal
from typing import NoReturn

import msgspec

from . import libc
from .jobs import Setting, encode, frame, take_frame
from .sandbox import Cell, confine

FAILED = 125
"""Exit code of a process of ours that could not do its part."""
_CHUNK_BYTES = 1 << 16


def prove(setting: Setting, *, lean: ctypes.CDLL, place: Cell, words: int, output: int) -> NoReturn:
    """Become the prover: shut every door, wait, then let Lean read what the agent wrote."""
    status = FAILED
    try:
        libc.die_with_parent(signal.SIGKILL)
        os.dup2(words, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        confine(place, limits=setting.limits, confinement=setting.confinement)
        if (given := _read_words()) is not None:
            status = _lean_main(given, lean=lean, place=place)
    except OSError as error:
        os.write(2, f"the sandbox could not be entered: {error}".encode())
    finally:
        os._exit(status)


def _read_words() -> list[str] | None:
    """Return the arguments for Lean, or None when the guardian is gone."""
    received = bytearray()
    while chunk := os.read(0, _CHUNK_BYTES):
        received += chunk
    found = take_frame(received)
    return None if found is None else msgspec.msgpack.decode(found, type=list[str])


def _lean_main(words: list[str], *, lean: ctypes.CDLL, place: Cell) -> int:
    os.environ.clear()
    os.environ.update({"LEAN_PATH": ":".join(place.lean_path), "LEAN_NUM_THREADS": "1"})
    array = (ctypes.c_char_p * (len(words) + 1))(*(os.fsencode(word) for word in words), None)
    libc.leave_at_once()
    return lean.lean_main(len(words), array)


def begin(descriptor: int, words: list[str]) -> None:
    """Let the prover begin; one that is dead already shows when it is waited for."""
    with contextlib.suppress(BrokenPipeError):
        write_all(descriptor, frame(encode(words)))
    os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write `data` to its end."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
