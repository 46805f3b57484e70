"""Many waiters on one episode share one blocking read."""

from collections import deque
from collections.abc import Sequence

import anyio
from anyio.abc import TaskGroup

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
        self.seq = -1
        self.recent: deque[Entry] = deque(maxlen=_REMEMBERED_ENTRIES)
        self.failure: AdapterError | None = None
        self.moved = anyio.Event()

    def move(self, entries: Sequence[Entry]) -> None:
        if entries:
            self.recent.extend(entries)
            self.seq = entries[-1].seq
            self.wake()

    def wake(self) -> None:
        moved, self.moved = self.moved, anyio.Event()
        moved.set()

    def remembers(self, after_seq: int) -> bool:
        return bool(self.recent) and self.recent[0].seq <= after_seq + 1


class Tails:
    """Follows the logs of those episodes in which somebody waits. Its tasks live in the group it is given."""

    def __init__(self, store: EpisodeStore, tasks: TaskGroup) -> None:
        self._store = store
        self._tasks = tasks
        self._tails: dict[str, _Tail] = {}

    async def entries_after(self, episode: str, after_seq: int) -> list[Entry]:
        """Wait, without a deadline of its own, until there are entries after `after_seq`, and return some of them."""
        tail = self._tails.get(episode)
        if tail is None:
            tail = self._tails[episode] = _Tail()
            self._tasks.start_soon(self._follow, episode, tail)
        tail.waiters += 1
        try:
            while tail.seq <= after_seq:
                moved = tail.moved
                if tail.failure:
                    raise error_from_fields(tail.failure.to_fields())
                await moved.wait()
        finally:
            tail.waiters -= 1
        if tail.remembers(after_seq):
            return [entry for entry in tail.recent if entry.seq > after_seq]
        return await self._store.entries(episode, after_seq, _BATCH_ENTRIES)

    async def _follow(self, episode: str, tail: _Tail) -> None:
        try:
            (seq,) = await self._store.read(episode, ("HGET", "meta", "seq"))
            tail.seq = int(seq)
            tail.wake()
            while tail.waiters:
                tail.move(await self._store.next_entries(episode, tail.seq, limit=_BATCH_ENTRIES, block_s=_BLOCK_S))
        except AdapterError as failure:
            tail.failure = failure
        finally:
            if self._tails.get(episode) is tail:
                del self._tails[episode]
            tail.wake()
