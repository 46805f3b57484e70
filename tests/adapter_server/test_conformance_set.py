"""The set of tools for the public suites, served by the transport that serves agents, to a client of either era."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from mcp.client import Client, ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    LoggingMessageNotificationParams,
    TextContent,
    TextResourceContents,
)
from starlette.applications import Starlette
from starlette.routing import Route

from adapter_server.conformance.server import ConformanceServer
from adapter_server.edge.http_server import HttpServer
from adapter_server.edge.listener import bind, url_of
from adapter_server.edge.suite_door import SuiteDoor

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


class Person:
    """Answers what a client is asked, and keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def sample(self, context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        assert context
        (message,) = params.messages
        assert isinstance(message.content, TextContent)
        answer = TextContent(type="text", text=f"about {message.content.text!r}: yes")
        return CreateMessageResult(role="assistant", content=answer, model="none")

    async def elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert context
        return ElicitResult(action="accept", content={"name": "Ada", "color": "blue", "question": params.message})

    async def hear(self, params: LoggingMessageNotificationParams) -> None:
        self.told.append(str(params.data))


@asynccontextmanager
async def connected(mode: str, person: Person | None = None) -> AsyncGenerator[Client]:
    server = ConformanceServer()
    door = SuiteDoor(server, host="127.0.0.1")
    listener = bind("127.0.0.1", 0)
    http = HttpServer(Starlette(routes=[Route("/conformance", endpoint=door)]))
    async with door.open(), anyio.create_task_group() as tasks:
        tasks.start_soon(http.run_on, listener)
        await http.is_started.wait()
        url = f"{url_of(listener, '127.0.0.1')}/conformance"
        async with (
            httpx2.AsyncClient(timeout=20) as plain,
            Client(
                streamable_http_client(url, http_client=plain),
                mode=mode,
                sampling_callback=person and person.sample,
                elicitation_callback=person and person.elicit,
                logging_callback=person and person.hear,
            ) as client,
        ):
            yield client
        door.close()
        http.should_exit = True
        await http.is_stopped.wait()


def words(result: CallToolResult) -> str:
    return "\n".join(each.text for each in result.content if isinstance(each, TextContent))


async def test_an_older_client_is_asked_and_told_while_its_call_runs() -> None:
    person, done = Person(), list[tuple[float, float | None, str | None]]()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        done.append((progress, total, message))

    async with connected("legacy", person) as client:
        sampled = words(await client.call_tool("test_sampling", {"prompt": "rain"}))
        assert sampled == "LLM response: about 'rain': yes"
        elicited = words(await client.call_tool("test_elicitation", {"message": "who?"}))
        assert json.loads(elicited.partition("content=")[2])["question"] == "who?"
        await client.call_tool("test_tool_with_progress", progress_callback=note)
        await client.call_tool("test_tool_with_logging")
    assert done == [(0, 100, None), (50, 100, None), (100, 100, None)]
    assert person.told == ["Tool execution started", "Tool processing data", "Tool execution completed"]


async def test_a_newer_client_is_asked_in_rounds() -> None:
    async with connected("auto", Person()) as client:
        assert words(await client.call_tool("test_input_required_result_elicitation")) == "Hello, Ada!"
        assert words(await client.call_tool("test_input_required_result_multi_round")) == "You like blue."
        assert "France" in words(await client.call_tool("test_input_required_result_sampling"))


@ERAS
async def test_a_client_that_cannot_be_asked_is_told_what_it_lacks(mode: str) -> None:
    async with connected(mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("test_missing_capability")
        assert refused.value.error.data == {"requiredCapabilities": {"sampling": {}}}


@ERAS
async def test_every_tool_prompt_and_resource_of_the_set_can_be_used(mode: str) -> None:
    async with connected(mode, Person()) as client:
        kinds = {
            each.type
            for tool in (await client.list_tools()).tools
            if tool.name.endswith(("_text", "_content", "_types", "_resource"))
            for each in (await client.call_tool(tool.name)).content
        }
        assert kinds == {"text", "image", "audio", "resource"}
        assert (await client.call_tool("test_error_handling")).is_error
        for prompt in (await client.list_prompts()).prompts:
            if "input_required" not in prompt.name:
                assert (await client.get_prompt(prompt.name, {"arg1": "a", "arg2": "b", "resourceUri": "x:y"})).messages
        for resource in (await client.list_resources()).resources:
            assert (await client.read_resource(resource.uri)).contents
        (found,) = (await client.read_resource("test://template/7/data")).contents
        assert isinstance(found, TextResourceContents)
        assert json.loads(found.text)["id"] == "7"
        with pytest.raises(MCPError):
            await client.read_resource("test://nowhere")
