"""The OpenAI Responses protocol, as far as Codex speaks it; pure."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from .conversation import Answer, Call, Code, Conversation, Facts, Result, objects, strings

NAMESPACE = "mcp__adapter"
USAGE = {
    "input_tokens": 100, "input_tokens_details": {"cached_tokens": 40},
    "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110,
}  # fmt: skip
_NUMBERS = count(1)


def read_request(body: Facts) -> Conversation:
    """What Codex asks."""
    calls: dict[str, Facts] = {}
    results: list[Result] = []
    said: list[str] = []
    for item in objects(body.get("input")):
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") == "user":
            said.append("\n".join(part.get("text", "") for part in objects(item.get("content"))))
        elif kind in ("function_call", "custom_tool_call"):
            calls[item["call_id"]] = item
        elif kind in ("function_call_output", "custom_tool_call_output"):
            results.append(_result(calls[item["call_id"]], item["output"]))
    spaces = [tool for tool in objects(body.get("tools")) if tool.get("name") == NAMESPACE]
    tools = [str(tool["name"]) for space in spaces for tool in objects(space.get("tools"))]
    return Conversation(
        said=tuple(said), results=tuple(results), tools=tuple(tools), text="\n".join(strings(body)),
    )  # fmt: skip


def _result(call: Facts, output: object) -> Result:
    text = output if isinstance(output, str) else "\n".join(str(part.get("text", "")) for part in objects(output))
    body = text.split("Output:\n", 1)[-1]
    if call["type"] == "custom_tool_call":
        return Result(tool=call["name"], arguments={"source": call["input"]}, text=body)
    try:
        parts: object = json.loads(body)
        body = "\n".join(part["text"] for part in objects(parts) if "text" in part) or body
    except ValueError:
        pass
    return Result(
        tool=call["name"],
        arguments=json.loads(call["arguments"]),
        text=body,
        is_error=body.startswith("tool call error"),
    )


def stream(answer: Answer) -> Iterator[str]:
    """The events of one answer."""
    response = {"id": f"resp_{next(_NUMBERS)}", "object": "response"}
    yield _event({"type": "response.created", "response": {**response, "status": "in_progress"}})
    for index, item in enumerate(_items(answer)):
        yield _event({"type": "response.output_item.added", "output_index": index, "item": item})
        yield _event({"type": "response.output_item.done", "output_index": index, "item": item})
    yield _event({"type": "response.completed", "response": {**response, "status": "completed", "usage": USAGE}})


def _items(answer: Answer) -> Iterator[Facts]:
    number = next(_NUMBERS)
    match answer:
        case str():
            part: Facts = {"type": "output_text", "text": answer, "annotations": []}
            yield {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": [part]}
        case Code(source=source):
            yield {"type": "custom_tool_call", "name": "exec", "input": source, **_ids(number, 0)}
        case _:
            for place, call in enumerate(answer):
                yield _call(call, number, place)


def _call(call: Call, number: int, place: int) -> Facts:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    space = {} if call.is_own else {"namespace": NAMESPACE}
    return {"type": "function_call", **space, "name": call.tool, "arguments": arguments, **_ids(number, place)}


def _ids(number: int, place: int) -> dict[str, str]:
    return {"call_id": f"call_{number}_{place}", "id": f"item_{number}_{place}"}


def _event(data: dict[str, Any]) -> str:
    return f"event: {data['type']}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
