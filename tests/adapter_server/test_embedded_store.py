"""The store keeps what it acknowledged and leaves no process behind, however things end."""

# redis-py leaves `**kwargs` of its commands without types.
# pyright: reportUnknownMemberType=false

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import psutil
import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from adapter_server.embedded_store import StoreAddress, open_store
from adapter_server.settings import Settings
from adapter_server.store_folder import find_binary
from bus.errors import BadArguments, BadDataFolder, StorageUnavailable

pytestmark = pytest.mark.anyio

DAEMON = """
import sys, anyio
from redis.asyncio import Redis
from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings

async def main():
    async with open_store(Settings(data=sys.argv[1])) as address:
        async with Redis.from_url(address.url) as client:
            await client.set("kept", "yes")
            print((await client.info("server"))["process_id"], flush=True)
        await anyio.sleep_forever()

configure_logs(form="json")
anyio.run(main)
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=str(tmp_path / "data"))


@contextlib.asynccontextmanager
async def connected(address: StoreAddress) -> AsyncGenerator[Redis]:
    async with Redis.from_url(address.url, decode_responses=True) as client:
        yield client


async def pid_of(client: Redis) -> int:
    return int((await client.info("server"))["process_id"])


async def is_gone(pid: int) -> bool:
    """Wait until a process has ended; a zombie counts as ended."""
    with anyio.move_on_after(10):
        while True:
            try:
                if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                    return True
            except psutil.NoSuchProcess:
                return True
            await anyio.sleep(0.01)
    return False


@contextlib.asynccontextmanager
async def daemon(data: str) -> AsyncGenerator[tuple[anyio.abc.Process, int]]:
    """Run a process that owns a store; yields it and the server's process id."""
    async with await anyio.open_process([sys.executable, "-c", DAEMON, data], stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            with anyio.fail_after(30):
                yield process, int(await process.stdout.receive())
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


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
            while True:
                with contextlib.suppress(RedisError):
                    async with connected(address) as client:
                        assert await client.get("kept") == "yes"
                        assert await pid_of(client) != pid
                        break
                await anyio.sleep(0.02)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
async def test_no_server_survives_its_daemon(settings: Settings, end: signal.Signals) -> None:
    async with daemon(settings.data) as (process, server):
        process.send_signal(end)
        await process.wait()
        assert await is_gone(server)
    async with open_store(settings) as address, connected(address) as client:
        assert await client.get("kept") == "yes"


async def test_a_second_daemon_on_the_folder_is_told_about_the_first(settings: Settings) -> None:
    async with daemon(settings.data) as (process, server):
        with pytest.raises(BadDataFolder, match=f"process {process.pid}"):
            async with open_store(settings):
                pytest.fail("two daemons share a folder")
        assert psutil.pid_exists(server)


async def test_a_server_left_on_the_folder_is_replaced(settings: Settings) -> None:
    folder = settings.data_path / "store"
    async with open_store(settings) as address, connected(address) as client:
        await client.set("kept", "yes")
    options = ["--port", "0", "--dir", str(folder), "--unixsocket", str(folder / "socket"), "--appendonly", "yes"]
    left = await anyio.open_process([str(find_binary()), *options], stdout=subprocess.DEVNULL)
    async with left:
        with anyio.fail_after(10):
            while not (folder / "socket").exists():  # noqa: ASYNC110 - the server tells nobody when it is ready
                await anyio.sleep(0.01)
        async with open_store(settings) as address, connected(address) as client:
            assert await client.get("kept") == "yes"
            assert await pid_of(client) != left.pid
            with anyio.fail_after(5):
                assert await left.wait() == 0


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


async def test_a_damaged_file_is_an_error_that_shows_the_servers_words(settings: Settings) -> None:
    async with open_store(settings) as address, connected(address) as client:
        await client.set("kept", "yes")
    manifest = next((settings.data_path / "store" / "appendonlydir").glob("*.manifest"))
    manifest.write_text("nonsense\n")
    with pytest.raises(StorageUnavailable, match="did not start") as caught:
        async with open_store(settings):
            pytest.fail("started on a damaged file")
    assert "log" in caught.value.hint


async def test_an_external_server_is_used_and_left_running(settings: Settings, tmp_path: Path) -> None:
    async with open_store(settings) as own, connected(own) as client:
        external = Settings(data=str(tmp_path / "other"), store_url=own.url)
        async with open_store(external) as address, connected(address) as other:
            assert address == StoreAddress(url=own.url, is_embedded=False, durability="always")
            assert await pid_of(other) == await pid_of(client)
            await client.config_set("appendfsync", "everysec")
        async with open_store(external) as address:
            assert address.durability == "everysec"
            await client.config_set("appendonly", "no")
        async with open_store(external) as address:
            assert address.durability == "unknown"
        assert await client.ping()


async def test_a_user_who_may_not_ask_gets_an_unknown_durability(settings: Settings) -> None:
    async with open_store(settings) as own, connected(own) as client:
        await client.execute_command("ACL", "SETUSER", "agent", "on", ">pw", "~*", "+@all", "-config")
        url = own.url.replace("unix://", "unix://agent:pw@")
        async with open_store(Settings(store_url=url)) as address:
            assert address.durability == "unknown"


@pytest.mark.parametrize("url", ["redis://user:secret@127.0.0.1:1/0", "unix:///nowhere/socket", "redis://host:port"])
async def test_an_unreachable_server_is_named_without_its_password(url: str) -> None:
    with pytest.raises(StorageUnavailable) as caught:
        async with open_store(Settings(store_url=url)):
            pytest.fail("reached nothing")
    assert "secret" not in str(caught.value)
    assert "ADAPTER_REDIS_URL" in caught.value.hint
    assert caught.value.is_retryable


async def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(BadArguments, match="rediss://"):
        async with open_store(Settings(store_url="http://localhost")):
            pytest.fail("took a web address for a store")


async def test_a_missing_program_is_named(settings: Settings) -> None:
    with pytest.raises(StorageUnavailable, match="/no/such/valkey"):
        async with open_store(Settings(data=settings.data, store_binary="/no/such/valkey")):
            pytest.fail("ran nothing")


async def test_a_program_that_is_no_server_is_an_error(settings: Settings) -> None:
    with pytest.raises(StorageUnavailable, match="did not start"):
        async with open_store(Settings(data=settings.data, store_binary="true")):
            pytest.fail("ran nothing")
