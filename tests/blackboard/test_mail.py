import pytest

from blackboard.board import Board
from blackboard.mail import TEXT_MAX_BYTES
from bus.errors import BadArguments, TooLarge, UnknownId, UnknownRecipient

pytestmark = pytest.mark.anyio


async def test_a_message_to_all_is_seen_by_all(board: Board, episode: str) -> None:
    sent = await board.send(episode, "ada", type="idea", text="induction on xs", ref="n0", needs_ack=True)
    assert (sent.id, sent.to, sent.ref, sent.needs_ack) == ("m1", (), "n0", True)
    assert await board.messages(episode, "cyd") == [sent]
    assert await board.message(episode, "m1") == sent


async def test_a_message_to_one_is_seen_by_both_ends_only(board: Board, episode: str) -> None:
    sent = await board.send(episode, "ada", type="request", text="take n1?", to=["bob", "bob"])
    assert sent.to == ("bob",)
    assert await board.messages(episode, "bob") == [sent]
    assert await board.messages(episode, "ada") == [sent]
    assert await board.messages(episode, "cyd") == []
    assert await board.messages(episode) == [sent]


async def test_an_unknown_recipient_is_an_error_and_nothing_is_sent(board: Board, episode: str) -> None:
    with pytest.raises(UnknownRecipient) as caught:
        await board.send(episode, "ada", type="note", text="hi", to=["bob", "bobby"])
    assert caught.value.facts["roster"] == ["ada", "bob", "cyd"]
    assert await board.messages(episode) == []
    assert await board.messages(episode, "bob") == []


async def test_the_last_messages_come_in_order(board: Board, episode: str) -> None:
    for number in range(6):
        await board.send(episode, "ada", type="note", text=str(number), to=["bob"] if number % 2 else [])
    assert [message.text for message in await board.messages(episode, "bob", limit=3)] == ["3", "4", "5"]
    assert [message.text for message in await board.messages(episode, "cyd", limit=2)] == ["2", "4"]
    assert [message.text for message in await board.messages(episode, limit=2)] == ["4", "5"]
    assert await board.messages(episode, limit=0) == []
    assert (await board.meta(episode)).messages == 6


async def test_a_message_that_is_sent_again_is_one_message(board: Board, episode: str) -> None:
    first = await board.send(episode, "ada", type="note", text="once", op="s1")
    assert await board.send(episode, "ada", type="note", text="once", op="s1") == first
    assert await board.messages(episode) == [first]


async def test_a_huge_message_is_refused(board: Board, episode: str) -> None:
    with pytest.raises(TooLarge) as caught:
        await board.send(episode, "ada", type="note", text="x" * (TEXT_MAX_BYTES + 1))
    assert caught.value.facts["cap"] == TEXT_MAX_BYTES


async def test_too_many_recipients_are_refused(board: Board, episode: str) -> None:
    with pytest.raises(BadArguments):
        await board.send(episode, "ada", type="note", text="x", to=[f"a{number}" for number in range(201)])


async def test_an_unknown_message_is_an_error(board: Board, episode: str) -> None:
    with pytest.raises(UnknownId):
        await board.message(episode, "m7")
