"""The ledger: one line per event, each sealing the one before it; one writer, any number of readers."""

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Protocol

import msgspec
import structlog

from adapter_server.staging import sync_folder
from bus.errors import BadLedger

from .anchor import BACKUP, Anchor, check_anchor, read_anchor, write_anchor
from .events import LedgerEvent

NO_LINE = "0" * 64
"""What the first line names as the hash of the line before it."""

log = structlog.get_logger()


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A line.

    Attributes:
        seq: counts from 1.
        at: seconds since 1970 by the writer's clock.
        prev: hash of the line before.
        event: what happened.
        hash: of all of the above.
    """

    seq: int
    at: float
    prev: str
    event: LedgerEvent
    hash: str = ""


class EventLog(Protocol):
    """Where a campaign writes; a ledger, or a list in memory."""

    @property
    def entries(self) -> list[Entry]:
        """All that was written, in order."""
        ...

    def append(self, event: LedgerEvent) -> Entry:
        """Write one event; it is durable when this returns."""
        ...


class Ledger:
    """A ledger file that this process alone may write."""

    def __init__(self, path: Path, entries: list[Entry], *, clock: Callable[[], float]) -> None:
        self._path = path
        self._clock = clock
        self._is_broken = False
        self.entries = entries

    def append(self, event: LedgerEvent) -> Entry:
        """Write one event; it is on disk when this returns.

        Raises:
            BadLedger: the disk refused; from then on every line is refused, since half of this one may be there.
        """
        if self._is_broken:
            raise BadLedger(f"{self._path} could not be written before", hint="start again")
        entry = sealed(event, after=self.entries[-1] if self.entries else None, at=self._clock())
        try:
            self._write(msgspec.json.encode(entry) + b"\n")
            write_anchor(self._path, Anchor(lines=entry.seq, head=entry.hash))
        except OSError as error:
            self._is_broken = True
            raise BadLedger(f"cannot write {self._path}: {error.strerror}", hint="make room, then run again") from error
        self.entries.append(entry)
        return entry

    def _write(self, line: bytes) -> None:
        with self._path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


@contextlib.contextmanager
def open_ledger(
    path: Path, *, clock: Callable[[], float] = time.time, kind: type[Ledger] = Ledger
) -> Generator[Ledger]:
    """Be the only writer of a ledger; a torn last line is set aside beside it.

    Raises:
        BadLedger: another process writes it, or a line was changed or cut off.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise BadLedger(
                f"another evolver (process {lock.read().strip() or 'unknown'}) writes {path}",
                hint="stop it first; status, show, report and verify work meanwhile",
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        if not path.exists():
            path.touch(mode=0o600)
            sync_folder(path.parent)
        entries, good, torn = _parsed(path)
        if torn:
            aside = _set_aside(path, good=good, torn=torn, seq=len(entries) + 1)
            log.warning("torn_line_set_aside", ledger=str(path), line=len(entries) + 1, kept=aside.name)
        yield kind(path, entries, clock=clock)


def read_ledger(path: Path) -> list[Entry]:
    """All whole lines, while somebody else may be writing.

    Raises:
        BadLedger: there is no ledger, or a line was changed or cut off.
    """
    if not path.is_file() and read_anchor(path) is None:
        raise BadLedger(f"there is no ledger at {path}", hint="make one with: adapter-server evolve init")
    return _parsed(path)[0]


def torn_line(path: Path) -> int | None:
    """The number of a last line that is not whole: it is being written, or a crash cut it off; None without one."""
    content = path.read_bytes()
    return content.count(b"\n") + 1 if content and not content.endswith(b"\n") else None


def sealed(event: LedgerEvent, *, after: Entry | None, at: float) -> Entry:
    """The line that follows another one; its event is as a reader of the line will see it."""
    event = msgspec.json.decode(msgspec.json.encode(event), type=LedgerEvent)
    entry = Entry(seq=after.seq + 1 if after else 1, at=at, prev=after.hash if after else NO_LINE, event=event)
    return msgspec.structs.replace(entry, hash=_hash(entry))


def _hash(entry: Entry) -> str:
    body = msgspec.json.encode((entry.seq, entry.at, entry.prev, entry.event))
    return hashlib.sha256(body).hexdigest()


def _parsed(path: Path) -> tuple[list[Entry], int, bytes]:
    """The entries, how many bytes they take, and what of a torn line follows them."""
    anchor = read_anchor(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    whole, torn = content[: content.rfind(b"\n") + 1], content[content.rfind(b"\n") + 1 :]
    entries: list[Entry] = []
    for number, line in enumerate(whole.split(b"\n")[:-1], start=1):
        entries.append(_checked(line, number=number, before=entries[-1] if entries else None, path=path))
    check_anchor(path, anchor, [entry.hash for entry in entries])
    return entries, len(whole), torn


def _checked(line: bytes, *, number: int, before: Entry | None, path: Path) -> Entry:
    try:
        entry = msgspec.json.decode(line, type=Entry)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _broken(path, number, f"cannot be read: {error}") from error
    if entry.seq != number:
        raise _broken(path, number, f"has the number {entry.seq}: lines are missing or were moved")
    if entry.prev != (before.hash if before else NO_LINE):
        raise _broken(path, number, "does not follow the line before it")
    if entry.hash != _hash(entry) or msgspec.json.encode(entry) != line:
        raise _broken(path, number, "was changed")
    return entry


def _broken(path: Path, number: int, what: str) -> BadLedger:
    return BadLedger(f"line {number} of {path} {what}", hint=BACKUP, line=number)


def _set_aside(path: Path, *, good: int, torn: bytes, seq: int) -> Path:
    aside = path.with_name(f"{path.name}.torn-{seq}-{hashlib.sha256(torn).hexdigest()[:8]}")
    with aside.open("wb") as file:
        file.write(torn)
        file.flush()
        os.fsync(file.fileno())
    with path.open("r+b") as file:
        file.truncate(good)
        os.fsync(file.fileno())
    return aside
