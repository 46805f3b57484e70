"""Servers that go away, are not there, or differ; replies as large as they may be; calls side by side."""

import json
import shutil
import signal
import threading
import time
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.staging import stage_bundle
from bus.messages import AgentRegister, AgentRegistered, EpisodeCreate, EpisodeCreated, ProblemText
from clients.agent_spec import AgentSpec
from clients.hosted import FollowingLimits, HostedAgent
from clients.launch import team
from clients.transcript import Exited, SessionBegan, ToolCalled, TurnEnded, read_transcript
from scenarios.lean.problem_files import load_problem
from tests.adapter_server.conftest import DaemonProcess
from tests.clients_real.conftest import FAST, OpenBench
from tests.model_endpoints.conversation import Answer, Call, Conversation
from tests.model_endpoints.server import ScriptedModel, scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(150)]

HOSTS = ["codex-1", "claude-1"]
THINKING_S = 0.5
WAIT_S = 4


async def asked(model: ScriptedModel, count: int, *, timeout_s: float = 40) -> None:
    with anyio.fail_after(timeout_s):
        while len(model.asked) < count:
            await anyio.sleep(0.05)


@pytest.fixture
def own_daemon(tmp_path: Path, real_clients: pytest.MonkeyPatch) -> DaemonProcess:
    assert real_clients
    return DaemonProcess(tmp_path / "own")


async def registered(process: DaemonProcess, names: list[str]) -> list[AgentSpec]:
    problem = load_problem("append_nil")
    text = ProblemText(name=problem.name, source=problem.source, theorem=problem.theorem)
    async with process.bus() as link:
        created = await link.call("episode.create", EpisodeCreate(problem=text), EpisodeCreated, timeout_s=120)
        specs: list[AgentSpec] = []
        for name in names:
            wanted = AgentRegister(episode=created.episode, name=name)
            answer = await link.call("agent.register", wanted, AgentRegistered)
            kind = name.split("-")[0]
            specs.append(AgentSpec(name=name, url=answer.url, token=answer.token, kind=kind, model="scripted"))
        return specs


def go_on_after_errors(seen: Conversation) -> Answer:
    """Digest, wait; after an error digest again until it works."""
    if len(seen.results) < 1:
        return [Call(tool="digest")]
    if len(seen.results) < 2:
        return [Call(tool="wait", arguments={"for": ["mail"], "timeout_s": 40})]
    assert seen.last is not None
    if seen.last.tool == "digest" and "me" in seen.last.facts:
        return "I am back."
    time.sleep(THINKING_S)
    return [Call(tool="digest")]


async def test_both_hosts_recover_when_the_server_is_killed_during_their_calls(
    own_daemon: DaemonProcess, tmp_path: Path, real_clients: pytest.MonkeyPatch
) -> None:
    await anyio.to_thread.run_sync(own_daemon.start)
    try:
        with scripted_model(go_on_after_errors) as model:
            for name, value in model.environment.items():
                real_clients.setenv(name, value)
            specs = await registered(own_daemon, HOSTS)
            async with team(specs, log_folder=tmp_path / "agents", limits=FAST) as agents:
                await asked(model, 4)
                await anyio.to_thread.run_sync(own_daemon.stop, signal.SIGKILL)
                await anyio.to_thread.run_sync(own_daemon.start)
                with anyio.fail_after(60):
                    for agent in agents:
                        assert isinstance(agent, HostedAgent)
                        while agent.account.usage.output == 0:
                            await anyio.sleep(0.1)
    finally:
        await anyio.to_thread.run_sync(own_daemon.stop)
    for name in HOSTS:
        entries = [line.entry for line in read_transcript(tmp_path / "agents" / f"{name}.jsonl")]
        calls = [entry for entry in entries if isinstance(entry, ToolCalled)]
        assert sum(isinstance(entry, SessionBegan) for entry in entries) == 1
        assert [call.tool for call in calls[:2]] == ["digest", "wait"]
        assert calls[1].is_error
        assert not calls[-1].is_error


@pytest.mark.parametrize("name", HOSTS)
async def test_a_server_that_is_down_at_the_start_is_noticed(
    name: str, own_daemon: DaemonProcess, tmp_path: Path, real_clients: pytest.MonkeyPatch
) -> None:
    limits = FollowingLimits(restarts=1, restart_pause_s=0.1)
    spec = AgentSpec(
        name=name, url="http://127.0.0.1:9/mcp/e/a", token="t-1", kind=name.split("-", maxsplit=1)[0], model="scripted"
    )  # fmt: skip
    with scripted_model(lambda _: "There are no tools.") as model:
        for key, value in model.environment.items():
            real_clients.setenv(key, value)
        async with team([spec], log_folder=tmp_path / "agents", limits=limits) as agents:
            (agent,) = agents
            assert isinstance(agent, HostedAgent)
            with anyio.fail_after(60):
                assert await agent.wait() == 1
    assert agent.account.exit_reason == "the adapter could not be reached"


@pytest.mark.parametrize("name", HOSTS)
async def test_a_reply_of_the_largest_size_arrives_uncut_and_reading_calls_run_side_by_side(
    name: str, bench: OpenBench
) -> None:
    proof = "intro a xs\n  " + "-- ü" * 2000 + "\n  induction xs with | nil => rfl | cons x xs ih => simp [append, ih]"
    source = f"theorem long_one : ∀ {{a : Type}} (xs : lst a), append xs (@lst.nil a) = xs := by\n  {proof}"

    def script(seen: Conversation) -> Answer:
        if len(seen.results) < 1:
            return [Call(tool="find", arguments={"q": "long_one"})]
        if len(seen.results) < 2:
            stored = seen.results[0].facts["hits"][0]["id"]
            waits = [
                Call(tool="wait", arguments={"for": ["mail"], "timeout_s": WAIT_S, "ref": f"r{i}"}) for i in range(3)
            ]
            return [Call(tool="get", arguments={"id": stored, "max_bytes": 7000}), *waits]
        return "I have read it."

    with scripted_model(script) as model:
        async with bench(model) as place:
            spec, other = await place.register(name), await place.register("ada-1")
            await place.call(other, "check", source=source)
            async with place.playing([spec]):
                await asked(model, 2)
                began = time.monotonic()
                await place.entry(name, TurnEnded, outcome="completed")
                seconds = time.monotonic() - began
            stored = model.asked[-1].results[0].facts["hits"][0]["id"]
            whole = await place.call(other, "get", id=stored, max_bytes=7000)
    result = model.asked[-1].results[1]
    assert len(whole.encode()) > 6000
    assert result.text.partition("\nnews:")[0].strip() == whole.partition("\nnews:")[0].strip()
    assert seconds < 3 * WAIT_S, "the calls ran one after the other"


async def test_two_episodes_at_a_time_have_their_own_tools(
    bench: OpenBench, daemon_folder: Path, tmp_path: Path
) -> None:
    source = tmp_path / "version"
    shutil.copytree(default_bundle_folder(), source)
    tools = json.loads((source / "tools.json").read_text())
    tools["find"]["enabled"] = False
    tools["digest"]["description"] = "Look around, in other words."
    (source / "tools.json").write_text(json.dumps(tools))

    def script(seen: Conversation) -> Answer:
        return [Call(tool="digest")] if seen.last is None else "I have seen it."

    with scripted_model(script) as model, scripted_model(script) as other_model:
        async with bench(model) as usual:
            staged = stage_bundle(source, daemon_folder / "server" / "adapters")
            usual_specs = [await usual.register(name) for name in HOSTS]
            async with usual.playing(usual_specs):
                for name in HOSTS:
                    await usual.entry(name, TurnEnded)
                async with bench(other_model, adapter=staged.id) as other:
                    other.logs = tmp_path / "others"
                    async with other.playing([await other.register(name) for name in HOSTS]):
                        for name in HOSTS:
                            await other.entry(name, TurnEnded)
    for seen in model.asked:
        assert "find" in seen.tools
        assert "Look around, in other words." not in seen.text
    for seen in other_model.asked:
        assert seen.tools
        assert "find" not in seen.tools
        assert "Look around, in other words." in seen.text


@pytest.mark.parametrize("name", HOSTS)
async def test_a_model_that_fails_for_a_moment_is_asked_again(name: str, bench: OpenBench) -> None:
    def script(seen: Conversation) -> Answer:
        return [Call(tool="digest")] if seen.last is None else "I have seen it."

    with scripted_model(script) as model:
        model.fails = 2
        async with bench(model) as place:
            async with place.playing([await place.register(name)]) as agents:
                await place.entry(name, TurnEnded, outcome="completed")
            assert [call.tool for call in place.calls(name)] == ["digest"]
            assert agents[0].account.sessions == 1


@pytest.mark.parametrize("name", HOSTS)
async def test_a_host_that_hangs_is_started_again(name: str, bench: OpenBench) -> None:
    may_answer = threading.Event()

    def script(seen: Conversation) -> Answer:
        if seen.last is None and "cut off" not in seen.text:
            may_answer.wait(30)
        return [Call(tool="digest")] if seen.last is None else "I have seen it."

    limits = FollowingLimits(hang_s=8, grace_s=1, restart_pause_s=0.1, wake_every_s=3600)
    with scripted_model(script) as model:
        async with bench(model) as place, place.playing([await place.register(name)], limits=limits):
            await place.entry(name, Exited, reason="silent for 8 seconds")
            await place.entry(name, ToolCalled, tool="digest", timeout_s=60)
            may_answer.set()
