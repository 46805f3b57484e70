"""The only door to Redis or Valkey: connections, scripts, errors, decoding of what comes back."""

# redis-py declares its commands without types; what comes back is typed when it is decoded.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from typing import Any, Self, TypeVar, cast
from uuid import uuid4

import anyio
import msgspec
from hiredis import ReplyError
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

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
from .connection import CONNECT_WAIT_S, REPLY_WAIT_S, Address, Command, Reading, SharedConnection, Unreachable, Word
from .keys import is_episode_id, key, operation_key, shared_keys
from .scripts_library import FUNCTION_MISSING, function_name, library

_RETRY_DELAYS_S = (0.05, 0.2, 0.5)
_RETRY_RECORD_S = 60  # covers our own retries
_NAMED_RECORD_S = 86_400  # covers a caller who repeats an operation later
_NEAREST_AMONG_MAX = 2_000
_ARGS_MAX_BYTES = 1_000_000  # protects the store; the limits that agents meet are lower

_AWAY = (
    "LOADING", "READONLY", "OOM", "MISCONF", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "NOAUTH", "NOPERM", "TRYAGAIN",
)  # fmt: skip
"""Refusals of everything, as good as no server."""

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


class EpisodeStore:
    """One server. Everything raises StorageUnavailable when it stays out of reach over several tries."""

    def __init__(self, connection: SharedConnection, blocking_client: Redis) -> None:
        self._connection = connection
        self._blocking_client = blocking_client

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncGenerator[Self]:
        """Open connections to `url` as they are needed; close them at the end of the block."""
        pool = ConnectionPool.from_url(url, **_options())
        connection = SharedConnection(_address(pool))
        blocking_client = Redis.from_pool(pool)
        try:
            yield cls(connection, blocking_client)
        finally:
            connection.close()
            with anyio.CancelScope(shield=True):
                await blocking_client.aclose()

    async def ping(self) -> None:
        """Return when the server answers."""
        await self._send("PING")

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

    async def read(self, episode: str, *commands: Reading) -> list[Any]:
        """Run reading commands at one moment. An HMGET of no fields is answered with none."""
        if not is_episode_id(episode):
            raise _unknown_episode(episode)
        wanted: list[Command] = [("EXISTS", key(episode, "meta"))]
        wanted += [
            (verb, key(episode, name), *rest) if name else (verb,)
            for verb, name, *rest in commands
            if rest or verb != "HMGET"
        ]
        replies = iter(await self._insist(lambda: self._at_once(wanted)))
        if not next(replies):
            raise _unknown_episode(episode)
        return [_read(command, replies) for command in commands]

    async def entries(self, episode: str, after_seq: int, limit: int) -> list[Entry]:
        """Return log entries in order."""
        (rows,) = await self.read(episode, ("XRANGE", "events", f"{after_seq + 1}-0", "+", "COUNT", limit))
        return [_entry(number, _mapping(fields)) for number, fields in rows]

    async def dump(self, episode: str) -> tuple[int, dict[str, bytes]]:
        """Return the number of the last event and all that the store holds, by the names of the keys."""
        if not is_episode_id(episode):
            raise _unknown_episode(episode)
        found = await self._send("EVAL", _DUMP, 1, key(episode, "meta"), key(episode, ""))
        seq, *rest = found
        if seq is None:
            raise _unknown_episode(episode)
        return int(seq), {name.decode(): content for name, content in zip(rest[::2], rest[1::2], strict=True)}

    async def load(self, episode: str, keys: Mapping[str, bytes]) -> None:
        """Put in what `dump` returned."""
        if not is_episode_id(episode):
            raise _unknown_episode(episode)
        if await self._send("EXISTS", key(episode, "meta")):
            raise Duplicate(f"there is an episode {episode} already", id=episode)
        wanted = [("RESTORE", key(episode, name), 0, content, "REPLACE") for name, content in keys.items()]
        try:
            await self._insist(lambda: self._at_once(wanted))
        except Internal as error:
            await self.remove(episode, tuple(keys))
            raise BadArguments(
                "this store cannot read the archive", hint="use the same store", **error.facts
            ) from error

    async def remove(self, episode: str, names: Sequence[str]) -> None:
        """Remove keys of an episode."""
        words = [key(episode, name) for name in names]
        if words:
            await self._send("DEL", *words)

    async def items(self, name: str) -> list[bytes]:
        """Return a list that belongs to no episode."""
        return await self._send("LRANGE", name, 0, -1)

    async def evaluate(self, script: str, name: str, *args: str | int | bytes) -> Any:
        """Run a script, which may run twice without harm, on a key that belongs to no episode."""
        return await self._send("EVAL", script, 1, name, *args)

    async def _send(self, *words: Word) -> Any:
        async def send() -> Any:
            (reply,) = await self._connection.ask(words)
            return _unless_refused(reply)

        return await self._insist(send)

    async def _at_once(self, commands: Sequence[Command]) -> list[Any]:
        """Run commands at one moment; of two, the first only asks whether there is an episode."""
        if len(commands) == 2:
            return [_unless_refused(reply) for reply in await self._connection.ask(*commands)]
        *_, replies = await self._connection.ask(("MULTI",), *commands, ("EXEC",))
        return [_unless_refused(reply) for reply in cast("list[Any]", _unless_refused(replies))]

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
        if not is_episode_id(episode):
            raise _unknown_episode(episode)
        keys = [*shared_keys(episode), *extra_keys]
        call = ("FCALL", function_name(name), len(keys), *keys, episode, keep_s, _encode(args))

        async def send() -> Any:
            (reply,) = await self._connection.ask(call)
            if isinstance(reply, ReplyError) and FUNCTION_MISSING in str(reply):
                loaded, reply = await self._connection.ask(("FUNCTION", "LOAD", "REPLACE", library()), call)
                _unless_refused(loaded)
            return _unless_refused(reply)

        outcome, *rest = await self._insist(send)
        if outcome == b"ok":
            return rest[0]
        raise await self._refusal(episode, *rest)

    async def _insist(self, send: Callable[[], Awaitable[_T]]) -> _T:
        for delay_s in _RETRY_DELAYS_S:
            try:
                return await send()
            except (Unreachable, RedisError, OSError):
                await anyio.sleep(delay_s)
        try:
            return await send()
        except (Unreachable, RedisError, OSError) as error:
            hint = "try again in a few seconds"
            raise StorageUnavailable("the store cannot be reached", hint=hint, cause=str(error)) from error

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
        "socket_timeout": REPLY_WAIT_S,
        "socket_connect_timeout": CONNECT_WAIT_S,
        "retry": Retry(NoBackoff(), 0),
    }


def _address(pool: ConnectionPool) -> Address:
    """What the URL of the pool says, as redis-py reads it."""
    found: Any = pool.make_connection()
    login = tuple(word for word in (found.username, found.password) if word)
    database = int(found.db or 0)
    if (path := getattr(found, "path", None)) is not None:
        return Address(path=path, login=login, database=database)
    tls = found.ssl_context.get() if hasattr(found, "ssl_context") else None
    return Address(host=found.host, port=int(found.port), tls=tls, login=login, database=database)


def _unless_refused(reply: Any) -> Any:
    """The reply, unless it says that the server refused.

    Raises:
        Unreachable: it refuses everything for now.
        Internal: it refuses this command.
    """
    if not isinstance(reply, ReplyError):
        return reply
    if str(reply).startswith(_AWAY):
        raise Unreachable(str(reply))
    raise Internal("the store refused a command", cause=str(reply))


def _encode(args: Mapping[str, object]) -> bytes:
    given = {name: value for name, value in args.items() if value is not None}
    try:
        encoded = msgspec.json.encode(given)
    except UnicodeEncodeError as error:
        raise BadArguments("the text is not valid Unicode", hint="remove lone surrogates") from error
    if len(encoded) > _ARGS_MAX_BYTES:
        raise TooLarge("the text is too long", hint="split it", cap=_ARGS_MAX_BYTES)
    return encoded


def _read(command: Reading, replies: Iterator[Any]) -> Any:
    verb, _, *rest = command
    if verb == "HMGET" and not rest:
        return []
    return _mapping(next(replies)) if verb == "HGETALL" else next(replies)


def _mapping(flat: Sequence[bytes]) -> dict[bytes, bytes]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


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
