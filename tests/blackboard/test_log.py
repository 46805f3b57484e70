from collections.abc import AsyncGenerator
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import pytest
from redis.asyncio import Redis

from blackboard.board import Board
from blackboard.chain import Entry, seal
from blackboard.in_redis import EpisodeStore
from blackboard.keys import key
from blackboard.types import CallToken
from blackboard.wakeup import Tails

pytestmark = pytest.mark.anyio


@pytest.fixture
async def raw(socket: Path) -> AsyncGenerator[Any]:
    """The server without the board, to do what the board never does."""
    async with Redis.from_url(f"unix://{socket}", decode_responses=True) as client:  # pyright: ignore[reportUnknownMemberType]
        yield client


async def note(board: Board, episode: str, text: str = "x") -> int:
    return (await board.send(episode, "ada", type="note", text=text)).at_seq


async def clients(raw: Any) -> dict[str, int]:
    return await raw.info("clients")


async def test_events_are_numbered_without_holes(board: Board, episode: str) -> None:
    for _ in range(5):
        await note(board, episode)
    events = await board.events(episode)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert await board.last_seq(episode) == len(events)
    assert [event.seq for event in await board.events(episode, after_seq=3, limit=2)] == [4, 5]
    assert events[0].kind == "episode_opened"


async def test_waiting_returns_what_is_there_at_once(board: Board, episode: str) -> None:
    seq = await note(board, episode)
    assert [event.seq for event in await board.wait(episode, seq - 1, 0)] == [seq]
    assert await board.wait(episode, seq, 0) == []


async def test_waiting_ends_with_its_time(board: Board, episode: str) -> None:
    with anyio.fail_after(5):
        assert await board.wait(episode, await board.last_seq(episode), 0.05) == []


async def test_waiting_goes_on_after_the_end_of_the_episode(board: Board, episode: str) -> None:
    await board.close_episode(episode, "unsolved")
    seq = await board.last_seq(episode)
    assert [event.kind for event in await board.wait(episode, seq - 1, 1)] == ["episode_closed"]
    assert await board.wait(episode, seq, 0.01) == []


async def test_a_hundred_waiters_share_one_connection_and_wake_soon(board: Board, episode: str, raw: Any) -> None:
    seq = await board.last_seq(episode)
    before = busy = await clients(raw)
    started, woken = list[float](), list[float]()

    async def run() -> None:
        (event,) = await board.wait(episode, seq, 30)
        assert event.body["text"] == "wake up"
        woken.append(monotonic())

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for _ in range(100):
                tasks.start_soon(run)
            while not (busy := await clients(raw))["blocked_clients"]:
                await anyio.lowlevel.checkpoint()
            started.append(monotonic())
            await note(board, episode, "wake up")
    assert busy["blocked_clients"] == 1
    assert busy["connected_clients"] - before["connected_clients"] <= 17
    assert len(woken) == 100
    assert sorted(woken)[94] - started[0] < 0.2


async def test_what_happened_before_the_following_began_is_read(episode: str, socket: Path) -> None:
    async with EpisodeStore.open(f"unix://{socket}") as store:
        with anyio.fail_after(5):
            entries = await Tails(store).entries_after(episode, 1)
    assert [entry.seq for entry in entries] == [2, 3, 4, 5]


async def test_when_the_waiter_that_reads_for_all_leaves_another_takes_over(board: Board, episode: str) -> None:
    seq = await board.last_seq(episode)
    got: list[int] = []

    async def stay() -> None:
        got.extend(event.seq for event in await board.wait(episode, seq, 20))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            leader = anyio.CancelScope()
            tasks.start_soon(lead, leader, board, episode)
            await anyio.wait_all_tasks_blocked()
            for _ in range(3):
                tasks.start_soon(stay)
            await anyio.wait_all_tasks_blocked()
            leader.cancel()
            await anyio.wait_all_tasks_blocked()
            await note(board, episode)
    assert got == [seq + 1] * 3


async def lead(scope: anyio.CancelScope, board: Board, episode: str) -> None:
    with scope:
        await board.wait(episode, await board.last_seq(episode), 20)


async def test_waiters_of_different_places_each_get_what_they_lack(board: Board, episode: str) -> None:
    seq = await board.last_seq(episode)
    got: dict[int, list[int]] = {}

    async def run(after: int) -> None:
        got[after] = [event.seq for event in await board.wait(episode, after, 20)]

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for after in (seq, seq + 1, seq + 2):
                tasks.start_soon(run, after)
            await anyio.wait_all_tasks_blocked()
            for _ in range(3):
                await note(board, episode)
    assert {after: numbers[0] for after, numbers in got.items()} == {seq: seq + 1, seq + 1: seq + 2, seq + 2: seq + 3}


async def test_a_waiter_that_is_far_behind_gets_old_events(board: Board, episode: str) -> None:
    first = await note(board, episode)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(board.wait, episode, await board.last_seq(episode), 5)
            await note(board, episode)
    assert (await board.wait(episode, first - 1, 1))[0].seq == first


async def test_an_untouched_log_verifies(board: Board, episode: str) -> None:
    await note(board, episode, "ünïcode \n {} [] 😀")
    assert await board.verify_chain(episode) is None


async def rewrite(raw: Any, episode: str, seq: int, **changes: str | None) -> None:
    """Replace the log by a copy in which one entry is changed, or dropped when a field is None."""
    stream = key(episode, "events")
    rows = await raw.xrange(stream)
    await raw.delete(stream)
    for name, fields in rows:
        if name == f"{seq}-0":
            if None in changes.values():
                continue
            await raw.xadd(stream, fields | changes, id=name)
        else:
            await raw.xadd(stream, fields, id=name)


@pytest.mark.parametrize("field", ["actor", "kind", "at", "body", "prev", "hash"])
async def test_a_changed_event_is_found_with_its_position(board: Board, episode: str, raw: Any, field: str) -> None:
    seq = await note(board, episode)
    await note(board, episode)
    changes = {"actor": "eve", "kind": "node_added", "at": "1", "body": "{}", "prev": "0" * 40, "hash": "f" * 40}
    await rewrite(raw, episode, seq, **{field: changes[field]})
    assert await board.verify_chain(episode) == seq


async def test_a_missing_event_is_found_with_its_position(board: Board, episode: str, raw: Any) -> None:
    seq = await note(board, episode)
    last = await note(board, episode)
    await rewrite(raw, episode, last, hash=None)
    assert await board.verify_chain(episode) == last
    await rewrite(raw, episode, seq, hash=None)
    assert await board.verify_chain(episode) == seq


async def forge(raw: Any, episode: str, seq: int) -> None:
    """Change an event and give it the hash that fits."""
    ((_, fields),) = await raw.xrange(key(episode, "events"), f"{seq}-0", f"{seq}-0")
    body = fields["body"].replace('"x"', '"y"')
    forged = Entry(
        seq=seq, kind=fields["kind"], actor=fields["actor"], at_ms=fields["at"], body=body.encode(),
        prev=fields["prev"], hash="",
    )  # fmt: skip
    await rewrite(raw, episode, seq, body=body, hash=seal(forged))


async def test_a_forged_event_breaks_the_chain_behind_it(board: Board, episode: str, raw: Any) -> None:
    """Its own hash fits, but the next event seals another one; behind the last one stands the remembered head."""
    seq = await note(board, episode)
    await forge(raw, episode, seq)
    assert await board.verify_chain(episode) == seq


async def test_a_forged_event_is_found_at_the_event_that_seals_it(board: Board, episode: str, raw: Any) -> None:
    seq = await note(board, episode)
    after = await note(board, episode)
    await forge(raw, episode, seq)
    assert await board.verify_chain(episode) == after


async def test_every_key_of_an_episode_has_its_tag_and_scripts_are_cached(board: Board, episode: str, raw: Any) -> None:
    await note(board, episode)
    token: CallToken = await board.begin_call(episode, "ada")
    await board.end_call(token)
    await raw.script_flush()
    await note(board, episode)
    assert [name async for name in raw.scan_iter(f"*{episode}*") if not name.startswith(f"{{ep:{episode}}}:")] == []
