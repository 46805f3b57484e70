"""The folder that holds everything a daemon must not forget."""

import contextlib
import json
import os
import secrets
from collections.abc import Generator
from pathlib import Path

import msgspec

from bus.errors import BadDataFolder

FORMAT = "adapter-server data 1\n"


class ServerNote(msgspec.Struct, frozen=True, kw_only=True):
    """Content of server.json: how to reach the daemon that uses the folder now.

    Attributes:
        url: its address.
        pid: its process; after a crash the note stays, and no such process exists.
        adapter: id of the version for all episodes that name none; empty when they get the one in use.
    """

    url: str
    pid: int
    adapter: str = ""


class DataFolder(msgspec.Struct, frozen=True, kw_only=True):
    """Where things are in a data folder.

    Attributes:
        path: the folder itself, absolute.
    """

    path: Path

    @property
    def format_file(self) -> Path:
        """The version of the layout."""
        return self.path / "format"

    @property
    def token_file(self) -> Path:
        """The operator's bearer token for the bus; readable by the owner only."""
        return self.path / "operator.token"

    @property
    def server_file(self) -> Path:
        """Present while a daemon runs, and after one was killed."""
        return self.path / "server.json"

    @property
    def store(self) -> Path:
        """Embedded store: append-only file, log, locks, and the socket if its path is short enough."""
        return self.path / "store"

    @property
    def adapters(self) -> Path:
        """Adapter versions, one folder each."""
        return self.path / "adapters"

    @property
    def episodes(self) -> Path:
        """Episodes, one folder each."""
        return self.path / "episodes"

    @property
    def scratch(self) -> Path:
        """For running checks; empty after a clean stop."""
        return self.path / "scratch"

    def operator_token(self) -> str:
        """Return the operator's token, made on the first use."""
        with _told(self.path):
            if not self.token_file.exists():
                _write_private(self.token_file, secrets.token_urlsafe(32) + "\n")
            self.token_file.chmod(0o600)
            return self.token_file.read_text().strip()

    def announce(self, *, url: str, adapter: str = "") -> None:
        """Write server.json for this process."""
        with _told(self.path):
            note = {"url": url, "pid": os.getpid(), "adapter": adapter}
            _write_private(self.server_file, json.dumps(note) + "\n")

    def withdraw(self) -> None:
        """Remove server.json if it is of this process."""
        if (note := self.server()) is not None and note.pid == os.getpid():
            self.server_file.unlink(missing_ok=True)

    def server(self) -> ServerNote | None:
        """Read server.json; an unreadable one counts as none."""
        try:
            return msgspec.json.decode(self.server_file.read_bytes(), type=ServerNote)
        except (OSError, msgspec.DecodeError, UnicodeError):
            return None


def open_data_folder(path: Path) -> DataFolder:
    """Open a data folder; a missing or empty one is laid out.

    Raises:
        BadDataFolder: it holds something else or another version, or cannot be written.
    """
    folder = DataFolder(path=path.expanduser().absolute())
    with _told(folder.path):
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_format(folder)
        for part in (folder.store, folder.adapters, folder.episodes, folder.scratch):
            part.mkdir(mode=0o700, exist_ok=True)
    return folder


def _check_format(folder: DataFolder) -> None:
    if folder.format_file.is_file():
        found = folder.format_file.read_text(errors="replace")
        if found != FORMAT:
            raise BadDataFolder(
                f"{folder.path} was made by another version: its format is {found[:80].strip()!r}, "
                f"this program knows {FORMAT.strip()!r}",
                hint="use another folder with --data, or the version that made this one",
            )
        return
    foreign = sorted(entry.name for entry in folder.path.iterdir() if not entry.name.startswith(".new-"))
    if foreign:
        raise BadDataFolder(
            f"{folder.path} is not a data folder: it has no format file but contains {', '.join(foreign[:3])}",
            hint="name an empty or a new folder with --data",
        )
    folder.path.chmod(0o700)
    _write_private(folder.format_file, FORMAT)


def _write_private(path: Path, text: str) -> None:
    """Replace a file in one step: readers see the old text or the new one, and so does the next start after a crash."""
    temporary = path.with_name(f".new-{path.name}-{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


@contextlib.contextmanager
def _told(path: Path) -> Generator[None]:
    """Turn what the file system refuses into an error that names the folder."""
    try:
        yield
    except OSError as error:
        raise BadDataFolder(
            f"cannot use {path} as the data folder: {error.strerror or error}",
            hint="name a folder that you can write to with --data",
        ) from error
