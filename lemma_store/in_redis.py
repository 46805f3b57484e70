"""The lemma index in Redis: the only module here that speaks to it.

Keys, all under `{lib:<episode>}`: `:lemmas` (hash, content id → JSON of a `Lemma`), `:order` (list of ids, oldest
first) and `:revoked` (hash, content id → reason). They are written by scripts, idempotently by content id.
"""

from collections.abc import Awaitable, Mapping
from typing import cast

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bus.errors import Gone, StorageUnavailable

from .types import Lemma

_PUT = """
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then
  return -1
end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then
  redis.call('RPUSH', KEYS[2], ARGV[1])
  return 1
end
return 0
"""
_REVOKE = """
for at = 1, #ARGV, 2 do
  redis.call('HSETNX', KEYS[3], ARGV[at], ARGV[at + 1])
  redis.call('HDEL', KEYS[1], ARGV[at])
  redis.call('LREM', KEYS[2], 0, ARGV[at])
end
return 0
"""
_DURABLE_MS = 5_000

_lemma = msgspec.json.Decoder(Lemma)


class LemmaIndex:
    """Lemmas of all episodes by content id. Write-once: what is revoked does not come back."""

    def __init__(self, redis: Redis, *, is_durable: bool = False) -> None:
        self._redis = redis
        self._is_durable = is_durable

    async def put(self, episode: str, lemma: Lemma) -> bool:
        """Store `lemma` unless its id is there, atomically; return whether this call stored it.

        Returns only after the write is on disk, if the store can promise that.

        Raises:
            StorageUnavailable: the store did not confirm the write.
            Gone: the lemma was revoked.
        """
        stored = await self._run(_PUT, episode, lemma.id, msgspec.json.encode(lemma))
        if stored == -1:
            raise Gone(f"{lemma.name} was revoked")
        return stored == 1

    async def revoke(self, episode: str, reasons: Mapping[str, str]) -> None:
        """Take lemmas out for good, all or none; `reasons` is by id.

        Raises:
            StorageUnavailable: the store did not confirm the write.
        """
        await self._run(_REVOKE, episode, *(item for pair in reasons.items() for item in pair))

    async def revoked(self, episode: str) -> dict[str, str]:
        """Return id → reason of what was revoked.

        Raises:
            StorageUnavailable: the index cannot be read.
        """
        try:
            found = await cast("Awaitable[dict[bytes, bytes]]", self._redis.hgetall(f"{{lib:{episode}}}:revoked"))
        except RedisError as error:
            raise StorageUnavailable(f"the lemma index is out of reach: {error}") from error
        return {ident.decode(): reason.decode() for ident, reason in found.items()}

    async def _run(self, script: str, episode: str, *arguments: str | bytes) -> int:
        keys = [f"{{lib:{episode}}}:{part}" for part in ("lemmas", "order", "revoked")]
        try:
            pipeline = self._redis.pipeline(transaction=False)
            pipeline.eval(script, len(keys), *keys, *arguments)
            if not self._is_durable:
                pipeline.execute_command("WAITAOF", 1, 0, _DURABLE_MS)  # pyright: ignore[reportUnknownMemberType]
            stored, *_ = await pipeline.execute(raise_on_error=False)
        except RedisError as error:
            raise StorageUnavailable(f"the lemma index is out of reach: {error}") from error
        if isinstance(stored, Exception):
            raise StorageUnavailable(f"the lemma index refused a write: {stored}")
        return stored

    async def all(self, episode: str) -> list[Lemma]:
        """Return the lemmas of an episode, oldest first.

        Raises:
            StorageUnavailable: the index cannot be read; never an empty list instead.
        """
        try:
            order = await cast("Awaitable[list[bytes]]", self._redis.lrange(f"{{lib:{episode}}}:order", 0, -1))
            if not order:
                return []
            found = await cast("Awaitable[list[bytes]]", self._redis.hmget(f"{{lib:{episode}}}:lemmas", order))
        except RedisError as error:
            raise StorageUnavailable(f"the lemma index is out of reach: {error}") from error
        return [_lemma.decode(item) for item in found]


def connect(url: str) -> Redis:
    """Return a client for `url`; it connects with its first command."""
    return Redis.from_url(url)  # pyright: ignore[reportUnknownMemberType] - redis-py leaves it untyped
