"""A real Valkey for all tests of this package, and a fresh episode for each."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from uuid import uuid4

import pytest

from blackboard.board import Board
from tests.blackboard.drafts import draft
from tests.blackboard.servers import running_valkey


@pytest.fixture(scope="session")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    folder = tmp_path_factory.mktemp("valkey")
    with running_valkey(folder):
        yield folder / "s"


@pytest.fixture
async def board(socket: Path) -> AsyncGenerator[Board]:
    async with Board.open(f"unix://{socket}") as board:
        yield board


@pytest.fixture
async def episode(board: Board) -> str:
    """An open episode with the agents ada, bob and cyd."""
    name = f"t-{uuid4().hex[:12]}"
    await board.open_episode(name, draft("main"), "ab1-test", {"problem": "p"})
    for agent in ("ada", "bob", "cyd"):
        await board.join(name, agent, "prover")
    return name
