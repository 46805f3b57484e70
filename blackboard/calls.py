"""Tool calls of agents and the news that goes with each reply."""

from uuid import uuid4

import msgspec

from bus.messages import Event

from .deliveries import extend, may_concern
from .in_redis import EpisodeStore
from .keys import calls_key
from .log import as_event
from .types import CallToken, DeltaPage

_CALL_MAX_MS = 120_000  # no call lasts that long: one that is older died with its server
_PAGE_ENTRIES = 64


class Calls:
    """Delivery: an event counts as received only when a later call of the agent proves it."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store
        self._shown: dict[str, tuple[int, bool]] = {}

    async def begin_call(self, episode: str, agent: str, *, renew_ttl_s: float | None = None) -> CallToken:
        """Count a call and commit what earlier replies delivered, unless another call of the agent is in flight.

        Works on an ended episode too, so that agents can go on reading; the token has its status.
        With `renew_ttl_s` the agent's leases last at least that long from now.

        Raises:
            UnknownId: no such episode, or the agent has not joined.
        """
        renew_ms = None if renew_ttl_s is None else round(renew_ttl_s * 1000)
        args = {"agent": agent, "call": uuid4().hex, "call_max_ms": _CALL_MAX_MS, "renew_ms": renew_ms}
        keys = [calls_key(episode, agent)]
        reply = await self._store.ask("begin_call", episode=episode, args=args, extra_keys=keys)
        return msgspec.json.decode(reply, type=CallToken)

    async def end_call(self, token: CallToken, *, is_delivered: bool = True) -> None:
        """End a call. `is_delivered` is false when the reply cannot have reached the agent: its news is sent again."""
        up_to, has_news = self._shown.pop(token.call, (0, False))
        args = {"agent": token.agent, "call": token.call, "up_to": up_to, "is_delivered": is_delivered}
        args |= {"has_news": has_news}
        keys = [calls_key(token.episode, token.agent)]
        await self._store.ask("end_call", episode=token.episode, args=args, extra_keys=keys)

    async def deltas(self, token: CallToken, limit_bytes: int = 1500) -> list[Event]:
        """Return what happened since the last reply proven received and concerns this agent; see `delta_page`."""
        return list((await self.delta_page(token, limit_bytes)).events)

    async def delta_page(self, token: CallToken, limit_bytes: int = 1500) -> DeltaPage:
        """Return the same with the marks that a reply should carry; it counts as shown when the call ends."""
        page = DeltaPage(up_to=token.committed)
        read_to, is_end = token.committed, False
        while not (is_end or page.left_out):
            entries = await self._store.entries(token.episode, read_to, _PAGE_ENTRIES)
            events = [
                as_event(token.episode, entry) for entry in entries if may_concern(entry.kind, entry.actor, token.agent)
            ]
            read_to = entries[-1].seq if entries else read_to
            page = extend(page, token, events, limit_bytes)
            is_end = len(entries) < _PAGE_ENTRIES
        if not page.left_out:
            page = msgspec.structs.replace(page, up_to=read_to)
        self._shown[token.call] = (page.up_to, bool(page.events))
        return page
