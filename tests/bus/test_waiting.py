"""Calls and queues of events, as they are seen by who waits for them."""

import anyio
import msgspec
import pytest

from bus.errors import ConnectionLost, Duplicate
from bus.inbox import Inbox
from bus.jsonrpc import Refusal, Reply
from bus.messages import Event
from bus.requests import Requests

pytestmark = pytest.mark.anyio


def event(seq: int) -> Event:
    return Event(episode="ep1", seq=seq, kind="message_sent", actor="ada", at_ms=0)


def test_each_call_gets_its_own_answer() -> None:
    requests = Requests()
    first, second = requests.begin(), requests.begin()
    assert requests.settle(Reply(id=second.number, result=msgspec.Raw(b"2")))
    assert requests.settle(Refusal(id=first.number, error=Duplicate("again", id="x")))
    assert bytes(second.result()) == b"2"
    with pytest.raises(Duplicate):
        first.result()


@pytest.mark.parametrize("number", [7, "1", None])
def test_an_answer_that_nobody_waits_for_is_noticed(number: int | str | None) -> None:
    requests = Requests()
    requests.begin()
    assert not requests.settle(Refusal(id=number, error=Duplicate("again")))


def test_a_second_answer_changes_nothing() -> None:
    requests = Requests()
    call = requests.begin()
    reply = Reply(id=call.number, result=msgspec.Raw(b"1"))
    assert requests.settle(reply)
    assert not requests.settle(reply)
    call.settle(Duplicate("late"))
    assert bytes(call.result()) == b"1"


def test_all_open_calls_are_lost_together() -> None:
    requests = Requests()
    answered, one, other = requests.begin(), requests.begin(), requests.begin()
    requests.settle(Reply(id=answered.number, result=msgspec.Raw(b"1")))
    requests.lose("the line is cut")
    assert bytes(answered.result()) == b"1"
    for call in (one, other):
        assert call.settled.is_set()
        with pytest.raises(ConnectionLost, match="cut"):
            call.result()


async def test_an_inbox_that_has_ended_is_emptied_first() -> None:
    inbox = Inbox()
    assert inbox.put(event(1))
    inbox.end("end")
    assert not inbox.put(event(2))
    assert await inbox.take() == event(1)
    assert await inbox.take() is None


async def test_a_full_inbox_ends_with_a_gap_and_remembers_where() -> None:
    inbox = Inbox(cap_events=2)
    assert [inbox.put(event(seq)) for seq in (1, 2, 3, 4)] == [True, True, False, False]
    inbox.end("end")
    assert (inbox.ending, inbox.last_seq) == ("gap", 2)


async def test_a_reader_is_woken_by_an_event_and_by_the_end() -> None:
    inbox = Inbox()
    taken: list[Event | None] = []

    async def read() -> None:
        while taken[-1:] != [None]:
            taken.append(await inbox.take())

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            inbox.put(event(1))
            await anyio.wait_all_tasks_blocked()
            assert taken == [event(1)]
            inbox.drop()
    assert taken == [event(1), None]
