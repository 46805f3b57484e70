"""An agent that a person starts: the configuration that `connect` writes is one that the real hosts understand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

from tests.clients_real.conftest import Bench, OpenBench
from tests.model_endpoints.conversation import Answer, Call, Conversation
from tests.model_endpoints.server import KEY, ScriptedModel, scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

MODEL = """model = "scripted"
model_provider = "endpoint"
approval_policy = "never"

[model_providers.endpoint]
name = "endpoint"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""


def one_look(seen: Conversation) -> Answer:
    return [Call(tool="digest")] if seen.last is None else f"seen: {seen.last.facts.get('me')}"


def command(place: Bench, *args: str) -> tuple[list[str], dict[str, str]]:
    words = [sys.executable, "-m", "adapter_server.cli.main", *args, "--server", place.server.url]
    return [*words, "--episode", place.episode], {**os.environ, "ADAPTER_TOKEN": place.server.token}


def connected(place: Bench, folder: Path, *args: str) -> str:
    words, environment = command(place, "connect", *args)
    done = subprocess.run(
        words, env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )  # fmt: skip
    return done.stdout


def disconnect(folder: Path, kind: str) -> None:
    words = [sys.executable, "-m", "adapter_server.cli.main", "disconnect", kind, "--agent", "ada"]
    subprocess.run(words, cwd=folder, check=True, timeout=60)


def started(program: list[str], folder: Path, model: ScriptedModel, **variables: str) -> str:
    token = (folder / ".adapter-server" / "ada.token").read_text().strip()
    environment = {**os.environ, **model.environment, "ADAPTER_TOKEN": token, **variables}
    done = subprocess.run(
        program, env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


async def test_codex_works_with_what_connect_wrote(
    bench: OpenBench, binaries: dict[str, Path], tmp_path: Path, real_clients: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "codex-home"
    real_clients.setenv("CODEX_HOME", str(home))
    home.mkdir()
    with scripted_model(one_look) as model:
        before = MODEL.format(url=model.url)
        (home / "config.toml").write_text(before)
        async with bench(model) as place:
            connected(place, tmp_path, "codex", "--agent", "ada", "--write")
            program = [str(binaries["codex"]), "exec", "--skip-git-repo-check", "--strict-config", "look"]
            assert "'agent': 'ada'" in started(program, tmp_path, model)
    disconnect(tmp_path, "codex")
    # what the host itself has written into its file since stays
    assert (home / "config.toml").read_text().startswith(before)
    assert "adapter" not in (home / "config.toml").read_text()
    assert not (tmp_path / ".adapter-server").exists()


async def test_claude_code_works_with_what_connect_wrote(
    bench: OpenBench, binaries: dict[str, Path], tmp_path: Path
) -> None:
    with scripted_model(one_look) as model:
        async with bench(model) as place:
            connected(place, tmp_path, "claude", "--agent", "ada", "--write")
            program = [
                str(binaries["claude"]), "-p", "look", "--model", "scripted", "--mcp-config", ".mcp.json",
                "--strict-mcp-config", "--allowedTools", "mcp__adapter",
            ]  # fmt: skip
            quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
            assert "'agent': 'ada'" in started(program, tmp_path, model, **quiet)
    disconnect(tmp_path, "claude")
    assert not (tmp_path / ".mcp.json").exists()


async def test_printing_changes_nothing(bench: OpenBench, tmp_path: Path) -> None:
    with scripted_model(one_look) as model:
        async with bench(model) as place:
            before = sorted(tmp_path.rglob("*"))
            printed = connected(place, tmp_path, "codex", "--agent", "ada")
    assert f'url = "{place.server.url}/mcp/{place.episode}/ada"' in printed
    assert KEY not in printed
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_host_without_http_works_through_the_relay(mode: str, bench: OpenBench) -> None:
    with scripted_model(one_look) as model:
        async with bench(model) as place:
            words, environment = command(place, "connect", "stdio", "--agent", "ada")
            server = StdioServerParameters(command=words[0], args=words[1:], env=environment)
            async with Client(stdio_client(server), mode=mode) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                result = await client.call_tool("digest", {})
    assert "digest" in names
    assert isinstance(result.content[0], TextContent)
    assert '"agent":"ada"' in result.content[0].text
