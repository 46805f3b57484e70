"""What the hub does with connections that misbehave, seen without a socket."""

import json
import math
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from bus.errors import BadArguments
from bus.hub import SUBSCRIPTIONS_CAP, ConnectionClosed, Hub, Method
from bus.inbox import INBOX_CAP_EVENTS
from bus.subscriptions import Batches

from .conftest import Bench, Say

pytestmark = pytest.mark.anyio


class Pipe:
    """The test's end of a connection: it decides when the hub's messages are read."""

    def __init__(self, *, room: float = math.inf) -> None:
        self._to_hub, self._in_hub = anyio.create_memory_object_stream[bytes](math.inf)
        self._from_hub, self._replies = anyio.create_memory_object_stream[bytes](room)

    async def receive(self) -> bytes:
        try:
            return await self._in_hub.receive()
        except anyio.EndOfStream:
            raise ConnectionClosed from None

    async def send(self, data: bytes, /) -> None:
        try:
            await self._from_hub.send(data)
        except anyio.BrokenResourceError:
            raise ConnectionClosed from None

    def write(self, method: str, number: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._to_hub.send_nowait(msgspec.json.encode(message))

    async def read(self) -> dict[str, Any]:
        with anyio.fail_after(5):
            return json.loads(await self._replies.receive())

    def hang_up(self) -> None:
        self._to_hub.close()

    def stop_reading(self) -> None:
        self._replies.close()

    def close(self) -> None:
        for end in (self._to_hub, self._in_hub, self._from_hub, self._replies):
            end.close()


async def serve(hub: Hub, pipe: Pipe, over: anyio.Event) -> None:
    await hub.serve(pipe)
    over.set()


class Served:
    """A pipe with a hub at its other end."""

    def __init__(self, hub: Hub, *, room: float = math.inf) -> None:
        self.pipe = Pipe(room=room)
        self.over = anyio.Event()
        self._hub = hub
        self._tasks = anyio.create_task_group()

    async def __aenter__(self) -> "Served":
        await self._tasks.__aenter__()
        self._tasks.start_soon(serve, self._hub, self.pipe, self.over)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.pipe.hang_up()
        try:
            with anyio.fail_after(5):
                await self.over.wait()
        finally:
            self._tasks.cancel_scope.cancel()
            await self._tasks.__aexit__(None, None, None)
            self.pipe.close()


async def test_a_subscriber_that_does_not_read_is_told_where_to_go_on(bench: Bench) -> None:
    bench.journal.add(3 * INBOX_CAP_EVENTS)
    async with Served(bench.hub(), room=0) as served:
        served.pipe.write("events.subscribe", 1, episode="ep1", subscription="mine")
        assert (await served.pipe.read())["result"] == {"subscription": "mine"}
        messages = [await served.pipe.read()]
        while messages[-1]["method"] == "event":
            messages.append(await served.pipe.read())
        *events, gap = messages
        assert gap["method"] == "events.gap"
        assert [event["params"]["seq"] for event in events] == list(range(1, len(events) + 1))
        assert gap["params"] == {"episode": "ep1", "resume_from": len(events), "subscription": "mine"}
        assert INBOX_CAP_EVENTS <= len(events) <= INBOX_CAP_EVENTS + 2


async def test_a_stalled_connection_is_given_up(bench: Bench) -> None:
    bench.journal.add(5)
    hub = Hub({}, bench.journal.feed, send_timeout_s=0.05)
    with capture_logs() as logs:
        async with Served(hub, room=1) as served:
            served.pipe.write("events.subscribe", 1, episode="ep1")
            with anyio.fail_after(5):
                await served.over.wait()
    assert [entry["event"] for entry in logs] == ["connection_stalled"]


async def test_a_connection_that_is_half_closed_ends(bench: Bench) -> None:
    async with Served(bench.hub()) as served:
        served.pipe.stop_reading()
        served.pipe.write("say", 1, text="x")
        with anyio.fail_after(5):
            await served.over.wait()


async def test_an_unsubscribed_feed_is_silent(bench: Bench) -> None:
    async with Served(bench.hub()) as served:
        served.pipe.write("events.subscribe", 1, episode="ep1", subscription="a")
        await served.pipe.read()
        served.pipe.write("events.unsubscribe", 2, subscription="a")
        assert (await served.pipe.read())["result"] == {"subscription": "a"}
        bench.journal.add(3)
        await anyio.wait_all_tasks_blocked()
        served.pipe.write("events.unsubscribe", 3, subscription="a")
        assert (await served.pipe.read())["error"]["data"]["code"] == "unknown_id"


async def test_subscriptions_are_counted_and_freed(bench: Bench) -> None:
    async with Served(bench.hub()) as served:
        for number in range(SUBSCRIPTIONS_CAP):
            served.pipe.write("events.subscribe", number, episode="ep1", subscription=f"s{number}")
            assert "result" in await served.pipe.read()
        served.pipe.write("events.subscribe", 100, episode="ep1")
        assert (await served.pipe.read())["error"]["data"]["code"] == "queue_full"
        bench.journal.complete()
        for _ in range(SUBSCRIPTIONS_CAP):
            assert (await served.pipe.read())["method"] == "events.end"
        served.pipe.write("events.subscribe", 101, episode="ep1")
        assert "result" in await served.pipe.read()


async def test_a_failed_subscription_leaves_its_name_free(bench: Bench) -> None:
    async with Served(bench.hub()) as served:
        served.pipe.write("events.subscribe", 1, episode="ep2", subscription="a")
        assert (await served.pipe.read())["error"]["data"]["code"] == "unknown_id"
        served.pipe.write("events.subscribe", 2, episode="ep1", subscription="a")
        assert "result" in await served.pipe.read()


async def test_a_feed_with_a_defect_ends_the_connection_and_is_logged() -> None:
    async def feed(_episode: str, _from_seq: int) -> Batches:
        return broken()

    async def broken() -> Batches:
        yield []
        raise ZeroDivisionError

    with capture_logs() as logs:
        async with Served(Hub({}, feed)) as served:
            served.pipe.write("events.subscribe", 1, episode="ep1")
            with anyio.fail_after(5):
                await served.over.wait()
    assert [entry["event"] for entry in logs] == ["subscription_failed"]


async def test_a_defect_is_logged_under_the_trace_that_the_caller_got(bench: Bench) -> None:
    with capture_logs() as logs:
        async with Served(bench.hub()) as served:
            served.pipe.write("break", 1, text="secret")
            error = (await served.pipe.read())["error"]
    assert error["code"] == -32603
    assert [(entry["event"], entry["method"], entry["trace"]) for entry in logs] == [
        ("call_failed", "break", error["data"]["trace"])
    ]


async def test_an_error_that_cannot_be_written_as_it_is_still_arrives() -> None:
    async def refuse(_params: Say) -> Say:
        raise BadArguments("lone \ud800", where={(1, 2): object()})

    async def feed(_episode: str, _from_seq: int) -> Batches:
        raise NotImplementedError

    async with Served(Hub({"refuse": Method(Say, refuse)}, feed)) as served:
        served.pipe.write("refuse", 1, text="x")
        assert (await served.pipe.read())["error"]["data"]["code"] == "bad_arguments"
