"""A bounded queue of events that would rather end than grow or make its writer wait."""

from collections import deque
from typing import Literal, TypeAlias

import anyio

from .errors import AdapterError
from .messages import Event

INBOX_CAP_EVENTS = 1024

Ending: TypeAlias = Literal["gap", "end"] | AdapterError
"""gap: more events exist than fitted. end: there will be no more. An error: why there are none."""


class Inbox:
    """Events for one reader.

    Attributes:
        ending: why no more events come in; those that are in are still read first.
        last_seq: number of the last event that came in.
    """

    def __init__(self, *, last_seq: int = 0, cap_events: int = INBOX_CAP_EVENTS) -> None:
        self.ending: Ending | None = None
        self.last_seq = last_seq
        self._cap_events = cap_events
        self._events: deque[Event] = deque()
        self._changed = anyio.Event()

    def put(self, event: Event, /) -> bool:
        """Take an event in; False when the inbox has ended, or ends now because it is full."""
        if self.ending is not None:
            return False
        if len(self._events) >= self._cap_events:
            self.end("gap")
            return False
        self._events.append(event)
        self.last_seq = event.seq
        self._changed.set()
        return True

    def end(self, ending: Ending, /) -> None:
        """Take nothing in from now on; the first reason stays."""
        if self.ending is None:
            self.ending = ending
            self._changed.set()

    async def take(self) -> Event | None:
        """Wait for the next event; None when the inbox has ended and is empty. For one reader at a time."""
        while not self._events:
            if self.ending is not None:
                return None
            self._changed = anyio.Event()
            await self._changed.wait()
        return self._events.popleft()

    def drop(self) -> None:
        """End, and throw away what was not taken."""
        self._events.clear()
        self.end("end")
