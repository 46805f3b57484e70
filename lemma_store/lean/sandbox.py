"""The place a check runs in, and what it may touch there."""

import os
import resource
import shutil
import tempfile

import msgspec

from .jobs import Job


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of one check, seen from both sides."""

    outside: str
    """Path of the scratch folder for the guardian; empty when it vanishes by itself."""
    folder: int
    """Descriptor of the scratch folder, kept by the guardian."""
    scratch: str
    """Path of the scratch folder for the prover."""
    lean_path: tuple[str, ...]
    """The folders of compiled modules, for the prover."""


def open_cell(base: str, *, job: Job) -> Cell:
    """Make the scratch folder of a check."""
    scratch = tempfile.mkdtemp(dir=base)
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    return Cell(outside=scratch, folder=folder, scratch=scratch, lean_path=job.lean_path)


def close_cell(cell: Cell) -> None:
    """Remove what is left of a check."""
    if cell.outside:
        shutil.rmtree(cell.outside, ignore_errors=True)


def confine(cell: Cell, *, job: Job) -> None:
    """Give up everything that a check does not need. There is no way back."""
    limits = job.limits
    for kind, value in (
        (resource.RLIMIT_AS, limits.address_bytes),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_FSIZE, max(limits.artifact_bytes, limits.scratch_bytes)),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))
