"""The store keeps what it acknowledged and leaves no process behind, however things end."""

# redis-py leaves `**kwargs` of its commands without types.
# pyright: reportUnknownMemberType=false

import os
import signal
import sys
from pathlib import Path

import anyio
import psutil
import pytest

from adapter_server import embedded_store
from adapter_server.embedded_store import open_store
from adapter_server.settings import Settings
from adapter_server.store_folder import find_binary, is_locked, placed_socket
from bus.errors import BadDataFolder, StorageUnavailable

from .stores import WRITER, comes_back, connected, daemon, is_gone, pid_of, stranger

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=str(tmp_path / "data"))


async def test_a_restart_finds_what_was_written(settings: Settings) -> None:
    async with open_store(settings) as address, connected(address) as client:
        await client.set("kept", "yes")
        pid = await pid_of(client)
        assert address.is_embedded
        assert address.durability == "always"
        assert await client.config_get("append*") | await client.config_get("port") == {
            "appenddirname": "appendonlydir",
            "appendfilename": "appendonly.aof",
            "appendfsync": "always",
            "appendonly": "yes",
            "port": "0",
        }
    assert not psutil.pid_exists(pid)
    async with open_store(settings) as address, connected(address) as client:
        assert await client.get("kept") == "yes"


async def test_only_the_owner_can_enter(settings: Settings) -> None:
    async with open_store(settings):
        folder = settings.data_path / "store"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / "socket").stat().st_mode & 0o777 == 0o700


async def test_a_killed_server_comes_back_with_its_data(settings: Settings) -> None:
    async with open_store(settings) as address:
        async with connected(address) as client:
            await client.set("kept", "yes")
            pid = await pid_of(client)
        os.kill(pid, signal.SIGKILL)
        with anyio.fail_after(10):
            assert await comes_back(address) != pid
        async with connected(address) as client:
            assert await client.get("kept") == "yes"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
async def test_no_server_survives_its_daemon(settings: Settings, end: signal.Signals) -> None:
    async with daemon(settings.data) as (process, server):
        process.send_signal(end)
        await process.wait()
        assert await is_gone(server)
    async with open_store(settings) as address, connected(address) as client:
        assert await client.get("kept") == "yes"


@pytest.mark.parametrize("victim", ["server", "daemon"])
async def test_no_acknowledged_write_is_lost_by_a_kill(settings: Settings, victim: str) -> None:
    async with daemon(settings.data, program=WRITER) as (process, server):
        assert process.stdout is not None
        said = b""
        with anyio.fail_after(30):
            while said.count(b"\n") < 200:
                said += await process.stdout.receive()
            os.kill(server if victim == "server" else process.pid, signal.SIGKILL)
            async for more in process.stdout:
                said += more
        assert await is_gone(server)
    acknowledged = int(said.split()[-1])
    async with open_store(settings) as address, connected(address) as client:
        assert int(await client.get("count") or 0) in {acknowledged, acknowledged + 1}


async def test_a_second_daemon_on_the_folder_is_told_about_the_first(settings: Settings) -> None:
    async with daemon(settings.data) as (process, server):
        with pytest.raises(BadDataFolder, match=f"process {process.pid}"):
            async with open_store(settings):
                pytest.fail("two daemons share a folder")
        assert psutil.pid_exists(server)


@pytest.mark.parametrize("holds_lock", [True, False])
async def test_a_server_left_on_the_folder_is_replaced(settings: Settings, holds_lock: bool) -> None:
    folder = settings.data_path / "store"
    async with open_store(settings) as address, connected(address) as client:
        await client.set("kept", "yes")
    async with (
        stranger(folder, socket=folder / "socket", holds_lock=holds_lock) as left,
        open_store(settings) as address,
        connected(address) as client,
    ):
        assert await client.get("kept") == "yes"
        assert await pid_of(client) != left.pid
        with anyio.fail_after(5):
            assert await left.wait() == 0


async def test_a_server_of_another_folder_on_our_socket_is_left_alone(settings: Settings, tmp_path: Path) -> None:
    socket = settings.data_path / "store" / "socket"
    socket.parent.mkdir(parents=True)
    (tmp_path / "other").mkdir()
    async with stranger(tmp_path / "other", socket=socket, holds_lock=False) as other:
        with pytest.raises(StorageUnavailable, match="other"):
            async with open_store(settings):
                pytest.fail("shared a socket")
        assert other.returncode is None


async def test_a_left_over_that_does_not_stop_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_store, "STOP_TIMEOUT_S", 0.1)
    lock = settings.data_path / "store" / "server.lock"
    lock.parent.mkdir(parents=True)
    with lock.open("a+") as held:
        assert is_locked(held.fileno())
        with pytest.raises(StorageUnavailable, match="does not stop") as caught:
            async with open_store(settings):
                pytest.fail("two servers on one file")
    assert str(lock) in caught.value.hint


async def test_a_server_that_cannot_be_started_again_is_tried_until_it_can(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_store, "RESTART_PAUSE_S", 0.01)
    program, broken, tried = (tmp_path / name for name in ("valkey", "broken", "tried"))
    program.write_text(f'#!/bin/sh\ntest -e {broken} && echo broken > {tried} && exit 1\nexec {find_binary()} "$@"\n')
    program.chmod(0o700)
    async with open_store(Settings(data=settings.data, store_binary=str(program))) as address:
        async with connected(address) as client:
            pid = await pid_of(client)
        broken.touch()
        os.kill(pid, signal.SIGKILL)
        with anyio.fail_after(20):
            while not tried.exists():
                await anyio.sleep(0.01)
            broken.unlink()
            assert await comes_back(address) != pid


async def test_an_error_of_the_block_comes_out_as_it_is_and_stops_the_server(settings: Settings) -> None:
    pids: list[int] = []

    async def fail() -> None:
        async with open_store(settings) as address, connected(address) as client:
            pids.append(await pid_of(client))
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await fail()
    assert not psutil.pid_exists(pids[0])


async def test_a_cancelled_block_stops_the_server(settings: Settings) -> None:
    pid = 0
    with anyio.CancelScope() as scope:
        async with open_store(settings) as address:
            async with connected(address) as client:
                pid = await pid_of(client)
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert not psutil.pid_exists(pid)


async def test_it_works_without_a_death_signal(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "another")
    async with open_store(settings) as address, connected(address) as client:
        pid = await pid_of(client)
    assert not psutil.pid_exists(pid)


async def test_a_deep_folder_with_spaces_works(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path / "a folder" / ("ü" * 60) / "data"))
    async with open_store(settings) as address, connected(address) as client:
        await client.set("kept", "yes")
        elsewhere = Path(address.url.removeprefix("unix://")).parent
        assert elsewhere != settings.data_path / "store"
        assert elsewhere.stat().st_mode & 0o777 == 0o700
    assert not elsewhere.exists()
    async with open_store(settings) as address, connected(address) as client:
        assert await client.get("kept") == "yes"


def test_a_folder_for_the_socket_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100)
    with placed_socket(deep) as socket:
        place = socket.parent
    place.mkdir(mode=0o755)
    try:
        with pytest.raises(BadDataFolder, match="private"), placed_socket(deep):
            pytest.fail("used it")
    finally:
        place.rmdir()


async def test_a_damaged_file_is_an_error_that_shows_the_servers_words(settings: Settings) -> None:
    async with open_store(settings) as address, connected(address) as client:
        await client.set("kept", "yes")
    manifest = next((settings.data_path / "store" / "appendonlydir").glob("*.manifest"))
    manifest.write_text("nonsense\n")
    with pytest.raises(StorageUnavailable, match="did not start") as caught:
        async with open_store(settings):
            pytest.fail("started on a damaged file")
    assert "log" in caught.value.hint
