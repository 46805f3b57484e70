"""The only door to Redis or Valkey: connections, scripts, errors, decoding of what comes back."""

# redis-py declares its commands without types; what comes back is typed when it is decoded.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from functools import cache
from hashlib import sha1
from pathlib import Path
from typing import Any, Self, TypeVar
from uuid import uuid4

import anyio
import msgspec
from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionFailed
from redis.exceptions import NoScriptError, OutOfMemoryError, ReadOnlyError, RedisError
from redis.exceptions import TimeoutError as TimedOut

from bus.errors import (
    AdapterError,
    BadArguments,
    Duplicate,
    Internal,
    StorageUnavailable,
    TooLarge,
    UnknownId,
    error_from_fields,
)

from .chain import Entry
from .keys import is_episode_id, key, operation_key, shared_keys

_PRELUDE = ("text", "log", "leases", "plan")
_CONNECTIONS_MAX = 16
_REPLY_WAIT_S = 10.0
_CONNECT_WAIT_S = 2.0
_RETRY_DELAYS_S = (0.05, 0.2, 0.5)
_RETRY_RECORD_S = 60  # covers our own retries
_NAMED_RECORD_S = 86_400  # covers a caller who repeats an operation later
_NEAREST_AMONG_MAX = 2_000
_ARGS_MAX_BYTES = 1_000_000  # protects the store; the limits that agents meet are lower

# Everything that lasts of an episode, at one moment: number of the last event, then names and contents.
_DUMP = """
local found = { redis.call('HGET', ARGV[1] .. 'meta', 'seq') or false }
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  local name = string.sub(key, #ARGV[1] + 1)
  if string.sub(name, 1, 3) ~= 'op:' and string.sub(name, 1, 6) ~= 'calls:' then
    found[#found + 1] = name
    found[#found + 1] = redis.call('DUMP', key)
  end
end
return found
"""

_T = TypeVar("_T")

_UNREACHABLE = (ConnectionFailed, TimedOut, ReadOnlyError, OutOfMemoryError, OSError)


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """A script's text and the name under which the server caches it."""

    text: str
    sha: str


@cache
def _script(name: str) -> Script:
    folder = Path(__file__).parent / "scripts"
    parts = [folder / "prelude" / f"{part}.lua" for part in _PRELUDE] + [folder / f"{name}.lua"]
    text = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    return Script(text=text, sha=sha1(text.encode(), usedforsecurity=False).hexdigest())


class EpisodeStore:
    """One server. Everything raises StorageUnavailable when it stays out of reach over several tries."""

    def __init__(self, client: Redis, blocking_client: Redis) -> None:
        self._client = client
        self._blocking_client = blocking_client

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncGenerator[Self]:
        """Open connections to `url` as they are needed; close them at the end of the block."""
        options = _options()
        limits = {"max_connections": _CONNECTIONS_MAX, "timeout": _REPLY_WAIT_S}
        client = Redis.from_pool(BlockingConnectionPool.from_url(url, **limits, **options))
        blocking_client = Redis.from_pool(ConnectionPool.from_url(url, **options))
        try:
            yield cls(client, blocking_client)
        finally:
            with anyio.CancelScope(shield=True):
                await client.aclose()
                await blocking_client.aclose()

    async def ping(self) -> None:
        """Return when the server answers."""

        async def send() -> Any:
            return await self._client.execute_command("PING")

        await self._insist(send)

    async def change(
        self, script: str, *, episode: str, op: str | None, args: Mapping[str, object], extra_keys: Sequence[str] = ()
    ) -> bytes:
        """Run a script that changes something, once for the same `op` however often it is sent."""
        keep_s = _RETRY_RECORD_S if op is None else _NAMED_RECORD_S
        operation = operation_key(episode, op or uuid4().hex)
        return await self._run(script, episode, [operation, *extra_keys], keep_s, args)

    async def ask(
        self, script: str, *, episode: str, args: Mapping[str, object], extra_keys: Sequence[str] = ()
    ) -> Any:
        """Run a script that may run twice without harm."""
        return await self._run(script, episode, [operation_key(episode, ""), *extra_keys], 0, args)

    async def read(self, episode: str, *commands: tuple[str, str, *tuple[str | int | bytes, ...]]) -> list[Any]:
        """Run reading commands at one moment; the second word of each is the name of a key."""
        if not is_episode_id(episode):
            raise _unknown_episode(episode)

        async def send() -> list[Any]:
            async with self._client.pipeline(transaction=True) as batch:
                batch.execute_command("EXISTS", key(episode, "meta"))
                for verb, name, *rest in commands:
                    batch.execute_command(verb, key(episode, name), *rest)
                return await batch.execute()

        is_known, *replies = await self._insist(send)
        if not is_known:
            raise _unknown_episode(episode)
        return replies

    async def entries(self, episode: str, after_seq: int, limit: int) -> list[Entry]:
        """Return log entries in order."""
        (rows,) = await self.read(episode, ("XRANGE", "events", f"{after_seq + 1}-0", "+", "COUNT", limit))
        return [_entry(*row) for row in rows]

    async def dump(self, episode: str) -> tuple[int, dict[str, bytes]]:
        """Return the number of the last event and all that the store holds, by the names of the keys."""
        if not is_episode_id(episode):
            raise _unknown_episode(episode)
        found = await self._insist(lambda: self._send("EVAL", _DUMP, 1, key(episode, "meta"), key(episode, "")))
        seq, *rest = found
        if seq is None:
            raise _unknown_episode(episode)
        return int(seq), {name.decode(): content for name, content in zip(rest[::2], rest[1::2], strict=True)}

    async def load(self, episode: str, keys: Mapping[str, bytes]) -> None:
        """Put in what `dump` returned."""
        if not is_episode_id(episode):
            raise _unknown_episode(episode)
        if await self._insist(lambda: self._send("EXISTS", key(episode, "meta"))):
            raise Duplicate(f"there is an episode {episode} already", id=episode)
        try:
            async with self._client.pipeline(transaction=True) as batch:
                for name, content in keys.items():
                    batch.execute_command("RESTORE", key(episode, name), 0, content, "REPLACE")
                await batch.execute()
        except RedisError as error:
            await self.remove(episode, tuple(keys))
            raise BadArguments(
                "this store cannot read the archive", hint="use the same store", cause=str(error)
            ) from error

    async def remove(self, episode: str, names: Sequence[str]) -> None:
        """Remove keys of an episode."""
        words = [key(episode, name) for name in names]
        if words:
            await self._insist(lambda: self._send("DEL", *words))

    async def items(self, name: str) -> list[bytes]:
        """Return a list that belongs to no episode."""
        return await self._insist(lambda: self._send("LRANGE", name, 0, -1))

    async def evaluate(self, script: str, name: str, *args: str | int | bytes) -> Any:
        """Run a script, which may run twice without harm, on a key that belongs to no episode."""
        return await self._insist(lambda: self._send("EVAL", script, 1, name, *args))

    async def _send(self, *words: str | int | bytes) -> Any:
        return await self._client.execute_command(*words)

    async def next_entries(self, episode: str, after_seq: int, *, limit: int, block_s: float) -> list[Entry]:
        """Return log entries as soon as there are any, on a connection of its own; empty after `block_s`."""

        async def send() -> Any:
            words = ("COUNT", limit, "BLOCK", int(block_s * 1000), "STREAMS", key(episode, "events"), f"{after_seq}-0")
            return await self._blocking_client.execute_command("XREAD", *words)

        streams = await self._insist(send)
        return [_entry(*row) for _, rows in streams or () for row in rows]

    async def _run(
        self, name: str, episode: str, extra_keys: Sequence[str], keep_s: int, args: Mapping[str, object]
    ) -> Any:
        script = _script(name)
        if not is_episode_id(episode):
            raise _unknown_episode(episode)
        keys = [*shared_keys(episode), *extra_keys]
        words = (len(keys), *keys, episode, keep_s, _encode(args))

        async def send() -> Any:
            try:
                return await self._client.execute_command("EVALSHA", script.sha, *words)
            except NoScriptError:
                return await self._client.execute_command("EVAL", script.text, *words)

        outcome, *rest = await self._insist(send)
        if outcome == b"ok":
            return rest[0]
        raise await self._refusal(episode, *rest)

    async def _insist(self, send: Callable[[], Awaitable[_T]]) -> _T:
        for delay_s in _RETRY_DELAYS_S:
            try:
                return await send()
            except _UNREACHABLE:
                await anyio.sleep(delay_s)
            except RedisError as error:
                raise _storage_error(error) from error
        try:
            return await send()
        except (*_UNREACHABLE, RedisError) as error:
            raise _storage_error(error) from error

    async def _refusal(self, episode: str, code: bytes, message: bytes, hint: bytes, facts: bytes) -> AdapterError:
        fields: dict[str, object] = msgspec.json.decode(facts)
        if code == b"unknown_id":
            fields["nearest"] = await self._nearest(episode, str(fields["kind"]), str(fields["id"]))
        return error_from_fields({"code": code.decode(), "message": message.decode(), "hint": hint.decode()} | fields)

    async def _nearest(self, episode: str, kind: str, id: str) -> list[str]:  # noqa: A002
        if kind == "episode":
            return []
        commands = [("HKEYS", "agents")] if kind == "agent" else [("HKEYS", "names"), ("HKEYS", "nodes")]
        known = [name.decode() for names in await self.read(episode, *commands) for name in names]
        return get_close_matches(id, known[:_NEAREST_AMONG_MAX], n=3, cutoff=0.4)


def _options() -> dict[str, Any]:
    return {
        "protocol": 2,
        "socket_timeout": _REPLY_WAIT_S,
        "socket_connect_timeout": _CONNECT_WAIT_S,
        "retry": Retry(NoBackoff(), 0),
    }


def _encode(args: Mapping[str, object]) -> bytes:
    given = {name: value for name, value in args.items() if value is not None}
    try:
        encoded = msgspec.json.encode(given)
    except UnicodeEncodeError as error:
        raise BadArguments("the text is not valid Unicode", hint="remove lone surrogates") from error
    if len(encoded) > _ARGS_MAX_BYTES:
        raise TooLarge("the text is too long", hint="split it", cap=_ARGS_MAX_BYTES)
    return encoded


def _entry(id: bytes, fields: Mapping[bytes, bytes]) -> Entry:  # noqa: A002
    return Entry(
        seq=int(id.partition(b"-")[0]),
        kind=fields[b"kind"].decode(),
        actor=fields[b"actor"].decode(),
        at_ms=fields[b"at"].decode(),
        body=fields[b"body"],
        prev=fields[b"prev"].decode(),
        hash=fields[b"hash"].decode(),
    )


def _unknown_episode(episode: str) -> UnknownId:
    return UnknownId(f"there is no episode {episode}", kind="episode", id=episode, nearest=[])


def _storage_error(error: Exception) -> AdapterError:
    refuses_all = str(error).startswith(("MISCONF", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "NOAUTH", "NOPERM"))
    if isinstance(error, _UNREACHABLE) or refuses_all:
        return StorageUnavailable("the store cannot be reached", hint="try again in a few seconds", cause=str(error))
    return Internal("the store refused a command", cause=str(error))
