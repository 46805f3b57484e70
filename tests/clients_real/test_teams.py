"""Unmodified Codex and Claude Code prove a shipped problem together."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import psutil
import pytest

from tests.clients_real.conftest import Bench, OpenBench, facts_of
from tests.model_endpoints.proving import prove
from tests.model_endpoints.server import KEY, scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(150)]

MIXED = ["codex-1", "codex-2", "codex-3", "claude-1", "claude-2"]
TEAMS = [
    MIXED,
    [f"codex-{number}" for number in range(1, 6)],
    [f"claude-{number}" for number in range(1, 6)],
]


@pytest.fixture(autouse=True)
def private_folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the agents' private folders are, while other processes test beside this one."""
    with tempfile.TemporaryDirectory(prefix="team-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def command_lines() -> str:
    """The process list, as any user of the machine sees it."""
    lines: list[str] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            lines.append(" ".join(process.cmdline()))
    return "\n".join(lines)


def assert_each_was_itself(place: Bench, counted: dict[str, int]) -> None:
    for spec in place.specs:
        calls = place.calls(spec.name)
        assert calls[0].tool == "digest"
        assert facts_of(calls[0])["me"] == {"agent": spec.name, "role": spec.role}
        # the call that an interrupt cut off may be missing on one of the two sides
        assert abs(len(calls) - counted[spec.name]) <= 1


def assert_no_secret_is_kept(place: Bench, processes: str) -> None:
    written = "".join(path.read_text(errors="replace") for path in place.logs.rglob("*") if path.is_file())
    for secret in (KEY, *(spec.token for spec in place.specs)):
        assert secret not in processes
        assert secret not in written


async def assert_verified(folder: Path) -> None:
    verify = [sys.executable, "-m", "adapter_server.cli.main", "verify", str(folder)]
    done = await anyio.run_process(verify, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout.decode()


@pytest.mark.parametrize("names", TEAMS, ids="+".join)
async def test_a_team_proves_a_problem_and_the_proof_verifies(
    names: list[str], bench: OpenBench, private_folders: Path
) -> None:
    with scripted_model(prove) as model:
        async with bench(model) as place:
            specs = [await place.register(name) for name in names]
            async with place.playing(specs) as agents:
                await place.event("lemma_accepted")
                processes = command_lines()
                assert len(list(private_folders.glob("adapter-agent-*"))) == len(names)
                closed = await place.event("episode_closed", timeout_s=60)
                with anyio.fail_after(15):
                    codes = [await agent.wait() for agent in agents]
            status = await place.status()
    assert closed.body["status"] == "solved"
    assert codes == [0] * len(names)
    assert {agent.account.exit_reason for agent in agents} == {"the episode has ended"}
    assert_each_was_itself(place, {agent.name: agent.calls for agent in status.agents})
    assert_no_secret_is_kept(place, processes)
    assert list(private_folders.glob("adapter-agent-*")) == []
    assert len({credit.author for credit in status.credit}) > 1
    assert status.certificate is not None
    if names == MIXED:
        await assert_verified(Path(status.certificate).parent)
