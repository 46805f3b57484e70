"""A Codex session through `codex app-server`, protocol v2; pure."""

from typing import Any, cast

from clients.host_protocol import Message, Step
from clients.transcript import (
    Entry,
    SessionBegan,
    Spoke,
    ToolCalled,
    Troubled,
    TurnBegan,
    TurnEnded,
    TurnOutcome,
    Usage,
)

SERVER = "adapter"
_OUTCOMES: dict[str, TurnOutcome] = {"completed": "completed", "interrupted": "interrupted"}
_REFUSAL = {"code": -32601, "message": "nobody is here to answer"}


class CodexProtocol:
    """Opens one thread, prompts and steers it. Texts that come too early wait for the thread."""

    def __init__(self, *, workspace: str, effort: str | None = None, resume: str | None = None) -> None:
        self._workspace = workspace
        self._resume = resume
        self._effort = effort
        self._number = 0
        self._asked: dict[int, tuple[str, str]] = {}
        self._thread: str | None = None
        self._turn: str | None = None
        self._is_starting = False
        self._waiting: list[str] = []
        self._usage_before = Usage()
        self._usage = Usage()

    @property
    def is_busy(self) -> bool:
        return self._turn is not None or self._is_starting or bool(self._waiting)

    @property
    def spent(self) -> Usage:
        return self._usage - self._usage_before

    def begin(self) -> list[Message]:
        info = {"name": "adapter-server", "title": "adapter-server", "version": "1"}
        return [self._request("initialize", {"clientInfo": info})]

    def prompt(self, text: str) -> list[Message]:
        if self._thread is None or self._is_starting:
            self._waiting.append(text)
            return []
        if self._turn is not None:
            fields = {"threadId": self._thread, "expectedTurnId": self._turn, "input": _input(text)}
            return [self._request("turn/steer", fields, text)]
        self._is_starting = True
        start: dict[str, Any] = {"threadId": self._thread, "input": _input(text)}
        if self._effort is not None:
            start["effort"] = self._effort
        return [self._request("turn/start", start, text)]

    def interrupt(self) -> list[Message]:
        self._waiting.clear()
        if self._turn is None:
            return []
        return [self._request("turn/interrupt", {"threadId": self._thread, "turnId": self._turn})]

    def take(self, message: Message) -> Step:
        if "method" in message and "id" in message:
            # a question for a person: approvals are settled by the configuration
            return Step(replies=({"id": message["id"], "error": _REFUSAL},))
        if "method" in message:
            return self._notified(str(message["method"]), _object(message.get("params")))
        asked = self._asked.pop(message.get("id", -1), None)
        if asked is None:
            return Step()
        if "error" in message:
            return self._refused(asked, str(_object(message["error"]).get("message", "")))
        return self._answered(asked[0], _object(message.get("result")))

    def _answered(self, method: str, result: dict[str, Any]) -> Step:
        if method == "initialize":
            return Step(replies=({"method": "initialized"}, self._open_thread()))
        if method in ("thread/start", "thread/resume"):
            thread = _object(result.get("thread"))
            self._thread = str(thread.get("id", ""))
            began = SessionBegan(session=self._thread, model=str(result.get("model") or thread.get("model") or ""))
            return Step(entries=(began,), replies=tuple(self._next()))
        return Step()

    def _open_thread(self) -> Message:
        if self._resume is not None:
            return self._request("thread/resume", {"threadId": self._resume, "cwd": self._workspace})
        return self._request("thread/start", {"cwd": self._workspace})

    def _refused(self, asked: tuple[str, str], error: str) -> Step:
        method, text = asked
        if method == "turn/steer":
            # the turn has ended in the meantime; what was to be said begins the next one
            self._waiting.append(text)
            return Step(replies=tuple(self._next()))
        self._is_starting = False
        trouble = Troubled(text=f"{method}: {error}")
        if method == "thread/resume":
            self._resume = None
            return Step(entries=(trouble,), replies=(self._open_thread(),))
        if self._thread is None:
            return Step(entries=(trouble, SessionBegan(session="", is_connected=False)))
        return Step(entries=(trouble,))

    def _next(self) -> list[Message]:
        if not self._waiting or self._thread is None or self._turn is not None or self._is_starting:
            return []
        text = "\n\n".join(self._waiting)
        self._waiting.clear()
        return self.prompt(text)

    def _notified(self, method: str, params: dict[str, Any]) -> Step:
        match method:
            case "turn/started":
                self._turn, self._is_starting = str(_object(params.get("turn")).get("id", "")), False
                waiting, self._waiting = self._waiting, []
                steers = [steer for text in waiting for steer in self.prompt(text)]
                return Step(entries=(TurnBegan(turn=self._turn),), replies=tuple(steers))
            case "turn/completed":
                return self._ended(_object(params.get("turn")))
            case "item/completed":
                return Step(entries=_item(_object(params.get("item"))))
            case "thread/tokenUsage/updated":
                self._usage = _usage(_object(_object(params.get("tokenUsage")).get("total")))
            case "error":
                return Step(entries=(Troubled(text=str(_object(params.get("error")).get("message", ""))),))
            case "mcpServer/startupStatus/updated" if params.get("status") == "failed":
                return Step(entries=(Troubled(text=f"MCP server {params.get('name')}: {params.get('error')}"),))
            case _:
                pass
        return Step()

    def _ended(self, turn: dict[str, Any]) -> Step:
        self._turn, self._is_starting = None, False
        spent = self.spent
        self._usage_before = self._usage
        error = str(_object(turn.get("error")).get("message", ""))
        ended = TurnEnded(outcome=_OUTCOMES.get(str(turn.get("status")), "failed"), usage=spent, error=error)
        return Step(entries=(ended,), replies=tuple(self._next()))

    def _request(self, method: str, params: dict[str, Any], text: str = "") -> Message:
        self._number += 1
        self._asked[self._number] = (method, text)
        return {"id": self._number, "method": method, "params": params}


def _item(item: dict[str, Any]) -> tuple[Entry, ...]:
    match item.get("type"):
        case "agentMessage":
            return (Spoke(text=str(item.get("text", ""))),)
        case "mcpToolCall":
            result, error = _object(item.get("result")), _object(item.get("error"))
            parts = cast("list[object]", result.get("content") or [])
            texts = [str(_object(part).get("text", "")) for part in parts]
            return (
                ToolCalled(
                    server=str(item.get("server", "")),
                    tool=str(item.get("tool", "")),
                    arguments=item.get("arguments"),
                    text="\n".join(texts) or str(error.get("message", "")),
                    is_error=item.get("status") != "completed" or bool(error),
                ),
            )
        case "commandExecution":
            is_error = item.get("status") != "completed"
            return (ToolCalled(server="", tool="shell", arguments=item.get("command"), is_error=is_error),)
        case _:
            return ()


def _usage(total: dict[str, Any]) -> Usage:
    return Usage(
        input=int(total.get("inputTokens", 0)),
        cached=int(total.get("cachedInputTokens", 0)),
        output=int(total.get("outputTokens", 0)),
    )


def _input(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
