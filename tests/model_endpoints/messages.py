"""The Anthropic Messages protocol, as far as Claude Code speaks it; pure."""

import json
from collections.abc import Iterator
from itertools import count

from .conversation import Answer, Call, Code, Conversation, Facts, Result, objects, strings

PREFIX = "mcp__adapter__"
USAGE = {"input_tokens": 100, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 10}
_NUMBERS = count(1)


def read_request(body: Facts) -> Conversation:
    """What Claude Code asks."""
    calls: dict[str, Facts] = {}
    results: list[Result] = []
    said: list[str] = []
    for message in objects(body.get("messages")):
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
        for block in blocks:
            if block["type"] == "text" and message["role"] == "user":
                said.append(block["text"])
            elif block["type"] == "tool_use":
                calls[block["id"]] = block
            elif block["type"] == "tool_result":
                results.append(_result(calls[block["tool_use_id"]], block))
    names = [str(tool["name"]) for tool in objects(body.get("tools"))]
    return Conversation(
        said=tuple(said),
        results=tuple(results),
        tools=tuple(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)),
        text="\n".join(strings(body)),
    )


def _result(call: Facts, block: Facts) -> Result:
    content = block.get("content", "")
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in objects(content))
    return Result(
        tool=call["name"].removeprefix(PREFIX),
        arguments=call["input"],
        text=text,
        is_error=bool(block.get("is_error", False)),
    )


def stream(answer: Answer, *, model: str) -> Iterator[str]:
    """The events of one answer."""
    assert not isinstance(answer, Code), "Claude Code has no code tool"
    number = next(_NUMBERS)
    start: Facts = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": USAGE,
    }  # fmt: skip
    yield _event("message_start", message=start)
    calls: list[Call] = [] if isinstance(answer, str) else list(answer)
    blocks = [_text(answer)] if isinstance(answer, str) else [_use(call, number, i) for i, call in enumerate(calls)]
    for index, (block, delta) in enumerate(blocks):
        yield _event("content_block_start", index=index, content_block=block)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    reason = "tool_use" if calls else "end_turn"
    yield _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 10})
    yield _event("message_stop")


def _text(text: str) -> tuple[Facts, Facts]:
    return {"type": "text", "text": ""}, {"type": "text_delta", "text": text}


def _use(call: Call, number: int, place: int) -> tuple[Facts, Facts]:
    name = call.tool if call.is_own else f"{PREFIX}{call.tool}"
    block: Facts = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": {}}
    return block, {"type": "input_json_delta", "partial_json": json.dumps(call.arguments, ensure_ascii=False)}


def _event(kind: str, **fields: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n"
