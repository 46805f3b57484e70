"""Past replies, read back and compared with their own chain, the event log and the store's seal."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from blackboard.board import Board
from blackboard.chain import Link
from bus.errors import Gone, UnknownId

from .reply_files import FOLDER, GENESIS, Reply, decoded, paths

_PAGE_LINKS = 1_000


class PastReplies(msgspec.Struct, frozen=True, kw_only=True):
    """The replies that are kept of an episode.

    Attributes:
        replies: oldest first, those before a break.
        first: number of the oldest that is kept; older ones were removed when the files had grown.
        last: number of the last one that was written.
        broken_at: the first that is missing or was changed.
    """

    replies: list[Reply]
    first: int
    last: int
    broken_at: int | None

    def reply(self, number: int) -> Reply:
        """Return one of them.

        Raises:
            UnknownId: there is no such reply yet.
            Gone: it is not there any more, or it comes after a break and nothing says that it is true.
        """
        if not 0 < number <= self.last:
            raise UnknownId(f"there is no reply {number}", hint=f"the last one is {self.last}")
        if number < self.first:
            raise Gone(f"reply {number} is not kept any more", replacement=self.first)
        if self.broken_at is not None and number >= self.broken_at:
            raise Gone(f"reply {self.broken_at} is missing or was changed", replacement=None, broken_at=self.broken_at)
        return self.replies[number - self.first]


async def past_replies(board: Board, episode: str, folder: Path) -> PastReplies:
    """Read what is kept of an episode below `folder`, its own folder.

    Raises:
        UnknownId: there is no such episode.
    """
    # In this order: a server may be writing, and nothing may look missing because it was read earlier.
    seal = await board.replies_seal(episode)
    files = paths(folder / FOLDER)
    lines = [line for path in files for line in _lines(path)]
    first = int(files[0].stem) if files else 1
    replies, hashes, broken_at = _chain(lines, first, await _heads(board, episode))
    if broken_at is None and (broken_at := _unsealed(seal, first, hashes)) is not None:
        replies = replies[: broken_at - first]
    last = max(first + len(lines) - 1, seal.seq)
    return PastReplies(replies=replies, first=first, last=last, broken_at=broken_at)


def _lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file: what a crash left of one at the end was never sent."""
    yield from path.read_bytes().split(b"\n")[:-1]


async def _heads(board: Board, episode: str) -> dict[int, str]:
    found: dict[int, str] = {0: ""}
    while links := await board.links(episode, max(found), _PAGE_LINKS):
        found |= {link.seq: link.hash for link in links}
    return found


def _chain(lines: list[bytes], first: int, heads: Mapping[int, str]) -> tuple[list[Reply], list[str], int | None]:
    """Replies and their hashes up to the first line that does not continue the chain, and its number."""
    replies: list[Reply] = []
    hashes: list[str] = [GENESIS]
    for number, line in enumerate(lines, first):
        found = decoded(line)
        if found is None:
            return replies, hashes[1:], number
        reply, sealed = found
        is_next = reply.number == number and (reply.prev == hashes[-1] or number == first > 1)
        if not is_next or heads.get(reply.seq) != reply.head:
            return replies, hashes[1:], number
        replies.append(reply)
        hashes.append(sealed)
    return replies, hashes[1:], None


def _unsealed(seal: Link, first: int, hashes: list[str]) -> int | None:
    """The first reply that the store knows of and that is not there, or is another."""
    if seal.seq < first:
        return None
    if seal.seq >= first + len(hashes):
        return first + len(hashes)
    return None if hashes[seal.seq - first] == seal.hash else seal.seq
