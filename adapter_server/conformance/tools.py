"""The suites' tools: each does one thing that the protocol can carry."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .contents import AUDIO, IMAGE, embedded, said, text
from .rounds import ROUNDS, Context, ask_model, ask_person, need, next_round

PAUSE_S = 0.05
Result = types.CallToolResult | types.InputRequiredResult
Arguments = Mapping[str, Any]

CONTENTS: Mapping[str, list[types.ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_custom_header": [text("The header agreed.")],
    "json_schema_2020_12_tool": [text("The schema is what counts.")],
}
SCHEMAS: Mapping[str, dict[str, Any]] = {
    "test_sampling": {"properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
    "test_elicitation": {"properties": {"message": {"type": "string"}}, "required": ["message"]},
    "test_custom_header": {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"city": {"type": "string"}}}},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"enum": ["phone", "email"]},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_TITLED = [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]
ENUMS = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}


async def _fail(_ctx: Context, _arguments: Arguments) -> Result:
    words = text("This tool intentionally returns an error for testing")
    return types.CallToolResult(content=[words], is_error=True)


async def _log(ctx: Context, _arguments: Arguments) -> Result:
    """Newer clients must ask for log messages with each request; to them nothing is sent."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            told = types.LoggingMessageNotificationParams(level="info", data=words)
            await ctx.session.send_notification(types.LoggingMessageNotification(params=told), ctx.request_id)
        await anyio.sleep(PAUSE_S)
    return said("logged")


async def _progress(ctx: Context, _arguments: Arguments) -> Result:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await anyio.sleep(PAUSE_S)
    return said("progressed")


async def _sample(ctx: Context, arguments: Arguments) -> Result:
    request = ask_model(str(arguments.get("prompt", "")))
    need(ctx, request)
    answer = await ctx.session.send_request(
        request, types.CreateMessageResult, metadata=ServerMessageMetadata(related_request_id=ctx.request_id)
    )
    return said(f"LLM response: {answer.content.text if isinstance(answer.content, types.TextContent) else ''}")


async def _elicit(ctx: Context, message: str, schema: Mapping[str, Any]) -> Result:
    need(ctx, ask_person(message))
    answer = await ctx.session.elicit_form(message, {"type": "object", **schema}, ctx.request_id)
    return said(f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}")


async def _elicit_user(ctx: Context, arguments: Arguments) -> Result:
    fields = {name: {"type": "string", "description": name} for name in ("username", "email")}
    return await _elicit(ctx, str(arguments.get("message", "")), {"properties": fields, "required": list(fields)})


async def _elicit_defaults(ctx: Context, _arguments: Arguments) -> Result:
    return await _elicit(ctx, "These have defaults.", {"properties": DEFAULTS})


async def _elicit_enums(ctx: Context, _arguments: Arguments) -> Result:
    return await _elicit(ctx, "Choose.", {"properties": ENUMS})


async def _need_model(ctx: Context, _arguments: Arguments) -> Result:
    need(ctx, ask_model(""))
    return said("The client has a model.")


ACTIONS: Mapping[str, Callable[[Context, Arguments], Awaitable[Result]]] = {
    "test_error_handling": _fail,
    "test_tool_with_logging": _log,
    "test_logging_tool": _log,
    "test_tool_with_progress": _progress,
    "test_sampling": _sample,
    "test_elicitation": _elicit_user,
    "test_elicitation_sep1034_defaults": _elicit_defaults,
    "test_elicitation_sep1330_enums": _elicit_enums,
    "test_missing_capability": _need_model,
}


def suite_tools(*more: str) -> list[types.Tool]:
    """All tools, in an order that stays; `more` are those that somebody else runs."""
    names = (*CONTENTS, *ACTIONS, *ROUNDS, *more)
    return [
        types.Tool(name=name, description="For a suite.", input_schema={"type": "object", **SCHEMAS.get(name, {})})
        for name in names
    ]


async def run_tool(ctx: Context, params: types.CallToolRequestParams) -> Result:
    """Run one.

    Raises:
        MCPError: there is none of the name, or the client lacks what it needs.
    """
    if params.name in CONTENTS:
        return types.CallToolResult(content=CONTENTS[params.name])
    if params.name in ROUNDS:
        result = next_round(ROUNDS[params.name], ctx, params)
        return said(result) if isinstance(result, str) else result
    if params.name not in ACTIONS:
        raise MCPError(types.INVALID_PARAMS, f"no tool {params.name!r}")
    return await ACTIONS[params.name](ctx, params.arguments or {})
