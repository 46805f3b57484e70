"""Tool calls of agents and the news that goes with each reply."""

from bus.messages import Event

from .in_redis import EpisodeStore
from .types import CallToken, DeltaPage


class Calls:
    """Delivery: an event counts as received only when a later call of the agent proves it."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def begin_call(self, episode: str, agent: str, *, renew_ttl_s: float | None = None) -> CallToken:
        """Count a call and commit what earlier replies delivered, unless another call of the agent is in flight.

        Works on an ended episode too, so that agents can go on reading; the token has its status.
        With `renew_ttl_s` the agent's leases last at least that long from now.

        Raises:
            UnknownId: no such episode, or the agent has not joined.
        """
        raise NotImplementedError

    async def end_call(self, token: CallToken, *, is_delivered: bool = True) -> None:
        """End a call. `is_delivered` is false when the reply cannot have reached the agent: its news is sent again."""
        raise NotImplementedError

    async def deltas(self, token: CallToken, limit_bytes: int = 1500) -> list[Event]:
        """Return what happened since the last reply proven received and concerns this agent; see `delta_page`."""
        raise NotImplementedError

    async def delta_page(self, token: CallToken, limit_bytes: int = 1500) -> DeltaPage:
        """Return the same with the marks that a reply should carry; it counts as shown when the call ends."""
        raise NotImplementedError
