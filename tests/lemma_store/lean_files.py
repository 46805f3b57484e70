"""Lean texts to elaborate, and the processes that do it."""

import os
from pathlib import Path

import anyio
import anyio.lowlevel

from lemma_store.lean.core_library import CoreLibrary
from lemma_store.lean.elaboration import Elaboration

HEADER = "prelude\nimport MiniCore\n"
GOOD = "theorem both {p q : Prop} (h : p ∧ q) : q ∧ p := ⟨h.2, h.1⟩\n"
ENDLESS = "theorem never : 1 = 2 := by repeat (first | skip)\n"


def file(text: str, core: CoreLibrary, **options: object) -> Elaboration:
    return Elaboration(source=(HEADER + text).encode(), lean_path=(str(core.folder),), **options)  # pyright: ignore[reportArgumentType]


def endless(core: CoreLibrary, *, wall_ms: int = 60_000) -> Elaboration:
    return file(ENDLESS, core, heartbeats=0, wall_ms=wall_ms)


async def until_dead(process: int) -> None:
    """Wait until a process has ended; it may have ended already."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    with anyio.fail_after(10):
        await anyio.wait_readable(descriptor)
    os.close(descriptor)


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def descriptors(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def running_processes(server: int | None, *, checks: int = 1) -> list[int]:
    """Guardian and prover of each check as soon as there are so many, the oldest first; those that wait count too."""
    assert server
    with anyio.fail_after(10):
        while True:
            pairs = [(guardian, *children(guardian)) for guardian in sorted(children(server))]
            if len(pairs) >= checks and all(len(pair) == 2 for pair in pairs):
                return [process for pair in pairs[:checks] for process in pair]
            await anyio.lowlevel.checkpoint()


async def until_one_waits(server: int | None) -> None:
    """Wait until nothing is left of checks but the processes that wait for the next one."""
    assert server
    with anyio.fail_after(10):
        while len(children(server)) != 1:
            await anyio.lowlevel.checkpoint()
