"""The connection to the adapter: tool calls in, replies out, and nothing else."""

from __future__ import annotations

import functools
import json
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol, cast

import httpx2
import mcp_types as types
import msgspec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from clients.transcript import ToolCalled, Transcript

READ_TIMEOUT_S = 60.0
SERVER = "adapter"
"""What the transcript calls the MCP server."""

Facts = dict[str, Any]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool answered."""

    headline: str
    facts: Facts
    """The JSON object of the reply; for an error its fields."""

    news: tuple[str, ...] = ()
    """One line for each event since the reply before."""

    is_error: bool = False

    @property
    def code(self) -> str:
        """Stable code of an error, empty otherwise."""
        return str(self.facts.get("code", "error")) if self.is_error else ""


class Toolbox(Protocol):
    """Anything that answers tool calls."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """One tool call; errors of the tool are replies, a broken connection raises."""
        ...


def read_reply(text: str, *, is_error: bool) -> Reply:
    """Take the text of a reply apart: headline, facts, news."""
    lines = text.split("\n")
    facts: Facts = {}
    if len(lines) > 1:
        try:
            decoded = json.loads(lines[1])
        except ValueError:
            decoded = None
        if isinstance(decoded, dict):
            facts = cast(Facts, decoded)
    news = lines[lines.index("news:") + 1 :] if "news:" in lines else []
    return Reply(headline=lines[0], facts=facts, news=tuple(news), is_error=is_error)


class McpToolbox:
    """Tool calls over one MCP connection."""

    def __init__(self, client: Client, transcript: Transcript | None = None) -> None:
        self._client = client
        self._transcript = transcript

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """One tool call.

        Raises:
            MCPError: if the server refuses the request itself.
            httpx2.HTTPError: if the connection breaks.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        result = await self._client.call_tool(tool, given, read_timeout_seconds=READ_TIMEOUT_S)
        texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
        text, is_error = "\n".join(texts), bool(result.is_error)
        if self._transcript is not None:
            self._transcript.add(ToolCalled(server=SERVER, tool=tool, arguments=given, text=text, is_error=is_error))
        return read_reply(text, is_error=is_error)


@functools.cache
def trusted() -> ssl.SSLContext:
    """The certificates that servers are known by; reading them takes as long as several calls."""
    return httpx2.create_ssl_context()


@asynccontextmanager
async def connect(url: str, *, token: str, transcript: Transcript | None = None) -> AsyncGenerator[McpToolbox]:
    """An MCP session at the agent's own endpoint; the token says who calls. Calls and replies go to the transcript."""
    timeout = httpx2.Timeout(READ_TIMEOUT_S, connect=10.0)
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, verify=trusted()) as http,
        Client(streamable_http_client(url, http_client=http), read_timeout_seconds=READ_TIMEOUT_S) as client,
    ):
        yield McpToolbox(client, transcript)
