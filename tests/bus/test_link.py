"""Calls and subscriptions over a real socket, seen from the caller."""

import anyio
import pytest
from websockets.asyncio.client import connect as open_socket
from websockets.asyncio.server import ServerConnection, serve

from bus.errors import (
    BadArguments,
    BadMessage,
    ConnectionLost,
    Deadline,
    Internal,
    QueueFull,
    StaleFence,
    TooLarge,
    UnknownId,
    UnknownMethod,
)
from bus.hub import CALLS_CAP
from bus.inbox import INBOX_CAP_EVENTS
from bus.jsonrpc import MESSAGE_CAP_BYTES
from bus.link import connect
from bus.messages import EpisodeRef, EpisodeStatus, EventsSubscribe, Subscribed

from .conftest import TOKEN, Bench, Said, Say

pytestmark = pytest.mark.anyio


async def test_a_call_is_answered(bench: Bench) -> None:
    async with bench.link() as link:
        assert await link.call("say", Say(text="ab", times=2), Said) == Said(text="abab")


async def test_a_fast_call_overtakes_a_slow_one(bench: Bench) -> None:
    async with bench.link() as link, anyio.create_task_group() as tasks:
        tasks.start_soon(link.call, "hold", Say(text="slow"), Said)
        with anyio.fail_after(5):
            await bench.all_run.wait()
            assert (await link.call("say", Say(text="fast"), Said)).text == "fast"
        bench.gate.set()


async def test_a_refusal_keeps_its_type_and_facts(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(StaleFence, match="too late") as caught:
            await link.call("refuse", Say(text="ada"), Said)
    assert caught.value.hint == "claim again"
    assert caught.value.facts == {"owner": "ada", "fence": 7}


@pytest.mark.parametrize("method", ["break", "odd"])
async def test_a_defect_of_the_server_shows_a_trace_and_nothing_else(bench: Bench, method: str) -> None:
    async with bench.link() as link:
        with pytest.raises(Internal) as caught:
            await link.call(method, Say(text="secret"), Said)
        assert caught.value.facts["trace"]
        assert "secret" not in str(caught.value.to_fields())
        assert (await link.call("say", Say(text="still here"), Said)).text == "still here"


async def test_an_unknown_method_is_answered_with_the_known_ones(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(UnknownMethod) as caught:
            await link.call("sing", Say(text="la"), Said)
    assert "say" in caught.value.hint


async def test_wrong_parameters_are_refused_by_name(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(BadArguments, match="episode"):
            await link.call("say", EpisodeRef(episode="ep1"), Said)


async def test_an_answer_of_another_type_is_an_error(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(BadMessage, match="EpisodeStatus"):
            await link.call("say", Say(text="x"), EpisodeStatus)


async def test_parameters_over_the_cap_are_not_sent(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(TooLarge):
            await link.call("say", Say(text="x" * MESSAGE_CAP_BYTES), Said)
        assert (await link.call("say", Say(text="x" * 1000, times=2000), Said)).text == "x" * 2_000_000


async def test_an_answer_that_no_link_would_read_is_refused(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(TooLarge):
            await link.call("say", Say(text="x" * 500_000, times=40), Said)
        assert (await link.call("say", Say(text="still here"), Said)).text == "still here"


async def test_a_call_ends_at_its_deadline_and_its_late_answer_meets_no_other(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(Deadline):
            await link.call("hold", Say(text="late"), Said, timeout_s=0.05)
        bench.gate.set()
        assert (await link.call("say", Say(text="next"), Said)).text == "next"


async def test_too_many_calls_at_once_are_refused(bench: Bench) -> None:
    async with bench.link() as link, anyio.create_task_group() as tasks:
        for _ in range(CALLS_CAP):
            tasks.start_soon(link.call, "hold", Say(text="x", times=CALLS_CAP), Said)
        with anyio.fail_after(5):
            await bench.all_run.wait()
            with pytest.raises(QueueFull):
                await link.call("say", Say(text="x"), Said)
        bench.gate.set()


async def test_calls_fail_when_the_connection_is_lost(bench: Bench) -> None:
    assert bench.server is not None
    async with bench.link() as link, anyio.create_task_group() as tasks:
        lost = anyio.Event()

        async def wait() -> None:
            with pytest.raises(ConnectionLost):
                await link.call("hold", Say(text="x"), Said)
            lost.set()

        tasks.start_soon(wait)
        with anyio.fail_after(5):
            await bench.all_run.wait()
            for socket in bench.server.connections:
                socket.transport.abort()
            await lost.wait()
            await bench.cancelled.wait()
            with pytest.raises(ConnectionLost):
                await link.call("say", Say(text="x"), Said)
            with pytest.raises(ConnectionLost):
                _ = [event async for event in link.subscribe("ep1")]


async def test_calls_that_run_are_cancelled_when_the_caller_leaves(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(Deadline):
            await link.call("hold", Say(text="x"), Said, timeout_s=0.05)
    with anyio.fail_after(5):
        await bench.cancelled.wait()


async def test_an_error_of_the_block_comes_out_as_it_is(bench: Bench) -> None:
    async def fail() -> None:
        async with bench.link():
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await fail()


async def test_events_come_once_and_in_order_old_ones_first(bench: Bench) -> None:
    bench.journal.add(3)
    seen: list[int] = []
    async with bench.link() as link:
        with anyio.fail_after(5):
            async for event in link.subscribe("ep1", from_seq=1):
                assert event == bench.journal.events[event.seq - 1]
                seen.append(event.seq)
                if event.seq == 3:
                    bench.journal.add(2)
                    bench.journal.complete()
    assert seen == [2, 3, 4, 5]


async def test_a_slow_reader_misses_nothing(bench: Bench) -> None:
    """More events than both queues hold come while the reader is busy with calls; each arrives once."""
    bench.journal.add(1)
    count = 6 * INBOX_CAP_EVENTS
    seen: list[int] = []
    async with bench.link() as link:
        with anyio.fail_after(20):
            async for event in link.subscribe("ep1"):
                seen.append(event.seq)
                if event.seq == 1:
                    bench.journal.add(count - 1)
                    bench.journal.complete()
                if event.seq % 512 == 1:
                    await link.call("say", Say(text="busy"), Said)
    assert seen == list(range(1, count + 1))
    assert bench.journal.openings > 1


async def test_a_feed_that_breaks_is_taken_up_again(bench: Bench) -> None:
    bench.journal.add(2)
    bench.journal.failures = 1
    seen: list[int] = []
    async with bench.link() as link:
        with anyio.fail_after(5):
            async for event in link.subscribe("ep1"):
                seen.append(event.seq)
                if event.seq == 2:
                    bench.journal.fail_once()
                    bench.journal.add(1)
                    bench.journal.complete()
    assert seen == [1, 2, 3]


async def test_two_readers_of_one_episode_do_not_disturb_each_other(bench: Bench) -> None:
    bench.journal.add(4)
    bench.journal.complete()
    async with bench.link() as link:
        with anyio.fail_after(5):
            first = [event.seq async for event in link.subscribe("ep1", from_seq=2)]
            async for event in link.subscribe("ep1"):
                assert event.seq == 1
                break
            second = [event.seq async for event in link.subscribe("ep1")]
    assert (first, second) == ([3, 4], [1, 2, 3, 4])


async def test_the_episode_must_exist(bench: Bench) -> None:
    async with bench.link() as link:
        with pytest.raises(UnknownId) as caught:
            _ = [event async for event in link.subscribe("ep2")]
    assert caught.value.facts == {"nearest": ["ep1"]}


async def test_a_lost_connection_ends_a_subscription_with_an_error(bench: Bench) -> None:
    assert bench.server is not None
    bench.journal.add(1)

    async def read() -> None:
        async with bench.link() as link:
            async for _ in link.subscribe("ep1"):
                assert bench.server is not None
                for socket in bench.server.connections:
                    socket.transport.abort()

    with anyio.fail_after(5), pytest.raises(ConnectionLost):
        await read()


async def test_a_server_that_talks_nonsense_is_endured() -> None:
    async def chatter(socket: ServerConnection) -> None:
        await socket.send("nonsense")
        await socket.send('{"jsonrpc":"2.0","method":"event","params":{"episode":1}}')
        await socket.send('{"jsonrpc":"2.0","method":"weather","params":{}}')
        event = '{"episode":"e","seq":1,"kind":"message_sent","actor":"a","at_ms":1,"subscription":"unheard"}'
        await socket.send('{"jsonrpc":"2.0","method":"event","params":' + event + "}")
        await socket.send('{"jsonrpc":"2.0","method":"events.gap","params":{"episode":"e","resume_from":1}}')
        await socket.send('{"jsonrpc":"2.0","id":99,"method":"do.this"}')
        await socket.send('{"jsonrpc":"2.0","id":99,"result":{}}')
        await socket.send('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}')
        await socket.recv()
        await socket.send('{"jsonrpc":"2.0","id":1,"result":{"text":"fine"}}')
        await socket.wait_closed()

    async with serve(chatter, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with connect(f"http://127.0.0.1:{port}", token=TOKEN) as link:
            with anyio.fail_after(5):
                assert await link.call("say", Say(text="?"), Said) == Said(text="fine")


async def test_the_subscriptions_of_a_link_can_be_named_by_hand(bench: Bench) -> None:
    async with bench.link() as link:
        named = EventsSubscribe(episode="ep1", subscription="mine")
        assert await link.call("events.subscribe", named, Subscribed) == Subscribed(subscription="mine")
        with pytest.raises(BadArguments, match="mine"):
            await link.call("events.subscribe", named, Subscribed)
        other = await link.call("events.subscribe", EventsSubscribe(episode="ep1"), Subscribed)
        assert other.subscription not in {"", "mine"}


async def test_raw_nonsense_is_answered_with_the_id_where_there_is_one(bench: Bench) -> None:
    async with open_socket(bench.url, additional_headers={"Authorization": f"Bearer {TOKEN}"}) as socket:
        with anyio.fail_after(5):
            for sent, expected in [
                ("{", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,'),
                ('{"jsonrpc":"2.0","id":5,"method":{}}', '{"jsonrpc":"2.0","id":5,"error":{"code":-32600,'),
                ("x" * (MESSAGE_CAP_BYTES + 1), '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,'),
                ('{"jsonrpc":"2.0","id":6,"method":"sing"}', '{"jsonrpc":"2.0","id":6,"error":{"code":-32601,'),
                ('{"jsonrpc":"2.0","id":7,"method":"say"}', '{"jsonrpc":"2.0","id":7,"error":{"code":-32602,'),
            ]:
                await socket.send(sent)
                assert str(await socket.recv()).startswith(expected)
            await socket.send('{"jsonrpc":"2.0","method":"say"}')
            await socket.send('{"jsonrpc":"2.0","id":1,"result":{}}')
            await socket.send('{"jsonrpc":"2.0","id":8,"method":"say","params":{"text":"a"}}')
            assert '"id":8,"result"' in str(await socket.recv())
