"""What the hosts show a model, and that nothing else changes unnoticed with their next version."""

import stat
from pathlib import Path
from shutil import which

import anyio
import pytest

from clients.binaries import PROGRAMS
from clients.transcript import Entry, ToolCalled, TurnEnded
from tests.clients_real.conftest import OpenBench
from tests.model_endpoints.conversation import Answer, Call, Code, Conversation
from tests.model_endpoints.server import scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

HOSTS = ["codex-1", "claude-1"]
TOOLS = {"digest", "wait", "plan", "claim", "check", "find", "get", "say", "submit", "refute", "job", "feedback"}
GOLDEN = {
    "codex-1": "session_began turn_began digest get get spoke turn_ended",
    "claude-1": "session_began turn_began digest get get spoke turn_ended",
}


def tour(seen: Conversation) -> Answer:
    """One call, then two at once, then a word."""
    if len(seen.results) == 0:
        return [Call(tool="digest")]
    if len(seen.results) == 1:
        return [Call(tool="get", arguments={"id": "problem"}), Call(tool="get", arguments={"id": "n0"})]
    return "I have seen it."


def kind(entry: Entry) -> str:
    return entry.tool if isinstance(entry, ToolCalled) else str(type(entry).__struct_config__.tag)


@pytest.mark.parametrize("name", HOSTS)
async def test_the_model_sees_the_versions_tools_prompts_and_skills(name: str, bench: OpenBench) -> None:
    with scripted_model(tour) as model:
        async with bench(model) as place:
            spec = await place.register(name)
            async with place.playing([spec]):
                await place.entry(name, TurnEnded, outcome="completed")
            entries = place.entries(name)
    first = model.asked[0]
    assert set(first.tools) == TOOLS
    for text in (spec.prompts["team"].splitlines()[0], spec.prompts["role"].strip(), "prove-with-the-team"):
        assert text in first.text
    assert spec.prompts["instructions"][:200] in first.text
    told = f"this version of {PROGRAMS[spec.kind].title} talks differently from {PROGRAMS[spec.kind].tried}"
    assert " ".join(kind(entry) for entry in entries[: len(GOLDEN[name].split())]) == GOLDEN[name], told
    usage = next(entry.usage for entry in entries if isinstance(entry, TurnEnded))
    assert (usage.input, usage.cached, usage.output) == ((300, 120, 30) if spec.kind == "codex" else (420, 120, 30))


async def test_a_codex_model_that_calls_tools_from_code_works_too(bench: OpenBench) -> None:
    def script(seen: Conversation) -> Answer:
        if seen.last is None:
            return Code(source="const r = await tools.mcp__adapter__digest({}); text(JSON.stringify(r));")
        return "I have seen it."

    with scripted_model(script) as model:
        async with bench(model) as place:
            spec = await place.register("codex-1", model="gpt-5.6-sol")
            async with place.playing([spec]):
                await place.entry("codex-1", TurnEnded, outcome="completed", timeout_s=40)
            assert [(call.server, call.tool) for call in place.calls("codex-1")] == [("adapter", "digest")]
    assert place.episode in model.asked[-1].results[-1].text
    assert spec.prompts["instructions"][:240] in model.asked[0].text


@pytest.mark.parametrize("name", HOSTS)
async def test_no_connection_leaves_this_machine(
    name: str, bench: OpenBench, real_clients: pytest.MonkeyPatch, binaries: dict[str, Path], tmp_path: Path
) -> None:
    if (strace := which("strace")) is None:
        pytest.skip("strace is not installed")
    program, traced = PROGRAMS[name.split("-", maxsplit=1)[0]], tmp_path / "connections"
    wrapper = tmp_path / "traced"
    wrapper.write_text(
        f'#!/bin/sh\nexec {strace} -f -qq -o {traced} -e trace=connect,sendto,sendmsg {binaries[program.kind]} "$@"\n'
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    real_clients.setenv(program.variable, str(wrapper))
    with scripted_model(tour) as model:
        async with bench(model) as place:
            spec = await place.register(name)
            async with place.playing([spec]):
                await place.entry(name, TurnEnded, outcome="completed", timeout_s=60)
                await anyio.sleep(1)
    lines = [line for line in traced.read_text().splitlines() if "AF_INET" in line]
    assert any("127.0.0.1" in line for line in lines)
    assert [line for line in lines if "127.0.0.1" not in line and '"::1"' not in line] == []
