"""A session that waits is woken, one that works is steered or interrupted, one that has died goes on."""

import os
import signal
import tempfile
from pathlib import Path

import anyio
import pytest

from clients.agent_spec import Budget
from clients.hosted import FIRST, FollowingLimits
from clients.transcript import Exited, SessionBegan, ToolCalled, TurnEnded, Woken
from tests.clients_real.conftest import FAST, OpenBench
from tests.model_endpoints.conversation import Answer, Call, Conversation
from tests.model_endpoints.proving import LEMMAS, PROOFS
from tests.model_endpoints.server import scripted_model

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

HOSTS = ["codex-1", "claude-1"]
FALSE = "∀ (f : Nat → Nat) (n : Nat), f n = n"
"""The server tries no function, so that it does not find out by itself."""
NOT_FALSE = f"theorem no : ¬ ({FALSE}) := by intro h; exact absurd (h (fun _ => 1) 0) (by decide)"


def look_and_stop(seen: Conversation) -> Answer:
    """One digest for every text of the launcher."""
    return [Call(tool="digest")] if len(seen.results) < seen.text.count("Call digest.") + 1 else "I have looked."


def take_and_stop(seen: Conversation) -> Answer:
    """Take a part and end the turn; look when told about it."""
    if seen.last is None:
        return [Call(tool="claim", arguments={"action": "next"})]
    return [Call(tool="digest")] if seen.last.tool == "claim" and "Call digest." in seen.text else "I wait."


def wait_long(seen: Conversation) -> Answer:
    """Take a part and wait for mail; stop when told about it."""
    if seen.last is None:
        return [Call(tool="claim", arguments={"action": "next"})]
    if "which you worked on, is proved" in seen.text:
        return "I have heard."
    return [Call(tool="wait", arguments={"for": ["mail"], "timeout_s": 8})]


def wait_for_ever(seen: Conversation) -> Answer:
    if seen.last is None:
        return [Call(tool="digest")]
    return [Call(tool="wait", arguments={"for": ["mail"], "timeout_s": 45})]


@pytest.mark.parametrize("name", HOSTS)
async def test_an_idle_agent_is_woken_by_a_message_to_it(name: str, bench: OpenBench) -> None:
    with scripted_model(look_and_stop) as model:
        async with bench(model) as place:
            spec, other = await place.register(name), await place.register("ada-1")
            async with place.playing([spec]) as agents:
                await place.entry(name, TurnEnded, outcome="completed")
                await place.call(other, "say", type="request", text="please look at n0", to=[name])
                woken = await place.entry(name, Woken, how="prompted")
                with anyio.fail_after(20):
                    while sum(isinstance(entry, TurnEnded) for entry in place.entries(name)) < 2:
                        await anyio.sleep(0.1)
            assert woken.reason == "message m1 waits"
            assert [call.tool for call in place.calls(name)] == ["digest", "digest"]
            assert agents[0].account.sessions == 1
            assert "ada-1 has written to you (m1). Call digest." in model.asked[-1].text
            assert "please look at n0" in model.asked[-1].text


@pytest.mark.parametrize("name", HOSTS)
async def test_an_idle_agent_is_woken_when_its_part_is_shown_to_be_false(name: str, bench: OpenBench) -> None:
    with scripted_model(take_and_stop) as model:
        async with bench(model) as place:
            spec, other = await place.register(name), await place.register("ada-1")
            await place.call(other, "claim", action="take", node="n0")
            await place.call(other, "plan", action="add", name="all_keep", statement=FALSE)
            async with place.playing([spec]):
                await place.entry(name, TurnEnded, outcome="completed")
                await place.call(other, "refute", kind="proof", node="n1", lean=NOT_FALSE)
                woken = await place.entry(name, Woken, how="prompted")
                await place.entry(name, ToolCalled, tool="digest")
            assert woken.reason == "n1 was refuted"
            assert [call.tool for call in place.calls(name)] == ["claim", "digest"]
            assert "all_keep, which you worked on, was shown to be false. Call digest." in model.asked[-1].text


@pytest.mark.parametrize("name", HOSTS)
async def test_a_working_agent_is_steered_when_another_closes_its_part(name: str, bench: OpenBench) -> None:
    with scripted_model(wait_long) as model:
        async with bench(model) as place:
            spec, other = await place.register(name), await place.register("ada-1")
            await place.call(other, "claim", action="take", node="n0")
            await place.call(other, "plan", action="add", name="append_nil", statement=LEMMAS["append_nil"])
            async with place.playing([spec]):
                await place.event("lease_granted", agent=name)
                source = f"theorem append_nil : {LEMMAS['append_nil']} := by {PROOFS['append_nil']}"
                await place.call(other, "check", source=source)
                steered = await place.entry(name, Woken, how="steered")
                ended = await place.entry(name, TurnEnded)
            assert steered.reason == "n1 was closed"
            assert ended.outcome == "completed"
            assert "append_nil, which you worked on, is proved" in model.asked[-1].text


@pytest.mark.parametrize("name", HOSTS)
async def test_a_finished_episode_interrupts_a_call_and_ends_the_agent(name: str, bench: OpenBench) -> None:
    with scripted_model(wait_for_ever) as model:
        async with bench(model) as place:
            spec = await place.register(name)
            async with place.playing([spec]) as agents:
                await place.entry(name, ToolCalled, tool="digest")
                with anyio.fail_after(20):
                    while len(model.asked) < 2:
                        await anyio.sleep(0.05)
                await place.close()
                with anyio.fail_after(10):
                    assert await agents[0].wait() == 0
            assert agents[0].account.exit_reason == "the episode has ended"
            assert "interrupted: the episode has ended" in agents[0].account.wakes


def has_saved(name: str, session: str) -> bool:
    """Whether the host has the session on disk as far as its first tool call."""
    found = Path(tempfile.gettempdir()).glob(f"adapter-agent-{name}-*/**/*{session}*.jsonl")
    return any("digest" in file.read_text(errors="replace") for file in found)


@pytest.mark.parametrize("name", HOSTS)
async def test_a_killed_agent_goes_on_with_its_session(name: str, bench: OpenBench) -> None:
    def script(seen: Conversation) -> Answer:
        return "Here I am again." if "cut off" in seen.text else wait_for_ever(seen)

    with scripted_model(script) as model:
        async with bench(model) as place:
            spec = await place.register(name)
            async with place.playing([spec]) as agents:
                began = await place.entry(name, SessionBegan)
                await place.entry(name, ToolCalled, tool="digest")
                with anyio.fail_after(20):
                    while len(model.asked) < 2 or not has_saved(name, began.session):
                        await anyio.sleep(0.05)
                assert agents[0].pid is not None
                os.killpg(agents[0].pid, signal.SIGKILL)
                await place.entry(name, TurnEnded, outcome="completed")
            sessions = [entry.session for entry in place.entries(name) if isinstance(entry, SessionBegan)]
            assert sessions == [began.session, began.session]
            assert place.entries(name).count(Exited(reason="exit code -9", exit_code=-9)) == 1
            assert FIRST in model.asked[-1].said, "the history is gone"
            assert model.asked[-1].said[-1].startswith("Your session was cut off (exit code -9).")


@pytest.mark.parametrize("name", HOSTS)
async def test_an_agent_that_never_calls_a_tool_is_given_up(name: str, bench: OpenBench) -> None:
    limits = FollowingLimits(restarts=1, restart_pause_s=0.1, silent_turns=2, wake_every_s=0.1, idle_s=3600)
    with scripted_model(lambda _: "I would rather talk.") as model:
        async with bench(model) as place:
            spec = await place.register(name)
            async with place.playing([spec], limits=limits) as agents:
                with anyio.fail_after(40):
                    assert await agents[0].wait() == 1
            assert agents[0].account.exit_reason == "never called a tool"
            assert agents[0].account.turns == 4
            assert "prompted: no tool was called" in agents[0].account.wakes


@pytest.mark.parametrize(
    ("name", "budget", "reason"),
    [
        ("codex-1", Budget(turns=1), "budget: 1 turns"),
        ("claude-1", Budget(tokens=250), "budget: 250 tokens"),
        ("codex-1", Budget(tokens=100), "budget: 100 tokens"),
        ("codex-1", Budget(seconds=3), "budget: 3 seconds"),
    ],
)
async def test_a_budget_ends_an_agent(name: str, budget: Budget, reason: str, bench: OpenBench) -> None:
    script = look_and_stop if budget.turns else wait_for_ever
    with scripted_model(script) as model:
        async with bench(model) as place:
            spec = await place.register(name, budget=budget)
            async with place.playing([spec], limits=FAST) as agents:
                with anyio.fail_after(30):
                    assert await agents[0].wait() == 0
            assert agents[0].account.exit_reason == reason
