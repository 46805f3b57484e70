"""A user's own toolchain and Lake project: found by `lake env`, known by version, commit and bytes, or refused.

The modules that a text imports are the trusted library. The judge replays them from an empty environment, as it does
with the core library; so they must be of the format that its reader knows. What is too large for that, Lean imports.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from bus.errors import BadProblem, LeanUnavailable
from lemma_store.refusals import Refused

from .core_library import CoreLibrary, CoreModule
from .olean import MAX_TRUSTED_BYTES, Head, read_head
from .regions import HEADER_BYTES, part_starts
from .toolchain import LEAN_COMMIT, LEAN_VERSION, Toolchain

REPLAYED_MB = 256
"""So much of compiled modules a judge replays at its start; what is larger, it has Lean import."""

KNOWN = {(LEAN_VERSION, LEAN_COMMIT)}
"""Versions and commits whose object layout and calling conventions the judge knows."""

ID_PREFIX = "project-"
"""How ids of libraries begin that are parts of a project."""

_VERSION = re.compile(r"Lean \(version (?P<version>[\w.+-]+),.*?commit (?P<commit>[0-9a-f]{12,40})")
_LIBRARIES = ("lib/lean/libleanshared.so", "lib/libleanshared.so")
_AGAIN = "build the project again"
_SECONDS = 120
_ASK = """
import ctypes, os, sys
lean = ctypes.CDLL(sys.argv[1])
lean.lean_initialize()
code = lean.lean_main(2, (ctypes.c_char_p * 3)(b"lean", b"--version", None))
ctypes.CDLL(None).fflush(None)
os._exit(code)
"""


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A Lake project and the toolchain that it uses."""

    folder: Path
    toolchain: Toolchain
    search_path: tuple[Path, ...]
    """Folders of compiled modules, as `lake env` says, and the toolchain's own last."""

    def library(self, imports: Iterable[str]) -> CoreLibrary:
        """Return `imports` and all that they import, each after what it imports.

        Raises:
            BadProblem: a module is not compiled, or lacks a part, or its parts are of several builds.
        """
        modules: dict[str, tuple[Path, ...]] = {}
        imports = tuple(imports)
        stack = [(name, False) for name in reversed(imports)]
        opened: dict[str, tuple[Path, ...]] = {}
        while stack:
            name, is_ready = stack.pop()
            if name in modules:
                continue
            if is_ready:
                modules[name] = opened[name]
            elif name not in opened:
                first = self._find(name)
                head = _head_of(first)
                opened[name] = _parts_of(first) if head.is_in_parts else (first,)
                stack.append((name, True))
                stack += [(below, False) for below in head.imports]
        return self._library(imports, modules)

    def _find(self, name: str) -> Path:
        """Return the first file of a module, where Lean looks for it: in the first folder that has its package."""
        package, *_ = parts = name.split(".")
        for folder in self.search_path:
            if (folder / package).is_dir() or (folder / f"{package}.olean").is_file():
                path = folder.joinpath(*parts[:-1], f"{parts[-1]}.olean")
                if path.is_file():
                    return path
                break
        raise BadProblem(f"the project has no compiled module {name}", hint=f"run `lake build` in {self.folder}")

    def _library(self, imports: tuple[str, ...], modules: dict[str, tuple[Path, ...]]) -> CoreLibrary:
        size = sum(path.stat().st_size for paths in modules.values() for path in paths)
        found = [
            CoreModule(
                name=name,
                artifact=paths[0],
                more=paths[1:],
                digest=_digest(paths),
                source=self._source(name),
            )
            for name, paths in modules.items()
        ]
        digest = hashlib.sha256(self.toolchain.id.encode())
        for module in found:
            digest.update(f"\0{module.name}\0{module.digest}".encode())
        return CoreLibrary(
            folder=self.search_path[0],
            id=f"{ID_PREFIX}{digest.hexdigest()[:24]}",
            modules=tuple(found),
            imports=imports,
            is_embedded=False,
            more_folders=self.search_path[1:],
            imported_bytes=size if size > _replayed_mb() << 20 else 0,
        )

    def _source(self, name: str) -> Path | None:
        """Return the text of one of the project's own modules."""
        path = self.folder.joinpath(*name.split(".")).with_suffix(".lean")
        return path if path.is_file() else None


def open_project(folder: Path) -> Project:
    """Return the project in `folder`.

    Raises:
        BadProblem: it is no Lake project.
        LeanUnavailable: `lake` is missing or fails, or the toolchain is not one that the judge knows.
    """
    if not any((folder / name).is_file() for name in ("lakefile.toml", "lakefile.lean")):
        raise BadProblem(f"{folder} holds no lakefile", hint="name the folder of a Lake project")
    if shutil.which("lake") is None:
        raise LeanUnavailable("lake is not on PATH", hint="install elan: https://lean-lang.org/install")
    prefix = Path(_lake(folder, "lean", "--print-prefix"))
    library = next((prefix / place for place in _LIBRARIES if (prefix / place).is_file()), None)
    if library is None:
        raise LeanUnavailable(f"the toolchain in {prefix} has no libleanshared.so", hint="use an official toolchain")
    version = _known_version(_lake(folder, "lean", "--version"), _version_of(library))
    path = [Path(part) for part in _lake(folder, "printenv", "LEAN_PATH").split(":") if part]
    with library.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Project(
        folder=folder,
        toolchain=Toolchain(
            library=library,
            version=version,
            id=f"lean-{version}-{digest[:16]}",
            checker=checker if (checker := prefix / "bin" / "leanchecker").is_file() else None,
        ),
        search_path=tuple((folder / part).resolve() for part in (*path, prefix / "lib" / "lean")),
    )


def _known_version(told: str, found: str) -> str:
    """Return the version if program and library are of one known build."""
    builds: list[tuple[str, str]] = []
    for text in (told, found):
        match = _VERSION.search(text)
        if match is None:
            raise LeanUnavailable(f"the toolchain does not say its version: {text[:200]!r}")
        builds.append((match["version"], match["commit"]))
    if builds[0] != builds[1]:
        raise LeanUnavailable(f"`lean` is {' '.join(builds[0])}, but its library is {' '.join(builds[1])}")
    version, commit = builds[0]
    if not any(version == one and full.startswith(commit) for one, full in KNOWN):
        known = ", ".join(f"{one} ({full[:12]})" for one, full in sorted(KNOWN))
        hint = f"this judge knows the layout of Lean {known} and guesses no other; use that in lean-toolchain"
        raise LeanUnavailable(f"Lean {version} (commit {commit[:12]}) is not known", hint=hint)
    return version


def _lake(folder: Path, *command: str) -> str:
    return _output(["lake", "env", *command], folder)


def _version_of(library: Path) -> str:
    return _output([sys.executable, "-I", "-c", _ASK, str(library)], library.parent)


def _output(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LeanUnavailable(f"`{' '.join(command[:4])}` does not run: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise LeanUnavailable(f"`{' '.join(command[:4])}` failed: {said[-1] if said else done.returncode}")
    return done.stdout.strip()


def _replayed_mb() -> int:
    """Return ADAPTER_REPLAY_MB, else what is usual."""
    chosen = os.environ.get("ADAPTER_REPLAY_MB", str(REPLAYED_MB))
    if not chosen.isdecimal():
        raise BadProblem(f"ADAPTER_REPLAY_MB is {chosen!r} and no number of megabytes")
    return int(chosen)


def _head_of(path: Path) -> Head:
    try:
        return read_head(path.read_bytes(), version=LEAN_VERSION, most=MAX_TRUSTED_BYTES)
    except Refused as refusal:
        raise BadProblem(f"{path} cannot be read: {refusal.reason}", hint=_AGAIN) from None


def _parts_of(first: Path) -> tuple[Path, ...]:
    """Return the files of a module in parts, the one with everything last."""
    paths = first, *(first.with_name(f"{first.name}.{part}") for part in ("server", "private"))
    heads: list[bytes] = []
    for path in paths:
        if not path.is_file():
            raise BadProblem(f"{first} is a part of a module, and {path.name} is missing", hint=_AGAIN)
        with path.open("rb") as file:
            heads.append(file.read(HEADER_BYTES))
    try:
        part_starts(heads, [path.stat().st_size for path in paths])
    except Refused as refusal:
        raise BadProblem(f"{first} cannot be read: {refusal.reason}", hint=_AGAIN) from None
    return paths


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()
