"""The MCP door: who gets in, what each era of the protocol sees, what survives a lost session."""

from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent
from starlette.applications import Starlette
from starlette.routing import Route

from adapter_server.bundle import default_bundle_folder
from adapter_server.edge.door import McpDoor
from adapter_server.edge.server import McpServer, caller_of
from adapter_server.edge.sessions import KnownSessions
from adapter_server.edge.transport import security_settings
from adapter_server.staging import load_bundle
from adapter_server.tokens import Tokens
from adapter_server.tools.caller import Caller
from adapter_server.tools.dispatcher import Dispatcher
from blackboard.board import Board
from bus.errors import StorageUnavailable
from bus.messages import AgentRegistered
from lemma_store.store import LemmaStore
from tests.adapter_server.conftest import DaemonProcess, Join, register

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
BUNDLE = load_bundle(default_bundle_folder())


@pytest.fixture
async def ada(daemon: DaemonProcess, shared_episode: str) -> AgentRegistered:
    async with daemon.bus() as link:
        return await register(link, shared_episode, "edge-ada", "scout")


def initialize(number: int = 1) -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


def tool_call(name: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": {}}}


@ERAS
async def test_both_eras_see_the_versions_tools_words_and_instructions(team: Join, mode: str) -> None:
    async with team("era", mode) as agent:
        assert agent.client.instructions == BUNDLE.instructions
        tools = (await agent.client.list_tools()).tools
        assert [(tool.name, tool.description) for tool in tools] == [
            (name, words.description) for name, words in BUNDLE.tools.items()
        ]
        read_only = {tool.name for tool in tools if tool.annotations and tool.annotations.read_only_hint}
        assert read_only == {"digest", "wait", "job", "find", "get"}
        assert (await agent.ok("digest"))["me"]["agent"] == agent.name


@ERAS
async def test_both_eras_are_told_that_lists_may_change(team: Join, mode: str) -> None:
    async with team("list", mode) as agent:
        capabilities = agent.client.server_capabilities
        assert capabilities.tools is not None
        assert capabilities.tools.list_changed is True
        assert capabilities.prompts is not None
        assert capabilities.prompts.list_changed is True


@ERAS
async def test_prompts_say_how_the_team_works_and_what_the_role_is_for(ada: AgentRegistered, mode: str) -> None:
    headers = {"Authorization": f"Bearer {ada.token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(ada.url, http_client=http), mode=mode) as client,
    ):
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["team", "role"]
        texts = [
            (await client.get_prompt(name, arguments)).messages[0].content
            for name, arguments in (("team", None), ("role", None), ("role", {"role": "planner"}))
        ]
        assert all(isinstance(text, TextContent) for text in texts)
        team, role, planner = [text.text for text in texts if isinstance(text, TextContent)]
        assert team.startswith("You are edge-ada, scout")
        assert role == BUNDLE.prompts["roles/scout"]
        assert planner == BUNDLE.prompts["roles/planner"]
        refused: list[str] = []
        for name, arguments in (("none", None), ("role", {"role": "oracle"})):
            try:
                await client.get_prompt(name, arguments)
            except MCPError as error:
                refused.append(error.message)
        assert len(refused) == 2


async def test_the_token_must_belong_to_the_address(daemon: DaemonProcess, ada: AgentRegistered) -> None:
    def issue(episode: str, agent: str) -> str:
        return Tokens(daemon.token).issue(episode=episode, agent=agent)

    async with daemon.bus() as link:
        bob = await register(link, ada.url.split("/")[-2], "edge-bob")
    async with httpx2.AsyncClient() as http:
        for url, headers in (
            (ada.url, {}),
            (ada.url, {"Authorization": "Bearer wrong"}),
            (ada.url, {"Authorization": f"Basic {ada.token}"}),
            (ada.url, {"Authorization": f"Bearer {bob.token}"}),
            (bob.url, {"Authorization": f"Bearer {ada.token}"}),
            (ada.url.replace("edge-ada", "nobody"), {"Authorization": f"Bearer {ada.token}"}),
            (f"{daemon.url}/mcp/no-such/edge-ada", {"Authorization": f"Bearer {ada.token}"}),
            (ada.url, {"Authorization": f"Bearer {daemon.token}"}),
            *(
                (f"{daemon.url}/mcp/{episode}/{agent}", {"Authorization": f"Bearer {issue(episode, agent)}"})
                for episode, agent in (("no-such", "edge-ada"), (ada.url.split("/")[-2], "never-joined"))
            ),
        ):
            answer = await http.post(url, json=initialize(), headers=ACCEPT | headers)
            assert answer.status_code == 401, url
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()["code"] == "unauthorized"


async def test_a_session_of_one_agent_is_no_use_to_another(daemon: DaemonProcess, ada: AgentRegistered) -> None:
    async with daemon.bus() as link:
        bob = await register(link, ada.url.split("/")[-2], "edge-bob")
    async with httpx2.AsyncClient() as http:
        opened = await http.post(ada.url, json=initialize(), headers=ACCEPT | {"Authorization": f"Bearer {ada.token}"})
        headers = ACCEPT | {"Authorization": f"Bearer {bob.token}", "Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert (await http.post(bob.url, json=tool_call("digest"), headers=headers)).status_code == 404


async def test_an_unknown_session_is_served_without_one(ada: AgentRegistered) -> None:
    headers = ACCEPT | {"Authorization": f"Bearer {ada.token}", "Mcp-Session-Id": "from-an-earlier-life"}
    async with httpx2.AsyncClient(timeout=30) as http:
        answer = await http.post(ada.url, json=tool_call("digest"), headers=headers)
        assert answer.status_code == 200
        assert "edge-ada" in answer.text
        assert (await http.get(ada.url, headers=headers)).status_code == 404


async def test_a_session_that_its_client_has_ended_is_refused(ada: AgentRegistered) -> None:
    headers = ACCEPT | {"Authorization": f"Bearer {ada.token}"}
    async with httpx2.AsyncClient(timeout=30) as http:
        opened = await http.post(ada.url, json=initialize(), headers=headers)
        session = headers | {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert (await http.delete(ada.url, headers=session)).status_code == 200
        assert (await http.post(ada.url, json=tool_call("digest"), headers=session)).status_code == 404


async def test_what_a_call_had_to_tell_after_its_caller_hung_up_is_told_again(team: Join, ada: AgentRegistered) -> None:
    """In the older protocol a broken connection does not end a call."""
    headers = ACCEPT | {"Authorization": f"Bearer {ada.token}"}
    message = tool_call("wait")
    message["params"]["arguments"] = {"for": ["mail"], "timeout_s": 30}
    async with team("edge-bob") as bob, httpx2.AsyncClient(timeout=30) as http:
        opened = await http.post(ada.url, json=initialize(), headers=headers)
        headers |= {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert (await http.post(ada.url, json=tool_call("digest"), headers=headers)).status_code == 200
        with pytest.raises(httpx2.ReadTimeout):
            await http.post(ada.url, json=message, headers=headers, timeout=1.3)
        await bob.ok("say", type="note", text="only once", to=["edge-ada"])
        await bob.ok("digest")
        message["params"] = {"name": "get", "arguments": {"id": "problem"}}
        answer = await http.post(ada.url, json=message, headers=headers)
        assert "message_sent" in answer.text


async def test_foreign_host_and_origin_headers_are_refused(ada: AgentRegistered) -> None:
    headers = ACCEPT | {"Authorization": f"Bearer {ada.token}"}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(ada.url, json=initialize(), headers=headers | {"Host": "evil.example"})
        assert answer.status_code == 421
        answer = await http.post(ada.url, json=initialize(), headers=headers | {"Origin": "http://evil.example"})
        assert answer.status_code == 403


def test_the_configured_host_is_accepted_beside_loopback() -> None:
    settings = security_settings("prover.example")
    assert {"prover.example:*", "prover.example", "localhost:*", "127.0.0.1:*"} <= set(settings.allowed_hosts)
    assert "https://prover.example:*" in settings.allowed_origins
    assert "[fd00::1]:*" in security_settings("fd00::1").allowed_hosts
    assert not security_settings("0.0.0.0").enable_dns_rebinding_protection  # noqa: S104


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff\xfe"])
async def test_malformed_bodies_are_client_errors(ada: AgentRegistered, body: bytes) -> None:
    headers = ACCEPT | {"Authorization": f"Bearer {ada.token}"}
    async with httpx2.AsyncClient() as http:
        assert 400 <= (await http.post(ada.url, content=body, headers=headers)).status_code < 500


async def test_a_body_of_many_megabytes_is_refused(ada: AgentRegistered) -> None:
    headers = ACCEPT | {"Authorization": f"Bearer {ada.token}"}
    async with httpx2.AsyncClient(timeout=30) as http:
        answer = await http.post(ada.url, content=b" " * (5 * 1024 * 1024), headers=headers)
        assert answer.status_code == 413


async def test_health_needs_no_token_and_other_addresses_do_not_exist(daemon: DaemonProcess) -> None:
    async with httpx2.AsyncClient() as http:
        health = (await http.get(f"{daemon.url}/health")).json()
        assert health["status"] == "ok"
        for address in ("secrets", "conformance"):
            assert (await http.get(f"{daemon.url}/{address}")).status_code == 404
        assert (await http.post(f"{daemon.url}/health")).status_code == 405


async def test_a_session_is_forgotten_before_the_transport_ends_it() -> None:
    fresh, stale = KnownSessions(kept=1), KnownSessions(idle_s=0, kept=1)
    fresh.remember("one")
    assert fresh.use("one")
    assert not fresh.use("never")
    fresh.forget("one")
    assert not fresh.use("one")
    assert not fresh.has_ended("one")
    stale.remember("one")
    stale.remember("two")
    assert not stale.use("one")
    assert not stale.use("two")


async def test_a_service_error_at_the_door_asks_to_come_again() -> None:
    class Away:
        async def authenticate(self, **_: str) -> Caller:
            raise StorageUnavailable("away")

    dispatcher = Dispatcher(board=cast(Board, None), lemma_store=cast(LemmaStore, None), on_change=print)
    door = McpDoor(McpServer(dispatcher), Away(), host="127.0.0.1")
    app = Starlette(routes=[Route("/mcp/{episode}/{agent}", endpoint=door)])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as http:
        answer = await http.post("/mcp/e/ada", headers={"Authorization": "Bearer x"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["retry"] is True


async def test_a_request_from_nowhere_has_no_caller() -> None:
    with pytest.raises(MCPError):
        caller_of(cast(Any, SimpleNamespace(request=None)))
