"""Adapter versions on disk: `adapters/<id>` holds exactly the files that have this id, or it is not used."""

import os
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from bus.errors import BadDataFolder, UnknownId

from .bundle import MAX_BUNDLE_BYTES, Bundle, bundle_id, read_bundle

_INCOMING = ".incoming-"
_FORGOTTEN_S = 3600


def read_files(folder: Path) -> dict[str, bytes]:
    """The files of a version, path → content, not looked into.

    Raises:
        BadDataFolder: if there is no such folder, something else than files is in it, or they are too large.
    """
    if not folder.is_dir():
        raise BadDataFolder(f"{folder} is not a folder", hint="name the folder of an adapter version")
    files: dict[str, bytes] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        state, name = path.lstat(), path.relative_to(folder).as_posix()
        if stat.S_ISDIR(state.st_mode):
            continue
        if not stat.S_ISREG(state.st_mode):
            kind = "a link" if stat.S_ISLNK(state.st_mode) else "no plain file"
            raise BadDataFolder(f"adapter version in {folder}: {name} is {kind}")
        size += state.st_size
        if size > MAX_BUNDLE_BYTES:
            raise BadDataFolder(f"adapter version in {folder} is larger than {MAX_BUNDLE_BYTES} bytes")
        files[name] = path.read_bytes()
    return files


def load_bundle(folder: Path) -> Bundle:
    """Read a version and check it whole.

    Raises:
        BadDataFolder: if something is missing, misspelt, out of bounds or too large.
    """
    return read_bundle(read_files(folder), place=f"adapter version in {folder}")


def stage_bundle(source: Path, adapters: Path) -> Bundle:
    """Check a version and keep a copy of it as `adapters/<id>`; a whole copy that is there already is left alone.

    Raises:
        BadDataFolder: as `load_bundle`, or if the copy cannot be written.
    """
    return stage_files(read_files(source), adapters, place=f"adapter version in {source}")


def stage_files(files: Mapping[str, bytes], adapters: Path, *, place: str = "adapter version") -> Bundle:
    """The same from the files of a version, path → content.

    Raises:
        BadDataFolder: as `stage_bundle`.
    """
    bundle = read_bundle(files, place=place)
    target = adapters / bundle.id
    try:
        if not _is_whole(target):
            _write(files, target)
    except OSError as error:
        raise BadDataFolder(
            f"cannot keep the adapter version in {adapters}: {error.strerror or error}",
            hint="name a data folder that you can write to with --data",
        ) from error
    return bundle


def open_bundle(adapters: Path, version: str) -> Bundle:
    """A staged version, by id.

    Raises:
        UnknownId: if it was never staged.
        BadDataFolder: if its content no longer has that id.
    """
    folder = adapters / version
    if version not in (staged := staged_ids(adapters)):
        raise UnknownId(f"no adapter version {version!r}", nearest=staged[:3])
    try:
        bundle = load_bundle(folder)
    except OSError as error:
        raise BadDataFolder(f"cannot read {folder}: {error.strerror or error}") from error
    if bundle.id != version:
        raise BadDataFolder(f"adapter version {version} was changed on disk", hint="stage it again")
    return bundle


def staged_ids(adapters: Path) -> list[str]:
    """What was staged, whole or not."""
    return sorted(path.name for path in adapters.glob("ab1-*") if path.is_dir())


def _is_whole(folder: Path) -> bool:
    try:
        return folder.is_dir() and bundle_id(read_files(folder)) == folder.name
    except (BadDataFolder, OSError):
        return False


def _write(files: Mapping[str, bytes], target: Path) -> None:
    """Make `target` appear at once and with all files on the disk; a damaged one is replaced."""
    adapters = target.parent
    adapters.mkdir(mode=0o700, parents=True, exist_ok=True)
    _collect(adapters)
    incoming = adapters / f"{_INCOMING}{uuid4().hex}"
    try:
        for path, content in files.items():
            copy = incoming / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for folder in (incoming, *(path for path in incoming.rglob("*") if path.is_dir())):
            sync_folder(folder)
        if target.exists():
            target.rename(adapters / f"{_INCOMING}{uuid4().hex}")
        incoming.rename(target)
        sync_folder(adapters)
    except OSError:
        if not _is_whole(target):  # somebody else was faster otherwise
            raise
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def _collect(adapters: Path) -> None:
    """Remove what a process that was killed has left."""
    for path in adapters.glob(f"{_INCOMING}*"):
        if time.time() - path.stat().st_mtime > _FORGOTTEN_S:
            shutil.rmtree(path, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
