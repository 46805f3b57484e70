"""The daemon as a process: it starts, stops, is killed and goes on where it was."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
import psutil
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.daemon import running_daemon
from adapter_server.edge.listener import bind, url_of
from adapter_server.settings import Settings
from adapter_server.staging import load_bundle
from bus.errors import BadArguments, BadDataFolder, PortInUse, StorageUnavailable, UnknownId
from bus.link import connect
from bus.messages import EpisodeRef, EpisodeStatus
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

pytestmark = pytest.mark.anyio

LEMMA = "theorem nil_nil : app .nil .nil = .nil := by rfl"


def children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def commands(pid: int) -> list[str]:
    found: list[str] = []
    for process in children(pid):
        with suppress(psutil.Error):  # it has ended meanwhile
            found += process.cmdline()
    return found


async def test_nothing_acknowledged_is_lost_by_kill_9(fresh_daemon: DaemonProcess) -> None:
    async with fresh_daemon.bus() as link:
        episode = (await open_episode(link, REV_REV, seconds=600)).episode
        registered = await register(link, episode, "ada", "scout")
    async with agent_client(registered, "legacy") as ada:
        claimed = await ada.ok("claim", action="next", approach="induction")
        lemma = (await ada.ok("check", source=LEMMA))["verdicts"][0]["lemma"]
        await ada.ok("plan", action="add", name="helper", statement="∀ (x : L), app x .nil = x")
        sent = await ada.ok("say", type="note", text="before the crash")

        note = fresh_daemon.folder.server()
        assert note is not None
        family = children(note.pid)
        fresh_daemon.stop(signal.SIGKILL)
        fresh_daemon.start()
        _, alive = psutil.wait_procs(family, timeout=10)
        assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]

        note = fresh_daemon.folder.server()
        assert note is not None
        with anyio.fail_after(30):  # the judge is on its way before anybody asks for a check
            while "lemma_store.judge_process" not in commands(note.pid):
                await anyio.sleep(0.02)

        # The very same client goes on: same token, and a session that the new process never saw.
        digest = await ada.ok("digest")
        assert digest["me"] == {"agent": "ada", "role": "scout"}
        assert [(one["node"], one["fence"]) for one in digest["leases"]] == [("n0", claimed["fence"])]
        assert {one["name"] for one in digest["frontier"]} == {"rev_rev", "helper"}
        assert [one["name"] for one in digest["lemmas"]] == [lemma]
        assert (await ada.ok("get", id=sent["message"]))["text"].endswith("before the crash")
        used = await ada.ok("check", source=f"theorem again : app .nil .nil = .nil := by rw [{lemma}]")
        assert used["verdicts"][0]["outcome"] == "accepted"
    async with fresh_daemon.bus() as link:
        after = await link.call("episode.status", EpisodeRef(episode=episode), EpisodeStatus)
        assert (after.status, after.nodes, after.agents[0].name) == ("open", 2, "ada")
        assert await register(link, episode, "ada") == registered


async def test_a_target_that_closed_before_the_crash_is_assembled_after_it(fresh_daemon: DaemonProcess) -> None:
    async with fresh_daemon.bus() as link:
        episode = (await open_episode(link, APP_NIL)).episode
        registered = await register(link, episode, "ada")
    async with agent_client(registered) as ada:
        await ada.ok("check", source=APP_NIL_PROOF)
    fresh_daemon.stop(signal.SIGKILL)
    fresh_daemon.start()
    async with fresh_daemon.bus() as link:
        with anyio.fail_after(60):
            events = [event async for event in link.subscribe(episode)]
        assert events[-1].body["status"] == "solved"
        solved = await link.call("episode.status", EpisodeRef(episode=episode), EpisodeStatus)
        assert solved.proof is not None


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_a_stopped_daemon_leaves_no_process_and_no_address(
    tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    daemon = DaemonProcess(tmp_path / "data")
    daemon.start()
    note = daemon.folder.server()
    assert note is not None
    family = children(note.pid)
    assert family
    async with connect(daemon.url, token=daemon.token):
        assert await anyio.to_thread.run_sync(daemon.stop, sent) == code
    assert daemon.folder.server() is None
    assert not psutil.wait_procs(family, timeout=5)[1]
    assert not list(daemon.folder.scratch.iterdir())


async def test_a_daemon_that_stops_does_not_wait_for_those_who_wait(tmp_path: Path) -> None:
    daemon = DaemonProcess(tmp_path / "data")
    daemon.start()
    async with daemon.bus() as link:
        episode = (await open_episode(link)).episode
        tokens = [await register(link, episode, name) for name in ("ada", "bob")]
    answers: list[dict[str, object]] = []

    async def waits(agent: Agent) -> None:
        answers.append(await agent.fails("wait", timeout_s=40))

    async with agent_client(tokens[0], "legacy") as ada, agent_client(tokens[1]) as bob:
        await ada.ok("digest")
        await bob.ok("digest")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(waits, ada)
            tasks.start_soon(waits, bob)
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(15):
                assert await anyio.to_thread.run_sync(daemon.stop) == 0
    assert [(answer["code"], answer["retry"]) for answer in answers] == [("deadline", True)] * 2
    assert "Traceback" not in daemon.log.read_text()


async def test_a_port_in_use_is_said_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = Settings(port=taken.getsockname()[1], data=str(tmp_path / "data"))
        with pytest.raises(PortInUse) as caught:
            async with running_daemon(settings):
                raise AssertionError
        assert "--port" in caught.value.hint
    assert not list((tmp_path / "data" / "store").iterdir())


async def test_a_second_daemon_on_the_same_folder_is_refused(daemon: DaemonProcess) -> None:
    with pytest.raises(BadDataFolder):
        async with running_daemon(Settings(port=0, data=str(daemon.folder.path))):
            raise AssertionError


async def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "format").write_text("adapter-server data 99\n")
    with pytest.raises(BadDataFolder):
        async with running_daemon(Settings(port=0, data=str(tmp_path))):
            raise AssertionError


async def test_a_store_that_cannot_be_reached_is_said_as_such(tmp_path: Path) -> None:
    settings = Settings(port=0, data=str(tmp_path / "data"), store_url=f"unix://{tmp_path}/nothing")
    with pytest.raises(StorageUnavailable):
        async with running_daemon(settings):
            raise AssertionError


async def test_the_version_for_episodes_can_be_a_folder_or_a_staged_id(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(default_bundle_folder(), tmp_path / "mine"))
    (folder / "prompts/team.md").write_text("You are {{agent}}. Be quick.")
    settings = Settings(port=0, data=str(tmp_path / "data"), adapter=str(folder))
    version = load_bundle(folder).id
    async with running_daemon(settings) as daemon, connect(daemon.url, token=daemon.operator_token) as link:
        assert (await open_episode(link, APP_NIL)).bundle == version
    with pytest.raises(UnknownId):
        async with running_daemon(msgspec.structs.replace(settings, adapter="ab1-unknown")):
            raise AssertionError
    async with running_daemon(msgspec.structs.replace(settings, adapter=version)) as daemon:
        assert daemon.folder.server() is not None


async def test_an_error_inside_the_block_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with running_daemon(Settings(port=0, data=str(tmp_path / "data"))):
            raise ZeroDivisionError


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    with pytest.raises(BadArguments):
        bind("203.0.113.1", 0)


def test_the_url_is_one_that_agents_on_this_machine_can_use() -> None:
    for host, name in (("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")):  # noqa: S104
        with bind(host, 0) as listener:
            assert url_of(listener, host) == f"http://{name}:{listener.getsockname()[1]}"


def test_tokens_do_not_appear_in_the_log(daemon: DaemonProcess) -> None:
    text = daemon.log.read_text()
    assert daemon.token not in text
    assert "aa1_" not in text


def test_tools_know_nothing_of_mcp() -> None:
    code = "import sys, adapter_server.tools.dispatcher; sys.exit(any(m.split('.')[0] == 'mcp' for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=dict(os.environ)).returncode == 0
