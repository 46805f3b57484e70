"""The event log: reading it, waiting for it, proving that nobody changed it."""

from typing import cast

import anyio
import msgspec

from bus.messages import Event, EventKind

from .chain import Entry, Link, follow
from .in_redis import EpisodeStore
from .wakeup import Tails

_PAGE_ENTRIES = 1_000


class Log:
    """The hash-chained log of an episode, the only truth about it."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store
        self._tails = Tails(store)

    async def events(self, episode: str, after_seq: int = 0, limit: int = 500) -> list[Event]:
        """Return events in order, the first one after `after_seq`."""
        return [as_event(episode, entry) for entry in await self._store.entries(episode, after_seq, limit)]

    async def wait(self, episode: str, after_seq: int, timeout_s: float) -> list[Event]:
        """Return events after `after_seq` as soon as there are any; empty when the time is over."""
        if await self.last_seq(episode) > after_seq:
            return await self.events(episode, after_seq)
        with anyio.move_on_after(timeout_s):
            entries = await self._tails.entries_after(episode, after_seq)
            return [as_event(episode, entry) for entry in entries]
        return []

    async def last_seq(self, episode: str) -> int:
        """Return the number of the last event."""
        (seq,) = await self._store.read(episode, ("HGET", "meta", "seq"))
        return int(seq)

    async def links(self, episode: str, after_seq: int, limit: int) -> list[Link]:
        """Return numbers and hashes of events in order, as the log has them."""
        return [Link(seq=one.seq, hash=one.hash) for one in await self._store.entries(episode, after_seq, limit)]

    async def seal_replies(self, episode: str, number: int, hash: str) -> None:  # noqa: A002
        """Remember how far the kept replies go; an earlier number than before changes nothing."""
        await self._store.ask("seal_replies", episode=episode, args={"number": number, "hash": hash})

    async def replies_seal(self, episode: str) -> Link:
        """Return how far the kept replies went when somebody last said so; their number is the link's `seq`."""
        (found,) = await self._store.read(episode, ("HMGET", "meta", "replies", "replies_hash"))
        return Link(seq=int(found[0] or 0), hash=(found[1] or b"").decode())

    async def verify_chain(self, episode: str) -> int | None:
        """Return the number of the first event that is changed or missing, or None."""
        (tip,) = await self._store.read(episode, ("HMGET", "meta", "seq", "head"))
        link = Link()
        while link.seq < int(tip[0]):
            entries = await self._store.entries(episode, link.seq, _PAGE_ENTRIES)
            followed = follow(link, entries)
            if isinstance(followed, int):
                return followed
            if followed == link:
                return link.seq + 1
            link = followed
        is_whole = link.seq > int(tip[0]) or link.hash == tip[1].decode()
        return None if is_whole else link.seq


def as_event(episode: str, entry: Entry) -> Event:
    """Return the entry as agents and programs outside see it."""
    return Event(
        episode=episode,
        seq=entry.seq,
        kind=cast(EventKind, entry.kind),
        actor=entry.actor,
        at_ms=int(entry.at_ms),
        body=msgspec.json.decode(entry.body),
    )
