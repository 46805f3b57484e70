"""One connection that many tasks share: what they ask at the same time goes out together and is answered in order."""

import asyncio  # noqa: TID251 - answers come to a callback here; a task that reads them costs five times as much
import ssl
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

import anyio
import hiredis
import msgspec

Word = str | bytes | int
Command = Sequence[Word]

Reading = tuple[str, str, *tuple[Word, ...]]
"""A command that changes nothing, and the name of the episode's key that it reads; the name is empty for TIME."""

CONNECT_WAIT_S = 2.0
REPLY_WAIT_S = 10.0


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where a server listens, and as whom to speak to it.

    Attributes:
        path: of a Unix socket; None for TCP.
        host: a name or an address.
        port: its port.
        tls: how to encrypt, or None.
        login: the words of AUTH, empty for none.
        database: number of the database.
    """

    path: str | None = None
    host: str = "localhost"
    port: int = 6379
    tls: ssl.SSLContext | None = None
    login: tuple[str, ...] = ()
    database: int = 0


class Unreachable(Exception):
    """The server is away, or does not answer in time. What was asked may have happened."""


class _Batch:
    """Commands that were asked together, and the answers so far."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.replies: list[Any] = []
        self.since = time.monotonic()
        self.done: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()


class _Exchange(asyncio.Protocol):
    """One socket: bytes out, answers in, in the order of the questions."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader()
        self._waiting: deque[_Batch] = deque()
        self._transport: asyncio.Transport | None = None
        self._watch: asyncio.TimerHandle | None = None
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def ask(self, data: bytes, count: int) -> asyncio.Future[list[Any]]:
        assert self._transport is not None
        batch = _Batch(count)
        self._waiting.append(batch)
        self._transport.write(data)
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(REPLY_WAIT_S, self._look)
        return batch.done

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            batch = self._waiting[0]
            batch.replies.append(reply)
            batch.left -= 1
            if not batch.left:
                self._waiting.popleft()
                if not batch.done.done():
                    batch.done.set_result(batch.replies)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        if self._watch is not None:
            self._watch.cancel()
        for batch in self._waiting:
            if not batch.done.done():
                batch.done.set_exception(Unreachable(str(exc or "the connection was closed")))
        self._waiting.clear()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _look(self) -> None:
        """Give the server up when the oldest question has waited for too long."""
        self._watch = None
        if not self._waiting:
            return
        left_s = self._waiting[0].since + REPLY_WAIT_S - time.monotonic()
        if left_s <= 0:
            self.close()
        else:
            self._watch = asyncio.get_running_loop().call_later(left_s, self._look)


class SharedConnection:
    """Connects with the first question, and again with the next one after the connection was lost."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._exchange: _Exchange | None = None
        self._connecting = anyio.Lock()

    async def ask(self, *commands: Command) -> list[Any]:
        """Send commands in one piece and return their answers; what the server refuses is an answer too.

        Nothing of others comes between them, so MULTI, commands, EXEC is a transaction.

        Raises:
            Unreachable: the server cannot be reached or has not answered in time.
        """
        exchange = self._exchange
        if exchange is None or exchange.is_lost:
            exchange = await self._connected()
        data = b"".join(map(_packed, commands))
        return await exchange.ask(data, len(commands))

    def close(self) -> None:
        """Hang up; whoever waits gets Unreachable."""
        if self._exchange is not None:
            self._exchange.close()

    async def _connected(self) -> _Exchange:
        async with self._connecting:
            if self._exchange is None or self._exchange.is_lost:
                try:
                    with anyio.fail_after(CONNECT_WAIT_S):
                        self._exchange = await _connect(self._address)
                except (OSError, TimeoutError) as error:
                    raise Unreachable(str(error) or "no connection in time") from error
            return self._exchange


async def _connect(address: Address) -> _Exchange:
    loop = asyncio.get_running_loop()
    if address.path is not None:
        _, exchange = await loop.create_unix_connection(_Exchange, address.path)
    else:
        _, exchange = await loop.create_connection(_Exchange, address.host, address.port, ssl=address.tls)
    hello: list[Command] = [("AUTH", *address.login)] if address.login else []
    hello += [("SELECT", address.database)] if address.database else []
    for command in hello:
        (reply,) = await exchange.ask(_packed(command), 1)
        if isinstance(reply, Exception):
            exchange.close()
            raise Unreachable(str(reply))
    return exchange


def _packed(command: Command) -> bytes:
    words: Any = tuple(command)  # hiredis declares a tuple of one word
    return cast("bytes", hiredis.pack_command(words))  # pyright: ignore[reportUnknownMemberType]
