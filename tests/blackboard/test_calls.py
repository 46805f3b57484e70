import pytest

from blackboard.board import Board
from blackboard.types import CallToken
from bus.errors import UnknownId
from bus.messages import Event
from tests.blackboard.drafts import draft, proof_of

pytestmark = pytest.mark.anyio


def texts(events: list[Event]) -> list[str]:
    return [event.body["text"] for event in events if event.kind == "message_sent"]


async def say(board: Board, episode: str, text: str) -> None:
    await board.send(episode, "bob", type="note", text=text)


async def call(board: Board, episode: str, *, is_delivered: bool = True) -> list[str]:
    token = await board.begin_call(episode, "ada")
    shown = texts(await board.deltas(token))
    await board.end_call(token, is_delivered=is_delivered)
    return shown


async def test_news_comes_once_when_the_next_call_proves_the_reply(board: Board, episode: str) -> None:
    await say(board, episode, "one")
    assert await call(board, episode) == ["one"]
    await say(board, episode, "two")
    assert await call(board, episode) == ["two"]
    assert await call(board, episode) == []


async def test_what_is_no_news_is_settled_too(board: Board, episode: str) -> None:
    await board.claim(episode, "bob", node="n0", ttl_s=60, per_agent=1, per_node=1)
    token = await board.begin_call(episode, "ada")
    assert (await board.delta_page(token)).events == ()
    await board.end_call(token)
    assert (await board.begin_call(episode, "ada")).committed == await board.last_seq(episode)


async def test_news_of_a_reply_that_was_lost_comes_again_and_is_marked(board: Board, episode: str) -> None:
    await say(board, episode, "one")
    assert await call(board, episode, is_delivered=False) == ["one"]
    await say(board, episode, "two")
    token = await board.begin_call(episode, "ada")
    page = await board.delta_page(token)
    assert texts(list(page.events)) == ["one", "two"]
    assert page.repeated == {page.events[0].seq}


async def test_news_of_a_call_that_never_ended_comes_again(board: Board, episode: str) -> None:
    await say(board, episode, "one")
    token = await board.begin_call(episode, "ada")
    assert texts(await board.deltas(token)) == ["one"]
    assert await call(board, episode) == ["one"]


async def test_a_call_beside_another_proves_nothing(board: Board, episode: str) -> None:
    await say(board, episode, "one")
    slow = await board.begin_call(episode, "ada")
    assert await call(board, episode) == ["one"]
    assert await call(board, episode) == ["one"]
    await board.end_call(slow)
    assert await call(board, episode) == []


async def test_parallel_calls_settle_what_the_longest_of_them_showed(board: Board, episode: str) -> None:
    await say(board, episode, "one")
    first = await board.begin_call(episode, "ada")
    second = await board.begin_call(episode, "ada")
    assert texts(await board.deltas(first)) == ["one"]
    await say(board, episode, "two")
    assert texts(await board.deltas(second)) == ["one", "two"]
    await board.end_call(second)
    await board.end_call(first)
    await say(board, episode, "three")
    assert await call(board, episode) == ["three"]


async def test_a_long_backlog_comes_in_pages_and_nothing_is_lost(board: Board, episode: str) -> None:
    sent = [f"message {number:03}" for number in range(120)]
    for text in sent:
        await say(board, episode, text)
    got: list[str] = []
    for _ in range(40):
        token = await board.begin_call(episode, "ada")
        page = await board.delta_page(token, 900)
        assert 0 < len(page.events) < 10
        got += texts(list(page.events))
        await board.end_call(token)
        if page.left_out == 0:
            break
    assert got == sent


async def test_own_doings_do_not_hide_news_behind_them(board: Board, episode: str) -> None:
    for _ in range(300):
        await board.record_check(episode, "ada", None, [], 0, 0, 1)
    await say(board, episode, "behind")
    assert await call(board, episode) == ["behind"]
    assert await call(board, episode) == []


async def test_news_is_what_concerns_the_agent(board: Board, episode: str) -> None:
    token = await board.begin_call(episode, "ada")
    await board.send(episode, "bob", type="note", text="for cyd", to=["cyd"])
    await board.send(episode, "bob", type="note", text="for ada", to=["ada"])
    await board.send(episode, "ada", type="note", text="own")
    await board.add_node(episode, "bob", draft("one"))
    await board.claim(episode, "ada", node="one", ttl_s=60, per_agent=1, per_node=1)
    await board.claim(episode, "cyd", node="n0", ttl_s=60, per_agent=1, per_node=1)
    await board.record_lemma(episode, "bob", proof_of("one"))
    events = await board.deltas(token)
    assert [event.kind for event in events] == ["message_sent", "node_added", "lemma_accepted", "lease_released"]
    assert events[0].body["text"] == "for ada"


async def test_a_call_counts_and_renews_leases(board: Board, episode: str) -> None:
    lease = await board.claim(episode, "ada", node="n0", ttl_s=5, per_agent=1, per_node=1)
    await board.begin_call(episode, "ada", renew_ttl_s=600)
    (renewed,) = await board.leases(episode, "ada")
    assert renewed.fence == lease.fence
    assert renewed.expires_at_ms > lease.expires_at_ms + 300_000
    assert (await board.agents(episode))[0].calls == 1


async def test_an_agent_of_an_ended_episode_still_gets_its_news(board: Board, episode: str) -> None:
    await board.close_episode(episode, "solved", "assembled")
    token = await board.begin_call(episode, "ada", renew_ttl_s=60)
    assert token.status == "solved"
    (event,) = await board.deltas(token)
    assert event.body == {"status": "solved", "reason": "assembled"}
    await board.end_call(token)
    assert await call(board, episode) == []


async def test_a_stranger_cannot_call(board: Board, episode: str) -> None:
    with pytest.raises(UnknownId):
        await board.begin_call(episode, "dan")
    with pytest.raises(UnknownId):
        await board.begin_call("nowhere", "ada")


async def test_an_agent_that_joins_late_starts_with_what_comes_then(board: Board, episode: str) -> None:
    await say(board, episode, "before")
    await board.join(episode, "dan")
    await say(board, episode, "after")
    token: CallToken = await board.begin_call(episode, "dan")
    assert texts(await board.deltas(token)) == ["after"]
