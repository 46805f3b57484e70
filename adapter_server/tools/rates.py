"""How often an agent may call: a bucket of tokens per agent, two seconds deep."""

import anyio

from bus.errors import RateLimited

_DEPTH_S = 2.0


class Rates:
    """Buckets in memory; a restarted server begins with full ones."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}

    def spend(self, owner: tuple[str, str], *, calls_per_s: float) -> None:
        """Take one call from the owner's bucket.

        Raises:
            RateLimited: if it is empty.
        """
        now = anyio.current_time()
        depth = calls_per_s * _DEPTH_S
        left, at = self._buckets.get(owner, (depth, now))
        left = min(depth, left + (now - at) * calls_per_s)
        if left < 1:
            self._buckets[owner] = (left, now)
            raise RateLimited(f"more than {calls_per_s:g} calls a second", hint="Wait a second, then go on.")
        self._buckets[owner] = (left - 1, now)
