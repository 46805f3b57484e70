"""Versions are swapped between episodes: several at once, each with its own tools, words and limits."""

import json
import shutil
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp_types import TextContent

from adapter_server.bundle import Bundle, default_bundle_folder
from adapter_server.cli.main import run_command
from adapter_server.staging import load_bundle, stage_bundle
from bus.errors import BadDataFolder
from bus.link import Link
from tests.adapter_server.conftest import (
    APP_NIL,
    APP_NIL_PROOF,
    REV_REV,
    Agent,
    DaemonProcess,
    agent_client,
    open_episode,
    register,
)

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

ERAS = ("legacy", "auto")
BUILT_IN = load_bundle(default_bundle_folder())


@pytest.fixture
def other(tmp_path: Path, daemon: DaemonProcess) -> Bundle:
    """A staged version without `find`, with other words, prompts and limits."""
    folder = Path(shutil.copytree(default_bundle_folder(), tmp_path / "copy"))
    tools = json.loads((folder / "tools.json").read_text())
    tools["find"]["enabled"] = False
    tools["digest"]["description"] = "Look around first."
    tools["say"]["parameters"]["text"]["max_length"] = 20
    (folder / "tools.json").write_text(json.dumps(tools))
    policy = json.loads((folder / "policy.json").read_text()) | {"lease_s": 33, "leases_per_agent": 1}
    (folder / "policy.json").write_text(json.dumps(policy))
    for name in ("team", "mcp/instructions", "roles/prover"):
        (folder / "prompts" / f"{name}.md").write_text(f"Other words for {name}.\n")
    return stage_bundle(folder, daemon.folder.adapters)


@pytest.fixture
def put_back(daemon: DaemonProcess) -> Generator[None]:
    """What a test puts in use is taken back at its end."""
    yield
    adapter("activate", BUILT_IN.id, daemon)


def adapter(verb: str, word: str, daemon: DaemonProcess) -> None:
    """A command on the data folder while the daemon runs there."""
    assert run_command(["adapter", verb, *filter(None, [word]), "--data", str(daemon.folder.path)]) == 0


async def command(verb: str, word: str, daemon: DaemonProcess) -> None:
    await anyio.to_thread.run_sync(adapter, verb, word, daemon)


@asynccontextmanager
async def joined(link: Link, episode: str, mode: str) -> AsyncGenerator[Agent]:
    async with agent_client(await register(link, episode, f"ada-{mode}", "prover"), mode) as agent:
        yield agent


async def words(agent: Agent) -> tuple[str | None, dict[str, str | None], list[str]]:
    """Instructions, tools with their descriptions, prompts: all that a host shows before the first call."""
    prompts = [(await agent.client.get_prompt(name, None)).messages[0].content for name in ("team", "role")]
    listed = {tool.name: tool.description for tool in (await agent.client.list_tools()).tools}
    return agent.client.instructions, listed, [text.text for text in prompts if isinstance(text, TextContent)]


def expected(bundle: Bundle, agent: Agent) -> tuple[str | None, dict[str, str | None], list[str]]:
    team = bundle.prompt("team", agent=agent.name, role="prover")
    tools: dict[str, str | None] = {name: tool.description for name, tool in bundle.tools.items()}
    return bundle.instructions, tools, [team, bundle.prompts["roles/prover"]]


async def test_what_is_put_in_use_reaches_the_next_episode_and_no_running_one(
    daemon: DaemonProcess, link: Link, other: Bundle, put_back: None
) -> None:
    running = await open_episode(link, APP_NIL)
    async with joined(link, running.episode, "legacy") as ada, joined(link, running.episode, "auto") as eve:
        await command("activate", other.id, daemon)
        following = await open_episode(link, APP_NIL)
        assert (running.bundle, following.bundle) == (BUILT_IN.id, other.id)
        assert [await words(agent) for agent in (ada, eve)] == [expected(BUILT_IN, agent) for agent in (ada, eve)]
        await command("rollback", "", daemon)
        for mode in ERAS:
            async with joined(link, following.episode, mode) as bob:
                assert await words(bob) == expected(other, bob)
                await own_limits(ada, bob, tools=list(other.tools))
        await own_lemmas(ada, bob=following.episode, link=link)
    assert (await open_episode(link, REV_REV)).bundle == BUILT_IN.id


async def own_limits(ada: Agent, bob: Agent, *, tools: list[str]) -> None:
    """Ada works with the built-in version, Bob with the other one."""
    refused = await bob.fails("find", q="app")
    assert (refused["code"], refused["tools"]) == ("unknown_method", tools)
    assert (await bob.fails("say", type="note", text="x" * 21))["code"] == "too_large"
    await ada.ok("say", type="note", text="x" * 21)
    held = [(await agent.ok("claim", action="take", node="n0"))["expires_s"] for agent in (ada, bob)]
    assert [seconds > 33 for seconds in held] == [True, False]
    await bob.ok("claim", action="release", node="n0")


async def own_lemmas(ada: Agent, *, bob: str, link: Link) -> None:
    """What Ada proves is of no use in Bob's episode."""
    await ada.ok("check", source=APP_NIL_PROOF)
    lemma = (await ada.ok("find", q="app", **{"in": ["lemmas"]}))["hits"][0]["name"]
    async with joined(link, bob, "auto") as other:
        stolen = f"theorem again : ∀ (x : L), app x .nil = x := {lemma}"
        assert (await other.call("check", source=stolen)).headline.startswith("not accepted")


async def test_a_damaged_version_in_use_is_passed_over_and_the_log_says_so(
    daemon: DaemonProcess, link: Link, other: Bundle, put_back: None
) -> None:
    await command("activate", other.id, daemon)
    with (daemon.folder.adapters / other.id / "policy.json").open("a") as file:
        file.write(" ")
    assert (await open_episode(link, REV_REV)).bundle == BUILT_IN.id
    with pytest.raises(BadDataFolder, match="changed on disk"):
        await open_episode(link, REV_REV, adapter=other.id)
    events = [json.loads(line) for line in daemon.log.read_text().splitlines() if "version_unusable" in line]
    assert [(event["event"], event["level"], event["bundle"]) for event in events] == [
        ("version_unusable", "error", other.id)
    ]
