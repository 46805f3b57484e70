"""The corpus checked through the public path: MCP clients of a real daemon, several at a time."""

import anyio
import pytest

from tests.adapter_server.conftest import (
    DaemonProcess,
    agent_client,
    daemon,  # noqa: F401  # pyright: ignore[reportUnusedImport] - a fixture
    open_episode,
    register,
)
from tests.hostile.cases import Trial, cases, run_case
from tests.hostile.doors import McpDoor
from tests.lemma_store.stores import PROBLEM

AGENTS = 3


@pytest.fixture(scope="session")
async def trials(daemon: DaemonProcess, request: pytest.FixtureRequest) -> dict[str, Trial]:  # noqa: F811
    """What became of every selected case."""
    selected = {item.name.partition("[")[2].removesuffix("]") for item in request.session.items}
    waiting = [case for case in cases() if case.id in selected][::-1]
    found: dict[str, Trial] = {}

    async def work(name: str) -> None:
        async with daemon.bus() as link:
            agent = await register(link, episode, name)
        async with agent_client(agent) as client:
            while waiting:
                case = waiting.pop()
                found[case.id] = await run_case(case, McpDoor(client))

    async with daemon.bus() as link:
        episode = (await open_episode(link, PROBLEM)).episode
    async with anyio.create_task_group() as tasks:
        for number in range(AGENTS):
            tasks.start_soon(work, f"eve-{number}")
    return found
