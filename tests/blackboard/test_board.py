from pathlib import Path

import anyio
import pytest

from blackboard.board import Board
from blackboard.in_redis import EpisodeStore
from bus.errors import Internal, UnknownId

pytestmark = pytest.mark.anyio


async def test_two_boards_on_one_store_see_each_other(board: Board, episode: str, socket: Path) -> None:
    async with Board.open(f"unix://{socket}") as other:
        seq = await board.last_seq(episode)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(say, other, episode)
            (event,) = await board.wait(episode, seq, 20)
            assert event.body["text"] == "hello"
        assert await other.messages(episode) == await board.messages(episode)


async def say(board: Board, episode: str) -> None:
    await board.send(episode, "ada", type="note", text="hello")


async def test_a_board_goes_on_after_calls_that_were_cancelled(board: Board, episode: str) -> None:
    """Whatever was cut off in the middle, later answers belong to their questions."""
    for round_number in range(40):
        with anyio.move_on_after(0.0002 * (round_number % 8)):
            async with anyio.create_task_group() as tasks:
                for _ in range(4):
                    tasks.start_soon(say, board, episode)
    meta = await board.meta(episode)
    assert meta.episode == episode
    assert (await board.node(episode, "n0")).name == "main"
    assert await board.verify_chain(episode) is None


async def test_a_command_that_the_store_refuses_is_a_defect(socket: Path, episode: str) -> None:
    async with EpisodeStore.open(f"unix://{socket}") as store:
        with pytest.raises(Internal):
            await store.ask("send", episode=episode, args={"nothing": "fits"})


async def test_an_id_that_could_leave_its_keys_is_unknown(board: Board) -> None:
    for name in ("a}b", "a b", "", "x" * 65):
        with pytest.raises(UnknownId):
            await board.last_seq(name)
        with pytest.raises(UnknownId):
            await board.node(name, "n0")
