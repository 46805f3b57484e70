"""Sending the events of one episode to one subscriber that may be slow."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeAlias

import anyio
import msgspec
import structlog

from .errors import AdapterError
from .inbox import Inbox
from .jsonrpc import encode_notification
from .messages import Event, EventNotice, EventsEnd, EventsGap

log = structlog.get_logger(__name__)

Batches: TypeAlias = AsyncGenerator[list[Event], None]
Feed: TypeAlias = Callable[[str, int], Awaitable[Batches]]
"""Given an episode and the number of the last known event, return what came and comes after it, in order.

Raises UnknownId at once for an episode that does not exist; the batches end when nothing can follow.
"""
Send: TypeAlias = Callable[[bytes], Awaitable[None]]


class Subscription:
    """One subscriber's share of a feed.

    The feed is never held up by a slow subscriber: when the inbox is full the rest is not read, what is in the inbox is
    still sent, and `events.gap` tells where to subscribe again.
    """

    def __init__(self, *, name: str, episode: str, from_seq: int) -> None:
        self.name = name
        self._episode = episode
        self._inbox = Inbox(last_seq=from_seq)
        self._is_cancelled = False
        self._batches: Batches | None = None

    async def open(self, feed: Feed, /) -> None:
        """Ask for the feed.

        Raises:
            UnknownId: no such episode.
        """
        self._batches = await feed(self._episode, self._inbox.last_seq)

    def cancel(self) -> None:
        """Stop after the notification that is on its way; how it ended is not said."""
        self._is_cancelled = True
        self._inbox.drop()

    async def run(self, send: Send, /) -> None:
        """Send everything, then say how it ended. Only after `open`."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._collect)
            while (event := await self._inbox.take()) is not None:
                await send(self._notice(event))
            tasks.cancel_scope.cancel()
        if not self._is_cancelled:
            await send(self._last_word())

    async def _collect(self) -> None:
        assert self._batches is not None, "the feed is not open"
        try:
            async with contextlib.aclosing(self._batches) as batches:
                async for batch in batches:
                    if not all(self._inbox.put(event) for event in batch):
                        return
            self._inbox.end("end")
        except AdapterError as error:
            log.warning("feed_broke", episode=self._episode, code=error.code, reason=error.message)
            self._inbox.end("gap")

    def _notice(self, event: Event) -> bytes:
        return encode_notification("event", params=EventNotice(**msgspec.structs.asdict(event), subscription=self.name))

    def _last_word(self) -> bytes:
        if self._inbox.ending == "end":
            end = EventsEnd(episode=self._episode, subscription=self.name)
            return encode_notification("events.end", params=end)
        gap = EventsGap(episode=self._episode, resume_from=self._inbox.last_seq, subscription=self.name)
        return encode_notification("events.gap", params=gap)
