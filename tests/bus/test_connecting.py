"""Opening a link: each way it can fail has its own error."""

import pytest

from bus.errors import BadArguments, ConnectionLost, Unauthorized
from bus.link import bus_url, connect

from .conftest import TOKEN, Bench

pytestmark = pytest.mark.anyio


async def test_a_wrong_token_is_unauthorized(bench: Bench) -> None:
    with pytest.raises(Unauthorized):
        async with connect(bench.url, token="guess"):
            pytest.fail("let a stranger in")


@pytest.mark.parametrize("url", ["ws://127.0.0.1:1/bus", "teapot"])
async def test_where_no_bus_is_the_connection_is_lost(bench: Bench, url: str) -> None:
    address = bench.url.replace("/bus", "/teapot") if url == "teapot" else url
    with pytest.raises(ConnectionLost, match=address):
        async with connect(address, token=TOKEN):
            pytest.fail("connected to nothing")


async def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(BadArguments, match="nonsense"):
        async with connect("nonsense", token=TOKEN):
            pytest.fail("connected to nothing")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8765", "ws://127.0.0.1:8765/bus"),
        ("https://host/", "wss://host/bus"),
        ("ws://host:1/bus", "ws://host:1/bus"),
        ("wss://host/behind/proxy", "wss://host/behind/proxy"),
    ],
)
def test_a_servers_address_leads_to_its_bus(url: str, expected: str) -> None:
    assert bus_url(url) == expected
