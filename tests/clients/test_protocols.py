"""The two hosts' conversations, without the hosts: what the real ones do only by chance of timing."""

from typing import Any

from clients.claude.protocol import ClaudeProtocol
from clients.codex.protocol import CodexProtocol
from clients.transcript import SessionBegan, Spoke, ToolCalled, Troubled, TurnBegan, TurnEnded, Usage


def methods(messages: Any) -> list[str]:
    return [message["method"] for message in messages]


def opened_codex() -> CodexProtocol:
    codex = CodexProtocol(workspace="/w", effort="low")
    codex.begin()
    codex.take({"id": 1, "result": {}})
    codex.take({"id": 2, "result": {"thread": {"id": "t"}, "model": "m"}})
    return codex


def working_codex() -> CodexProtocol:
    codex = opened_codex()
    codex.prompt("go")
    codex.take({"method": "turn/started", "params": {"turn": {"id": "u1"}}})
    return codex


def test_codex_opens_a_thread_and_says_then_what_was_to_be_said() -> None:
    codex = CodexProtocol(workspace="/w")
    assert methods(codex.begin()) == ["initialize"]
    assert codex.prompt("go") == []
    assert codex.is_busy
    assert methods(codex.take({"id": 1, "result": {}}).replies) == ["initialized", "thread/start"]
    step = codex.take({"id": 2, "result": {"thread": {"id": "t"}, "model": "m"}})
    assert step.entries == (SessionBegan(session="t", model="m"),)
    (start,) = step.replies
    assert (start["method"], start["params"]["input"]) == ("turn/start", [{"type": "text", "text": "go"}])


def test_codex_is_steered_while_it_works_and_prompted_when_it_waits() -> None:
    codex = working_codex()
    (steer,) = codex.prompt("look")
    assert (steer["method"], steer["params"]["expectedTurnId"]) == ("turn/steer", "u1")
    codex.take({"method": "turn/completed", "params": {"turn": {"id": "u1", "status": "completed"}}})
    assert not codex.is_busy
    (start,) = codex.prompt("again")
    assert (start["method"], start["params"]["effort"]) == ("turn/start", "low")


def test_a_text_that_comes_too_late_for_a_turn_begins_the_next_one() -> None:
    codex = working_codex()
    (steer,) = codex.prompt("look")
    codex.take({"method": "turn/completed", "params": {"turn": {"id": "u1", "status": "completed"}}})
    (start,) = codex.take({"id": steer["id"], "error": {"message": "no active turn"}}).replies
    assert (start["method"], start["params"]["input"][0]["text"]) == ("turn/start", "look")


def test_texts_that_come_while_a_turn_begins_steer_it() -> None:
    codex = opened_codex()
    codex.prompt("go")
    assert codex.prompt("and look") == []
    (steer,) = codex.take({"method": "turn/started", "params": {"turn": {"id": "u1"}}}).replies
    assert (steer["method"], steer["params"]["input"][0]["text"]) == ("turn/steer", "and look")


def test_codex_is_interrupted_only_in_a_turn() -> None:
    assert opened_codex().interrupt() == []
    codex = working_codex()
    (interrupt,) = codex.interrupt()
    assert (interrupt["method"], interrupt["params"]) == ("turn/interrupt", {"threadId": "t", "turnId": "u1"})
    (ended,) = codex.take({"method": "turn/completed", "params": {"turn": {"status": "interrupted"}}}).entries
    assert ended == TurnEnded(outcome="interrupted")


def test_a_thread_that_cannot_be_resumed_is_opened_anew() -> None:
    codex = CodexProtocol(workspace="/w", resume="old")
    codex.begin()
    assert methods(codex.take({"id": 1, "result": {}}).replies) == ["initialized", "thread/resume"]
    step = codex.take({"id": 2, "error": {"message": "not found"}})
    assert (methods(step.replies), step.entries) == (["thread/start"], (Troubled(text="thread/resume: not found"),))
    trouble, began = codex.take({"id": 3, "error": {"message": "no server"}}).entries
    assert trouble == Troubled(text="thread/start: no server")
    assert began == SessionBegan(session="", is_connected=False)


def test_codex_questions_to_a_person_are_declined() -> None:
    (answer,) = working_codex().take({"id": "q", "method": "item/commandExecution/requestApproval"}).replies
    assert (answer["id"], answer["error"]["code"]) == ("q", -32601)


def test_codex_tokens_are_those_of_the_turn() -> None:
    codex = working_codex()
    spent: list[Usage] = []
    for factor in (1, 3):
        total = {"inputTokens": 10 * factor, "cachedInputTokens": 4 * factor, "outputTokens": 2 * factor}
        codex.take({"method": "thread/tokenUsage/updated", "params": {"tokenUsage": {"total": total}}})
        (ended,) = codex.take({"method": "turn/completed", "params": {"turn": {"status": "failed"}}}).entries
        assert isinstance(ended, TurnEnded)
        spent.append(ended.usage)
    assert spent == [Usage(input=10, cached=4, output=2), Usage(input=20, cached=8, output=4)]


def test_what_codex_says_that_is_not_known_changes_nothing() -> None:
    codex = working_codex()
    messages: list[Any] = [{"method": "new/thing", "params": 3}, {"id": 99, "result": {}}, {"method": "item/completed"}]
    for message in messages:
        step = codex.take(message)
        assert (step.entries, step.replies) == ((), ())


def init(session: str = "s", status: str = "connected") -> dict[str, Any]:
    servers = [{"name": "adapter", "status": status}]
    return {"type": "system", "subtype": "init", "session_id": session, "model": "m", "mcp_servers": servers}


def test_claude_code_begins_one_session_and_many_turns() -> None:
    claude = ClaudeProtocol()
    assert not claude.is_busy
    claude.prompt("go")
    assert claude.is_busy
    assert claude.take(init()).entries == (SessionBegan(session="s", model="m"), TurnBegan())
    claude.take({"type": "result", "subtype": "success"})
    assert not claude.is_busy
    assert claude.take(init()).entries == (TurnBegan(),)


def test_claude_code_without_the_adapter_is_noticed() -> None:
    began, trouble, _ = ClaudeProtocol().take(init(status="failed")).entries
    assert began == SessionBegan(session="s", model="m", is_connected=False)
    assert trouble == Troubled(text="MCP server adapter: failed")


def test_claude_code_calls_are_joined_with_their_results() -> None:
    claude = ClaudeProtocol()
    use: list[Any] = [
        {"type": "text", "text": "hm"},
        {"type": "tool_use", "id": "1", "name": "mcp__adapter__get", "input": {"id": "n0"}},
        {"type": "tool_use", "id": "2", "name": "Read", "input": {}},
    ]
    assert claude.take({"type": "assistant", "message": {"content": use}}).entries == (Spoke(text="hm"),)
    results = [
        {"type": "tool_result", "tool_use_id": "2", "content": "no", "is_error": True},
        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "yes"}]},
        {"type": "tool_result", "tool_use_id": "3", "content": "whose?"},
    ]
    assert claude.take({"type": "user", "message": {"content": results}}).entries == (
        ToolCalled(server="", tool="Read", arguments={}, text="no", is_error=True),
        ToolCalled(server="adapter", tool="get", arguments={"id": "n0"}, text="yes"),
    )


def test_claude_code_turns_end_with_tokens_and_cost() -> None:
    claude = ClaudeProtocol()
    claude.prompt("go")
    usage = {"input_tokens": 1, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 3, "output_tokens": 4}
    (ended,) = claude.take({"type": "result", "subtype": "success", "usage": usage, "total_cost_usd": 0.5}).entries
    assert ended == TurnEnded(outcome="completed", usage=Usage(input=6, cached=2, output=4), cost_usd=0.5)
    assert claude.interrupt() == []
    claude.prompt("go on")
    (interrupt,) = claude.interrupt()
    assert interrupt["request"] == {"subtype": "interrupt"}
    (ended,) = claude.take({"type": "result", "subtype": "error_during_execution"}).entries
    assert ended == TurnEnded(outcome="interrupted", error="error_during_execution")


def test_claude_code_questions_to_a_person_are_declined() -> None:
    (answer,) = ClaudeProtocol().take({"type": "control_request", "request_id": "q"}).replies
    assert (answer["type"], answer["response"]["request_id"]) == ("control_response", "q")
    assert ClaudeProtocol().take({"type": "stream_event"}).entries == ()
