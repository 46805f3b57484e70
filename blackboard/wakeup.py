"""Many waiters on one episode share one blocking read.

There is no task of its own for it: one of the waiters reads for all, and another takes over when it leaves.
"""

from collections import deque

import anyio

from bus.errors import AdapterError, error_from_fields

from .chain import Entry
from .in_redis import EpisodeStore

_BLOCK_S = 5.0
_BATCH_ENTRIES = 500
_REMEMBERED_ENTRIES = 1_000


class _Tail:
    """The end of one episode's log, followed as long as somebody waits."""

    def __init__(self) -> None:
        self.waiters = 0
        self.is_led = False
        self.seq = -1
        self.recent: deque[Entry] = deque(maxlen=_REMEMBERED_ENTRIES)
        self.failure: AdapterError | None = None
        self.moved = anyio.Event()

    def wake(self) -> None:
        moved, self.moved = self.moved, anyio.Event()
        moved.set()

    def remembers(self, after_seq: int) -> bool:
        return bool(self.recent) and self.recent[0].seq <= after_seq + 1


class Tails:
    """Follows the logs of those episodes in which somebody waits."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store
        self._tails: dict[str, _Tail] = {}

    async def entries_after(self, episode: str, after_seq: int) -> list[Entry]:
        """Wait, without a deadline of its own, until there are entries after `after_seq`, and return some of them.

        When the store goes away, all waiters get StorageUnavailable.
        """
        tail = self._tails.setdefault(episode, _Tail())
        tail.waiters += 1
        try:
            while tail.seq <= after_seq:
                await self._follow(episode, tail)
        finally:
            tail.waiters -= 1
            if not tail.waiters or tail.failure:
                self._forget(episode, tail)
        if tail.remembers(after_seq):
            return [entry for entry in tail.recent if entry.seq > after_seq]
        return await self._store.entries(episode, after_seq, _BATCH_ENTRIES)

    def _forget(self, episode: str, tail: _Tail) -> None:
        if self._tails.get(episode) is tail:
            del self._tails[episode]

    async def _follow(self, episode: str, tail: _Tail) -> None:
        if tail.failure:
            raise error_from_fields(tail.failure.to_fields())
        if tail.is_led:
            await tail.moved.wait()
            return
        tail.is_led = True
        try:
            await self._read_on(episode, tail)
        except AdapterError as failure:
            tail.failure = failure
            raise
        finally:
            tail.is_led = False
            tail.wake()

    async def _read_on(self, episode: str, tail: _Tail) -> None:
        if tail.seq < 0:
            (seq,) = await self._store.read(episode, ("HGET", "meta", "seq"))
            tail.seq = int(seq)
            return
        entries = await self._store.next_entries(episode, tail.seq, limit=_BATCH_ENTRIES, block_s=_BLOCK_S)
        tail.recent.extend(entries)
        tail.seq = entries[-1].seq if entries else tail.seq
