"""An MCP server that has what the suites ask for. It goes through the same transport as the agents' one."""

from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from .contents import IMAGE, PNG, embedded, text
from .rounds import PROMPT_ROUNDS, Context, next_round
from .tools import run_tool, said, suite_tools

NAME = "adapter-server-conformance"
TRIGGERS: dict[str, ServerEvent] = {
    "test_trigger_tool_change": ToolsListChanged(),
    "test_trigger_prompt_change": PromptsListChanged(),
}
ARGUMENTS = {"test_prompt_with_arguments": ("arg1", "arg2"), "test_prompt_with_embedded_resource": ("resourceUri",)}
PROMPTS = (
    "test_simple_prompt", *ARGUMENTS, "test_prompt_with_image", "test_input_required_result_prompt",
)  # fmt: skip
WORDS = ("park", "party", "paris", "parade")
TEMPLATE = "test://template/{id}/data"
RESOURCES: dict[str, types.TextResourceContents | types.BlobResourceContents] = {
    "test://static-text": types.TextResourceContents(
        uri="test://static-text", mime_type="text/plain", text="This is the content of the static text resource."
    ),
    "test://static-binary": types.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PNG),
    "test://watched-resource": types.TextResourceContents(
        uri="test://watched-resource", mime_type="text/plain", text="It never changes."
    ),
}


class ConformanceServer:
    """Keeps nothing but who listens."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self.sdk: Server[Any] = Server(
            NAME,
            version=version("adapter-server"),
            on_list_tools=_list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=_list_prompts,
            on_get_prompt=_get_prompt,
            on_list_resources=_list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=_read_resource,
            on_subscribe_resource=_nothing,
            on_unsubscribe_resource=_nothing,
            on_subscriptions_listen=self._listen,
            on_completion=_complete,
        )
        self.sdk.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _nothing)
        self.sdk.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME))

    def close(self) -> None:
        """End the streams of those who listen."""
        self._listen.close()

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if params.name in TRIGGERS:
            await self._bus.publish(TRIGGERS[params.name])
            return said("told")
        return await run_tool(ctx, params)


async def _nothing(_ctx: Context, _params: object) -> types.EmptyResult:
    return types.EmptyResult()


async def _list_tools(_ctx: Context, _params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=suite_tools(*TRIGGERS))


async def _list_prompts(_ctx: Context, _params: object) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description="For a suite.",
                arguments=[types.PromptArgument(name=each, required=True) for each in ARGUMENTS.get(name, ())],
            )
            for name in PROMPTS
        ]
    )


async def _get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    contents: list[types.ContentBlock]
    match params.name:
        case "test_simple_prompt":
            contents = [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            contents = [text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")]
        case "test_prompt_with_embedded_resource":
            inside = embedded(given.get("resourceUri", ""), "text/plain", "Embedded resource content for testing.")
            contents = [inside, text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            contents = [IMAGE, text("Please analyze the image above.")]
        case "test_input_required_result_prompt":
            result = next_round(PROMPT_ROUNDS, ctx, params)
            if not isinstance(result, str):
                return result
            contents = [text(result)]
        case _:
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name!r}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in contents])


async def _list_resources(_ctx: Context, _params: object) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=uri, name=uri.removeprefix("test://"), description="For a suite.", mime_type=it.mime_type
            )
            for uri, it in RESOURCES.items()
        ]
    )


async def _list_templates(_ctx: Context, _params: object) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template=TEMPLATE, name="data", mime_type="application/json")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def _read_resource(_ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    before, after = TEMPLATE.split("{id}")
    if uri in RESOURCES:
        return types.ReadResourceResult(contents=[RESOURCES[uri]])
    if uri.startswith(before) and uri.endswith(after):
        at = uri.removeprefix(before).removesuffix(after)
        words = f'{{"id":"{at}","templateTest":true,"data":"Data for ID: {at}"}}'
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
        return types.ReadResourceResult(contents=[contents])
    raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})


async def _complete(_ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [word for word in WORDS if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))
