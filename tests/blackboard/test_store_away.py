from pathlib import Path
from typing import Any

import anyio
import pytest
from redis.asyncio import Redis

from blackboard.board import Board
from blackboard.folding import fold
from bus.errors import StorageUnavailable
from tests.blackboard.drafts import draft
from tests.blackboard.servers import running_valkey

pytestmark = pytest.mark.anyio


async def test_a_store_that_is_away_is_an_error_and_never_an_empty_answer(tmp_path: Path) -> None:
    """A waiter learns it too; when the store is back, the same board goes on and nothing acknowledged is gone."""
    url = f"unix://{tmp_path}/s"
    async with Board.open(url) as board:
        with pytest.raises(StorageUnavailable):
            await board.ping()
        with running_valkey(tmp_path) as server:
            await board.ping()
            await board.open_episode("e", draft("main"), "ab1-test", {})
            await board.join("e", "ada")
            sent = await board.send("e", "ada", type="note", text="kept")
            client: Any = Redis.from_url(url)  # pyright: ignore[reportUnknownMemberType]
            async with client, anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(expect_failure, board, sent.at_seq)
                while not (await client.info("clients"))["blocked_clients"]:
                    await anyio.lowlevel.checkpoint()
                server.kill()
        with anyio.fail_after(20):
            with pytest.raises(StorageUnavailable) as caught:
                await board.messages("e")
            assert caught.value.is_retryable
            with pytest.raises(StorageUnavailable):
                await board.send("e", "ada", type="note", text="lost")
            with pytest.raises(StorageUnavailable):
                await board.wait("e", 0, 5)
        with running_valkey(tmp_path):
            assert await board.messages("e") == [sent]
            assert fold(await board.events("e")).messages == {"m1": sent}
            assert await board.verify_chain("e") is None


async def expect_failure(board: Board, after_seq: int) -> None:
    with anyio.fail_after(20), pytest.raises(StorageUnavailable):
        await board.wait("e", after_seq, 15)


async def test_nothing_acknowledged_is_lost_and_nothing_happens_twice_when_the_store_is_killed(tmp_path: Path) -> None:
    """Four writers go on through the kill; their retries carry the same operation."""
    acknowledged: list[str] = []
    async with Board.open(f"unix://{tmp_path}/s") as board:
        with running_valkey(tmp_path) as server:
            await board.open_episode("e", draft("main"), "ab1-test", {})
            await board.join("e", "ada")
            async with anyio.create_task_group() as tasks:
                for writer in range(4):
                    tasks.start_soon(write_until_away, board, writer, acknowledged)
                with anyio.fail_after(20):
                    while len(acknowledged) < 100:
                        await board.wait("e", await board.last_seq("e"), 1)
                server.kill()
        with running_valkey(tmp_path):
            texts = [message.text for message in await board.messages("e", limit=100_000)]
            assert len(texts) == len(set(texts))
            assert set(acknowledged) <= set(texts)
            assert await board.verify_chain("e") is None
            for text in texts[-4:]:
                writer, number = text.split()
                await board.send("e", "ada", type="note", text=text, op=f"{writer}-{number}")
            assert (await board.meta("e")).messages == len(texts)


async def write_until_away(board: Board, writer: int, acknowledged: list[str]) -> None:
    number = 0
    while True:
        text = f"{writer} {number}"
        try:
            await board.send("e", "ada", type="note", text=text, op=f"{writer}-{number}")
        except StorageUnavailable:
            return
        acknowledged.append(text)
        number += 1
