"""The place a check runs in, what it may touch there, and what of that this machine can enforce."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from . import bubblewrap, landlock, libc, namespaces, seccomp
from .jobs import Confinement, Limits, Setting

_MAX_DESCRIPTOR = 1 << 20
_PROBE_SECONDS = 30
_PROBE_BYTES = 1 << 20


class SandboxReport(msgspec.Struct, frozen=True, kw_only=True):
    """Which layers hold on this machine."""

    layers: dict[str, bool]
    reasons: dict[str, str]
    """For each layer that does not hold: why."""
    confinement: Confinement

    @property
    def is_sufficient(self) -> bool:
        """Whether files are out of reach of a check; without that nothing else counts."""
        return self.confinement.is_isolated or self.confinement.landlock > 0

    def with_layer(self, name: str, *, missing: str) -> "SandboxReport":
        """Return this report with one more layer; it holds unless a reason is given why not."""
        reasons = {**self.reasons, name: missing} if missing else self.reasons
        return msgspec.structs.replace(self, layers={**self.layers, name: not missing}, reasons=reasons)


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


def probe() -> SandboxReport:
    """Try every layer in a process of its own. Blocks for a fraction of a second. Raises OSError."""
    command = [sys.executable, "-I", "-m", "lemma_store.lean.sandbox"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS, check=True)
    report = msgspec.json.decode(done.stdout, type=SandboxReport)
    return report.with_layer("bubblewrap", missing=bubblewrap.missing())


def try_layers(folder: str) -> SandboxReport:
    """Try every layer in children of this process, which must have one thread only. The folder must be empty."""
    level = landlock.supported_level()
    missing = {
        "namespaces": _reason(_try_namespaces, folder),
        "landlock": _reason(_try_landlock, folder) if level else "this kernel offers no Landlock",
        "seccomp": _reason(_try_seccomp, folder) if seccomp.is_known_machine() else "the filter is for x86-64 only",
    }
    if missing["landlock"]:
        level = 0
    reasons = {
        **dict.fromkeys(("user_namespace", "process_namespace", "mount_namespace"), missing["namespaces"]),
        **dict.fromkeys(("network_namespace", "ipc_namespace"), missing["namespaces"]),
        "landlock_files": missing["landlock"],
        "landlock_network": missing["landlock"] or _too_old(level, landlock.NETWORK_LEVEL),
        "landlock_scopes": missing["landlock"] or _too_old(level, landlock.SCOPE_LEVEL),
        "seccomp": missing["seccomp"],
        "no_new_privileges": "",
        "limits": "",
    }
    return SandboxReport(
        layers={layer: not reason for layer, reason in reasons.items()},
        reasons={layer: reason for layer, reason in reasons.items() if reason},
        confinement=Confinement(
            is_isolated=not missing["namespaces"], landlock=level, is_filtered=not missing["seccomp"]
        ),
    )


def open_cell(base: str, *, setting: Setting) -> Cell:
    """Make the place of a check; with namespaces, step into it. Raises OSError."""
    if setting.confinement.is_isolated:
        inside = namespaces.isolate(base, scratch_bytes=setting.limits.scratch_bytes, folders=setting.lean_path)
        outside, scratch = "", namespaces.SCRATCH
    else:
        inside = setting.lean_path
        outside = scratch = tempfile.mkdtemp(dir=base)
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    return Cell(outside=outside, folder=folder, scratch=scratch, lean_path=inside)


def written_bytes(cell: Cell) -> int:
    """Return how much a check has written, where no limited file system counts it."""
    if not cell.outside:
        return 0
    return sum(
        os.stat(name, dir_fd=folder, follow_symlinks=False).st_blocks * 512
        for _, _, names, folder in os.fwalk(dir_fd=cell.folder)
        for name in names
    )


def close_cell(cell: Cell) -> None:
    """Remove what is left of a check."""
    if cell.outside:
        shutil.rmtree(cell.outside, ignore_errors=True)


def confine(cell: Cell, *, limits: Limits, confinement: Confinement) -> None:
    """Give up everything that a check does not need. There is no way back. Raises OSError.

    Only the standard descriptors stay open, and the working folder is the scratch.
    """
    os.chdir(cell.scratch)
    os.closerange(3, _MAX_DESCRIPTOR)
    _limit(limits, is_isolated=confinement.is_isolated)
    namespaces.drop_capabilities()
    libc.forbid_new_privileges()
    if confinement.landlock:
        landlock.restrict(confinement.landlock, readable=cell.lean_path, scratch=cell.scratch)
    if confinement.is_filtered:
        seccomp.filter_system_calls()


def _limit(limits: Limits, *, is_isolated: bool) -> None:
    bounds = [
        (resource.RLIMIT_AS, limits.address_bytes),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_FSIZE, limits.scratch_bytes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ]
    if is_isolated:
        # Outside a user namespace this would count every process of the user.
        bounds.append((resource.RLIMIT_NPROC, limits.threads))
    for kind, bound in bounds:
        ceiling = resource.getrlimit(kind)[1]
        value = bound if ceiling == resource.RLIM_INFINITY else min(bound, ceiling)
        resource.setrlimit(kind, (value, value))


def _too_old(level: int, needed: int) -> str:
    return "" if level >= needed else f"this kernel has level {level} of Landlock, {needed} is needed"


def _reason(attempt: Callable[[str], None], folder: str) -> str:
    """Make an attempt in a child; return why it failed, or nothing."""
    answer, answer_end = os.pipe()
    if (child := os.fork()) == 0:
        status = 1
        try:
            attempt(folder)
            status = 0
        except OSError as error:
            os.write(answer_end, str(error).encode())
        finally:
            os._exit(status)
    os.close(answer_end)
    with os.fdopen(answer, "rb") as file:
        reason = file.read().decode()
    _, status = os.waitpid(child, 0)
    return reason or ("" if status == 0 else "the attempt was killed")


def _try_namespaces(folder: str) -> None:
    namespaces.isolate(folder, scratch_bytes=_PROBE_BYTES, folders=[str(Path(__file__).parent)])
    if (first := os.fork()) == 0:
        os._exit(0)
    os.waitpid(first, 0)


def _try_landlock(folder: str) -> None:
    libc.forbid_new_privileges()
    landlock.restrict(landlock.supported_level(), readable=[], scratch=folder)
    try:
        os.scandir("/").close()
    except PermissionError:
        return
    raise OSError("Landlock is there but does not hold")


def _try_seccomp(_: str) -> None:
    libc.forbid_new_privileges()
    seccomp.filter_system_calls()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        sys.stdout.buffer.write(msgspec.json.encode(try_layers(empty)))
