"""An exported version works as an ordinary plugin of both hosts, started as a person would start them."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from adapter_server.cli.main import run_command
from tests.clients_real.conftest import OpenBench
from tests.model_endpoints.conversation import Answer, Call, Conversation
from tests.model_endpoints.server import ScriptedModel, scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]

CLAUDE_PREFIX = "mcp__plugin_adapter-server_adapter__"


def codex_configuration(model: ScriptedModel) -> str:
    return f"""
model = "scripted"
model_provider = "endpoint"
approval_policy = "never"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.endpoint]
name = "endpoint"
base_url = "{model.url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""


@pytest.mark.parametrize("kind", ["codex", "claude"])
async def test_a_plugin_brings_tools_and_skills_of_the_version(
    kind: str, bench: OpenBench, no_person: dict[str, Path], daemon_folder: Path, tmp_path: Path
) -> None:
    plugin, home = tmp_path / "plugin", tmp_path / "home"
    home.mkdir()
    data = str(daemon_folder / "server")
    export = ["adapter", "export", "built-in", str(plugin), "--host", kind, "--data", data]
    assert await anyio.to_thread.run_sync(run_command, export) == 0
    tool = Call(tool="digest") if kind == "codex" else Call(tool=f"{CLAUDE_PREFIX}digest", is_own=True)

    def script(seen: Conversation) -> Answer:
        return [tool] if seen.last is None else "I have looked."

    with scripted_model(script) as model:
        async with bench(model) as place:
            environment = model.environment | {
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(home), "CODEX_HOME": str(home),
                "ADAPTER_AGENT": f"{kind}-1", "ADAPTER_EPISODE": place.episode, "ADAPTER_DATA": data,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
                "ENABLE_TOOL_SEARCH": "false",
            }  # fmt: skip

            async def run(*words: str) -> str:
                done = await anyio.run_process(
                    [str(no_person[kind]), *words], cwd=home, env=environment, stderr=subprocess.STDOUT, check=False
                )
                assert done.returncode == 0, done.stdout.decode()[-3000:]
                return done.stdout.decode()

            if kind == "codex":
                (home / "config.toml").write_text(codex_configuration(model))
                await run("plugin", "marketplace", "add", str(plugin))
                await run("plugin", "add", "adapter-server@adapter-server")
                await run("exec", "--skip-git-repo-check", "Join the team.")
            else:
                await run("plugin", "validate", str(plugin))
                allowed = ["--allowedTools", CLAUDE_PREFIX.removesuffix("__")]
                await run("--plugin-dir", str(plugin), "-p", "Join the team.", *allowed)
            (agent,) = (await place.status()).agents
    assert (agent.name, agent.calls) == (f"{kind}-1", 1)
    first, last = model.asked[0], model.asked[-1]
    assert "join-the-team" in first.text
    assert "prove-with-the-team" in first.text
    (result,) = last.results
    assert json.loads(result.text.splitlines()[1])["me"]["agent"] == f"{kind}-1"
