"""A hub on a real socket, with methods that show each way a call can end."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import anyio
import hypothesis
import msgspec
import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed as SocketClosed
from websockets.http11 import Request, Response

from bus.errors import StaleFence, StorageUnavailable, UnknownId
from bus.hub import ConnectionClosed, Hub, Method
from bus.link import Link, connect
from bus.messages import Event

TOKEN = "letmein"

hypothesis.settings.register_profile("shared machine", deadline=None)
hypothesis.settings.load_profile("shared machine")


class Say(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    times: int = 1


class Said(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    tags: dict[str, Any] = {}


class SocketConnection:
    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket

    async def receive(self) -> bytes | str:
        try:
            return await self._socket.recv()
        except SocketClosed as error:
            raise ConnectionClosed from error

    async def send(self, data: bytes, /) -> None:
        try:
            await self._socket.send(data.decode())
        except SocketClosed as error:
            raise ConnectionClosed from error


class Journal:
    """An event log in memory: what a feed reads from."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.is_complete = False
        self.failures = 0
        self.openings = 0
        self._grown = anyio.Event()

    def add(self, count: int = 1) -> None:
        for _ in range(count):
            seq = len(self.events) + 1
            self.events.append(
                Event(episode="ep1", seq=seq, kind="attempt_noted", actor="ada", at_ms=seq, body={"n": seq})
            )
        self._wake()

    def complete(self) -> None:
        self.is_complete = True
        self._wake()

    def fail_once(self) -> None:
        self.failures += 1
        self._wake()

    def _wake(self) -> None:
        self._grown.set()
        self._grown = anyio.Event()

    async def feed(self, episode: str, from_seq: int) -> AsyncGenerator[list[Event], None]:
        if episode != "ep1":
            raise UnknownId(f"there is no episode {episode}", nearest=["ep1"])
        self.openings += 1
        return self._batches(from_seq)

    async def _batches(self, from_seq: int) -> AsyncGenerator[list[Event], None]:
        while True:
            if self.failures:
                self.failures -= 1
                raise StorageUnavailable("away")
            grown = self._grown
            if batch := self.events[from_seq : from_seq + 5000]:
                from_seq = batch[-1].seq
                yield batch
            elif self.is_complete:
                return
            else:
                await grown.wait()


class Bench:
    """What a test can turn and see: the hub's journal, a gate for slow calls, and how to link up."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.gate = anyio.Event()
        self.running = 0
        self.all_run = anyio.Event()
        self.cancelled = anyio.Event()
        self.server: Server | None = None
        self.url = ""

    def hub(self) -> Hub:
        handlers: dict[str, Callable[[Any], Awaitable[msgspec.Struct]]] = {
            "say": self.say,
            "hold": self.hold,
            "refuse": self.refuse,
            "break": self.fail,
            "odd": self.odd,
        }
        return Hub({name: Method(Say, handler) for name, handler in handlers.items()}, self.journal.feed)

    async def say(self, params: Say) -> Said:
        return Said(text=params.text * params.times)

    async def hold(self, params: Say) -> Said:
        self.running += 1
        if self.running == params.times:
            self.all_run.set()
        try:
            await self.gate.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            raise
        return Said(text=params.text)

    async def refuse(self, params: Say) -> Said:
        raise StaleFence("too late", hint="claim again", owner=params.text, fence=7)

    async def fail(self, params: Say) -> Said:
        raise ZeroDivisionError(params.text)

    async def odd(self, params: Say) -> Said:
        return Said(text=params.text, tags={"what": object()})

    def link(self) -> contextlib.AbstractAsyncContextManager[Link]:
        return connect(self.url, token=TOKEN)


def _checked(connection: ServerConnection, request: Request) -> Response | None:
    if request.path == "/teapot":
        return Response(418, "I'm a teapot", Headers(), b"")
    return None if request.headers.get("Authorization") == f"Bearer {TOKEN}" else Response(401, "No", Headers(), b"")


@pytest.fixture
async def bench() -> AsyncGenerator[Bench]:
    bench = Bench()
    hub = bench.hub()

    async def handle(socket: ServerConnection) -> None:
        await hub.serve(SocketConnection(socket))

    async with serve(handle, "127.0.0.1", 0, process_request=_checked, max_size=None) as server:
        bench.server = server
        bench.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/bus"
        yield bench
