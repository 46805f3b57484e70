"""The adapter versions that were in use in a store, in order. The last one is in use now."""

import msgspec

from bus.errors import Conflict

from .in_redis import EpisodeStore

_KEY = "{adapters}:reigns"

# ARGV: the new entry; whether an entry is expected; its bundle and epoch; what counts as the entry of epoch 0.
# A repetition of the call finds its own entry and changes nothing.
_APPEND = """
local last = redis.call('LINDEX', KEYS[1], -1)
if last == ARGV[1] then
  return 1
end
local bundle, epoch = ARGV[5], '0'
if last then
  local entry = cjson.decode(last)
  bundle, epoch = entry.bundle, string.format('%d', entry.epoch)
end
if ARGV[2] == 'none' and not last or ARGV[2] == 'one' and bundle == ARGV[3] and epoch == ARGV[4] then
  redis.call('RPUSH', KEYS[1], ARGV[1])
  return 1
end
return { bundle, epoch }
"""


class Reign(msgspec.Struct, frozen=True, kw_only=True):
    """A version's time as the one in use.

    Attributes:
        bundle: the version.
        epoch: number of the change that put it there; only grows.
        because: what kind of change it was.
        at_ms: Unix time of the change.
        op: unique to the change.
    """

    bundle: str
    epoch: int
    because: str
    at_ms: int
    op: str


class Lineage:
    """The list of reigns. The store keeps it apart from every episode."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def reigns(self) -> list[Reign]:
        """Return all, oldest first.

        Raises:
            StorageUnavailable: the store cannot be reached; never an empty list instead.
        """
        return [msgspec.json.decode(entry, type=Reign) for entry in await self._store.items(_KEY)]

    async def append(self, reign: Reign, *, expected: tuple[str, int] | None, first: str) -> None:
        """Add a reign if bundle and epoch of the last one are as expected, in one atomic step.

        Args:
            reign: what to add.
            expected: bundle and epoch of the last one; None when there must be none.
            first: what is in use, at epoch 0, while there is none.

        Raises:
            Conflict: something else is in use; its facts are bundle and epoch.
            StorageUnavailable: the store cannot be reached.
        """
        bundle, epoch = expected or ("", 0)
        mode = "none" if expected is None else "one"
        entry = msgspec.json.encode(reign)
        if (found := await self._store.evaluate(_APPEND, _KEY, entry, mode, bundle, epoch, first)) == 1:
            return
        current = {"bundle": found[0].decode(), "epoch": int(found[1])}
        raise Conflict(
            f"the version in use is {current['bundle']} at epoch {current['epoch']}",
            hint="look at what has changed, then try again",
            **current,
        )
