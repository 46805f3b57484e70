"""An episode as a whole: taken out of one store, put into another."""

from collections.abc import Sequence

import msgspec

from bus.errors import BadArguments

from .chain import Entry, Link, follow
from .in_redis import EpisodeStore

_PAGE_ENTRIES = 1_000


class EpisodeArchive(msgspec.Struct, frozen=True, kw_only=True):
    """An episode at one moment.

    Attributes:
        episode: its id.
        entries: its log.
        keys: what the store holds of it, by name within the episode, in the store's own form.
    """

    episode: str
    entries: tuple[Entry, ...]
    keys: dict[str, bytes]


class Archives:
    """Taking episodes out and putting them in. Records of repeated operations and calls in flight stay behind."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def archive(self, episode: str) -> EpisodeArchive:
        """Take a copy of an episode.

        Raises:
            UnknownId: there is no such episode.
        """
        last_seq, keys = await self._store.dump(episode)
        entries: list[Entry] = []
        while len(entries) < last_seq:
            wanted = min(last_seq - len(entries), _PAGE_ENTRIES)
            page = await self._store.entries(episode, entries[-1].seq if entries else 0, wanted)
            entries += [entry for entry in page if entry.seq <= last_seq]
            if not page or page[-1].seq >= last_seq:
                break
        return EpisodeArchive(episode=episode, entries=tuple(entries), keys=keys)

    async def restore(self, archive: EpisodeArchive) -> None:
        """Put an episode in under its id; what was put in is verified against the archive's log.

        Raises:
            Duplicate: there is an episode with the id.
            BadArguments: the log's chain is broken (facts: seq), or the store's part does not fit it or this store.
        """
        tip = verified(archive.entries)
        await self._store.load(archive.episode, archive.keys)
        (found,) = await self._store.read(archive.episode, ("HMGET", "meta", "seq", "head"))
        stored = await self._store.entries(archive.episode, 0, tip.seq + 1)
        if [int(found[0]), found[1].decode()] != [tip.seq, tip.hash] or tuple(stored) != archive.entries:
            await self._store.remove(archive.episode, tuple(archive.keys))
            raise BadArguments("the archive's state does not belong to its log", hint="export the episode again")

    async def discard(self, archive: EpisodeArchive) -> None:
        """Take back what `restore` has put in."""
        await self._store.remove(archive.episode, tuple(archive.keys))


def verified(entries: Sequence[Entry]) -> Link:
    """Return the end of a log that begins with its first entry.

    Raises:
        BadArguments: the chain is broken (facts: seq).
    """
    followed = follow(Link(), entries)
    if isinstance(followed, int):
        raise BadArguments(f"the log is broken at event {followed}", seq=followed)
    return followed
