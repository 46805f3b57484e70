"""The MCP server object: one for all episodes and agents, in both protocol eras."""

from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from adapter_server.bundle import Bundle
from adapter_server.tools.caller import Caller
from adapter_server.tools.dispatcher import Dispatcher
from adapter_server.tools.listing import tool_listing

CALLER = "adapter_server.caller"
"""Key of the authenticated Caller in the ASGI scope."""

Context = ServerRequestContext[Any, Any]


class McpServer:
    """MCP in, one typed call out. What a caller sees depends on the version pinned to its episode."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._tools: dict[str, list[types.Tool]] = {}
        self._listen = ListenHandler(InMemorySubscriptionBus())
        self.sdk: Server[Any] = Server(
            "adapter-server",
            version=version("adapter-server"),
            get_tool_input_schema=_no_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=self._listen,
        )
        self.sdk.add_request_handler("server/discover", types.RequestParams, self._discover)
        self.sdk.middleware[:] = [_greet]  # the SDK would open a trace span per call, which nobody reads

    def close(self) -> None:
        """Answer what is running, and end the notification streams of sessionless clients in order."""
        self._dispatcher.stop()
        self._listen.close()

    async def _list_tools(self, ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        bundle = caller_of(ctx).version
        if bundle.id not in self._tools:
            self._tools[bundle.id] = _tools(bundle)
        return types.ListToolsResult(tools=self._tools[bundle.id])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        caller, request = caller_of(ctx), ctx.request
        is_gone = request.is_disconnected if isinstance(request, Request) else None
        answer = await self._dispatcher.call(caller, params.name, params.arguments or {}, is_gone=is_gone)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], is_error=answer.is_error
        )

    async def _list_prompts(
        self, ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        caller = caller_of(ctx)
        team, role = caller.version.manifest.team_prompt, caller.version.manifest.role_prompt
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(name="team", title=team.title, description=team.description),
                types.Prompt(
                    name="role",
                    title=role.title,
                    description=role.description.replace("{role}", caller.role),
                    arguments=[types.PromptArgument(name="role", description="Another role.", required=False)],
                ),
            ]
        )

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        caller = caller_of(ctx)
        role = (params.arguments or {}).get("role", caller.role)
        name = {"team": "team", "role": f"roles/{role}"}.get(params.name, "")
        if name not in caller.version.prompts:
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name!r} for role {role!r}")
        text = caller.version.prompt(name, agent=caller.agent, role=role)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    async def _discover(self, ctx: Context, _params: types.RequestParams) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=self.sdk.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=caller_of(ctx).version.instructions,
        )


def caller_of(ctx: Context) -> Caller:
    """The caller that the door authenticated for this very HTTP request."""
    caller = ctx.request.scope[CALLER] if ctx.request is not None else None
    if not isinstance(caller, Caller):
        raise MCPError(types.INVALID_REQUEST, "the caller is not known")
    return caller


def _no_schema(_tool: str) -> None:
    """No tool reads its arguments from headers; this spares listing tools at every call."""


def _tools(bundle: Bundle) -> list[types.Tool]:
    return [types.Tool.model_validate(tool) for tool in tool_listing(bundle)]


async def _greet(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Give `initialize` the instructions of the caller's version and say that lists may change.

    The SDK knows one text for all connections, and without a word from us it says that lists never change.
    """
    result = await call_next(ctx)
    if ctx.method != "initialize" or not isinstance(result, dict):
        return result
    capabilities = dict(result.get("capabilities") or {})
    for feature in ("tools", "prompts"):
        capabilities[feature] = {**capabilities.get(feature, {}), "listChanged": True}
    return {**result, "capabilities": capabilities, "instructions": caller_of(ctx).version.instructions}
