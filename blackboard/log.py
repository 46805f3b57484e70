"""The event log: reading it, waiting for it, proving that nobody changed it."""

from bus.messages import Event

from .in_redis import EpisodeStore


class Log:
    """The hash-chained log of an episode, the only truth about it."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def events(self, episode: str, after_seq: int = 0, limit: int = 500) -> list[Event]:
        """Return events in order, the first one after `after_seq`."""
        raise NotImplementedError

    async def wait(self, episode: str, after_seq: int, timeout_s: float) -> list[Event]:
        """Return the events after `after_seq` as soon as there are any; empty when the time is over."""
        raise NotImplementedError

    async def last_seq(self, episode: str) -> int:
        """Return the number of the last event."""
        raise NotImplementedError

    async def verify_chain(self, episode: str) -> int | None:
        """Return the number of the first event that is changed or missing, or None."""
        raise NotImplementedError
