"""Which protocol sessions this process opened, and which of them it still has."""

from collections import deque

import anyio

IDLE_S = 1800.0
FORGET_EARLIER_S = 60.0
"""A session is forgotten here a little before the transport ends it, never after."""

KEPT = 1000


class KnownSessions:
    """Ids of sessions by the time of their last use."""

    def __init__(self, *, idle_s: float = IDLE_S, kept: int = KEPT) -> None:
        self._good_s = idle_s - FORGET_EARLIER_S
        self._kept = kept
        self._used: dict[str, float] = {}
        self._ended: deque[str] = deque(maxlen=kept)

    def use(self, session: str) -> bool:
        """Note that the session is used now; False when it is not known any more, or never was."""
        now = anyio.current_time()
        if now - self._used.get(session, -self._good_s) >= self._good_s:
            self.forget(session)
            return False
        self._used[session] = now
        return True

    def remember(self, session: str) -> None:
        """Note a session that was opened just now; those that are too old make room."""
        now = anyio.current_time()
        if len(self._used) >= self._kept:
            self._used = {key: at for key, at in self._used.items() if now - at < self._good_s}
        self._used[session] = now

    def forget(self, session: str) -> None:
        """Drop a session that is too old."""
        self._used.pop(session, None)

    def end(self, session: str) -> None:
        """Drop a session because its client has ended it."""
        if self._used.pop(session, None) is not None:
            self._ended.append(session)

    def has_ended(self, session: str) -> bool:
        """Whether its client has ended it, as far as that is remembered."""
        return session in self._ended
