"""Unmodified Codex and Claude Code prove a shipped problem together."""

from pathlib import Path

import anyio
import pytest

from tests.clients_real.conftest import bench
from tests.model_endpoints.proving import prove
from tests.model_endpoints.server import scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(150)]


@pytest.mark.parametrize("names", [["codex-1"], ["claude-1"]], ids=" ".join)
async def test_a_team_proves_a_problem(names: list[str], tmp_path: Path, real_clients: pytest.MonkeyPatch) -> None:
    with scripted_model(prove) as model:
        async with bench(tmp_path, model, real_clients) as place:
            specs = [await place.register(name) for name in names]
            async with place.playing(specs) as agents:
                closed = await place.event("episode_closed", timeout_s=60)
                with anyio.fail_after(15):
                    codes = [await agent.wait() for agent in agents]
            assert closed.body["status"] == "solved"
            assert codes == [0] * len(names)
