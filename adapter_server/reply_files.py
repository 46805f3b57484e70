"""What agents were told, reply by reply: one chained file per episode that only grows.

A line is the SHA-256 of a record, a space, and the record as JSON. Each record names the hash of the one before it and
the head of the event log when its call began. A file that has grown is followed by another; the oldest go in the end.
"""

import hashlib
import os
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import msgspec
import structlog

from blackboard.board import Board
from blackboard.chain import Link
from bus.errors import AdapterError
from bus.tasks import background_tasks

GENESIS = "0" * 64
FOLDER = "replies"
FILE_BYTES = 8 << 20
FILES_KEPT = 16
OPEN_MAX = 64
SEAL_S, CLOSE_S = 10.0, 3.0
_TAIL_BYTES = 1 << 20
"""More than a line can have."""

log = structlog.get_logger()


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A reply as its agent got it.

    Attributes:
        number: 1, 2, 3 … in the episode.
        at_ms: Unix time.
        agent: who asked.
        tool: with which tool.
        is_error: whether it was marked as an error.
        ms: how long the server worked on it; None in files of before that was noted.
        seq: number of the last event when the call began; 0 when the log could not be read.
        head: hash of that event.
        text: every byte of it, as text.
        prev: hash of the record before.
    """

    number: int
    at_ms: int
    agent: str
    tool: str
    is_error: bool
    ms: int | None = None
    seq: int
    head: str
    text: str
    prev: str


class ReplyFile:
    """The replies of one episode, open for adding to them.

    What a crash left of a line was never sent to anybody, and is cut off. Where the file ends before what the store
    was told, the numbers in between stay missing.
    """

    def __init__(self, folder: Path, seal: Link) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        found = _end(folder)
        self.tip = found if found.seq >= seal.seq else seal
        path = next(iter(paths(folder)[-1:]), _path(folder, self.tip.seq + 1))
        self._file, self._size = _opened(path)

    def add(self, reply: Reply) -> None:
        """Append the reply that comes after the tip; when the disk does not take it, its number is missing for good."""
        record = msgspec.json.encode(reply)
        self.tip = Link(seq=reply.number, hash=hashlib.sha256(record).hexdigest())
        line = b"%b %b\n" % (self.tip.hash.encode(), record)
        if self._size and self._size + len(line) > FILE_BYTES:
            self._turn_over()
        try:
            written = os.write(self._file, line)
        except OSError as error:
            log.warning("reply_not_kept", folder=str(self._folder), number=reply.number, reason=error.strerror)
            return
        if written < len(line):
            os.ftruncate(self._file, self._size)
            log.warning("reply_not_kept", folder=str(self._folder), number=reply.number, reason="the disk is full")
            return
        self._size += written

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _turn_over(self) -> None:
        self.close()
        self._file, self._size = _opened(_path(self._folder, self.tip.seq))
        for old in paths(self._folder)[:-FILES_KEPT]:
            old.unlink()


class Replies:
    """The reply files of all episodes of a data folder; those in use are open."""

    def __init__(self, episodes: Path, board: Board) -> None:
        self._episodes = episodes
        self._board = board
        self._files: dict[str, ReplyFile] = {}
        self._sealed: dict[str, int] = {}

    async def keep(
        self, episode: str, head: Link, *, agent: str, tool: str, ms: int, is_error: bool, text: str
    ) -> None:
        """Append a reply to its episode's file; it is never withheld because that fails.

        `head` is the end of the log when the call began.
        """
        try:
            file = self._files.get(episode) or await self._open(episode)
            file.add(Reply(
                number=file.tip.seq + 1, at_ms=round(time.time() * 1000), agent=agent, tool=tool, ms=ms,
                is_error=is_error,
                seq=head.seq, head=head.hash, text=text, prev=file.tip.hash,
            ))  # fmt: skip
        except OSError as error:
            log.warning("reply_not_kept", episode=episode, reason=error.strerror)

    async def seal(self) -> None:
        """Tell the store how far the files go, so that a file that ends early shows."""
        for episode, file in list(self._files.items()):
            tip = file.tip
            if tip.seq > self._sealed.get(episode, 0):
                try:
                    await self._board.seal_replies(episode, tip.seq, tip.hash)
                except AdapterError as error:
                    log.warning("replies_not_sealed", episode=episode, code=error.code)
                    continue
                self._sealed[episode] = tip.seq

    async def close(self) -> None:
        """Seal all and let go of the files."""
        await self.seal()
        while self._files:
            self._files.popitem()[1].close()

    async def _open(self, episode: str) -> ReplyFile:
        seal = Link()
        with suppress(AdapterError):  # with the store away the file alone says how far it goes
            seal = await self._board.replies_seal(episode)
        if len(self._files) >= OPEN_MAX:
            await self.close()
        if episode not in self._files:  # another call may have opened it meanwhile
            self._files[episode] = ReplyFile(self._episodes / episode / FOLDER, seal)
        return self._files[episode]


@asynccontextmanager
async def open_replies(episodes: Path, board: Board) -> AsyncGenerator[Replies]:
    """Keep replies inside the block, sealed every few seconds and at its end."""
    replies = Replies(episodes, board)

    async def seal_on() -> None:
        while True:
            await anyio.sleep(SEAL_S)
            await replies.seal()

    try:
        async with background_tasks() as tasks:
            tasks.start_soon(seal_on)
            yield replies
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_S):
            await replies.close()


def paths(folder: Path) -> list[Path]:
    """Return the files of an episode's replies, oldest first."""
    return sorted(folder.glob("*.jsonl"))


def decoded(line: bytes) -> tuple[Reply, str] | None:
    """Return the record of a line and its hash, or None when the line was changed."""
    stated, _, record = line.partition(b" ")
    found = hashlib.sha256(record).hexdigest()
    try:
        return (msgspec.json.decode(record, type=Reply), found) if stated == found.encode() else None
    except msgspec.DecodeError:
        return None


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:012d}.jsonl"


def _opened(path: Path) -> tuple[int, int]:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    return file, os.fstat(file).st_size


def _end(folder: Path) -> Link:
    """The end of the chain; a changed line counts, so that its number stays missing."""
    changed = 0
    for path in reversed(paths(folder)):
        for line in _last_lines(path):
            if found := decoded(line):
                reply, sealed = found
                return Link(seq=reply.number + changed, hash=sealed)
            changed += 1
    return Link(seq=changed, hash=GENESIS)


def _last_lines(path: Path) -> Iterator[bytes]:
    """The last whole lines of a file, last first; what comes after them is cut off."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(max(0, size - _TAIL_BYTES))
        whole, _, rest = file.read().rpartition(b"\n")
        if rest:
            file.truncate(size - len(rest))
    yield from reversed(whole.split(b"\n") if whole else [])
