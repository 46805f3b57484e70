"""A Claude Code session through `--input-format stream-json`; pure."""

from typing import Any, cast

from clients.host_protocol import Message, Step
from clients.transcript import Entry, SessionBegan, Spoke, ToolCalled, Troubled, TurnBegan, TurnEnded, Usage

SERVER = "adapter"
_PREFIX = "mcp__"


class ClaudeProtocol:
    """Texts are sent at once: while the model works, the host delivers them with the next tool result."""

    def __init__(self) -> None:
        self._is_told = False
        self._is_working = False
        self._session: str | None = None
        self._requests = 0
        self._calls: dict[str, tuple[str, str, Any]] = {}
        self._is_interrupted = False
        self._answers: dict[str, Usage] = {}

    @property
    def spent(self) -> Usage:
        return sum(self._answers.values(), Usage())

    @property
    def is_busy(self) -> bool:
        return self._is_told or self._is_working

    def begin(self) -> list[Message]:
        return []

    def prompt(self, text: str) -> list[Message]:
        self._is_told = True
        content = [{"type": "text", "text": text}]
        return [{"type": "user", "message": {"role": "user", "content": content}}]

    def interrupt(self) -> list[Message]:
        if not self.is_busy:
            return []
        self._requests += 1
        self._is_interrupted = True
        request = {"subtype": "interrupt"}
        return [{"type": "control_request", "request_id": f"interrupt-{self._requests}", "request": request}]

    def take(self, message: Message) -> Step:
        match message.get("type"):
            case "system" if message.get("subtype") == "init":
                return Step(entries=self._began(message))
            case "assistant":
                inner = cast("dict[str, Any]", message.get("message") or {})
                self._answers[str(inner.get("id"))] = _usage(inner)  # told again with every block of an answer
                return Step(entries=tuple(self._spoken(_blocks(message))))
            case "user":
                return Step(entries=tuple(self._results(_blocks(message))))
            case "result":
                return Step(entries=(self._ended(message),))
            case "control_request":
                # a question for a person: permissions are settled by the command line
                answer = {"subtype": "error", "request_id": message.get("request_id"), "error": "nobody is here"}
                return Step(replies=({"type": "control_response", "response": answer},))
            case _:
                return Step()

    def _began(self, message: Message) -> tuple[Entry, ...]:
        self._is_working = True
        entries: list[Entry] = []
        session = str(message.get("session_id", ""))
        if session != self._session:
            self._session = session
            servers = {str(one.get("name")): str(one.get("status")) for one in _objects(message.get("mcp_servers"))}
            status = servers.get(SERVER, "missing")
            model = str(message.get("model", ""))
            # `pending` connects while the first request is on its way
            is_connected = status in ("connected", "pending")
            entries.append(SessionBegan(session=session, model=model, is_connected=is_connected))
            if not is_connected:
                entries.append(Troubled(text=f"MCP server {SERVER}: {status}"))
        return (*entries, TurnBegan())

    def _spoken(self, blocks: list[dict[str, Any]]) -> list[Entry]:
        entries: list[Entry] = []
        for block in blocks:
            if block.get("type") == "text":
                entries.append(Spoke(text=str(block.get("text", ""))))
            elif block.get("type") == "tool_use":
                server, tool = _tool(str(block.get("name", "")))
                self._calls[str(block.get("id"))] = (server, tool, block.get("input"))
        return entries

    def _results(self, blocks: list[dict[str, Any]]) -> list[Entry]:
        entries: list[Entry] = []
        for block in blocks:
            call = self._calls.pop(str(block.get("tool_use_id")), None)
            if call is None:
                continue
            server, tool, arguments = call
            content = block.get("content")
            texts = [str(part.get("text", "")) for part in _objects(content)]
            entries.append(
                ToolCalled(
                    server=server,
                    tool=tool,
                    arguments=arguments,
                    text=content if isinstance(content, str) else "\n".join(texts),
                    is_error=bool(block.get("is_error")),
                )
            )
        return entries

    def _ended(self, message: Message) -> TurnEnded:
        self._is_working = self._is_told = False
        was_interrupted, self._is_interrupted = self._is_interrupted, False
        is_good = message.get("subtype") == "success" and not message.get("is_error")
        self._answers.clear()
        cost = message.get("total_cost_usd")
        return TurnEnded(
            outcome="completed" if is_good else "interrupted" if was_interrupted else "failed",
            usage=_usage(message),
            cost_usd=float(cost) if isinstance(cost, int | float) else None,
            error="" if is_good else str(message.get("result") or message.get("subtype") or ""),
        )


def _usage(message: dict[str, Any]) -> Usage:
    usage = cast("dict[str, Any]", message.get("usage") or {})
    cached = int(usage.get("cache_read_input_tokens") or 0)
    written = int(usage.get("cache_creation_input_tokens") or 0)
    return Usage(
        input=int(usage.get("input_tokens") or 0) + cached + written,
        cached=cached,
        output=int(usage.get("output_tokens") or 0),
    )


def _tool(name: str) -> tuple[str, str]:
    if not name.startswith(_PREFIX):
        return "", name
    server, _, tool = name.removeprefix(_PREFIX).partition("__")
    return server, tool


def _blocks(message: Message) -> list[dict[str, Any]]:
    inner = message.get("message")
    return _objects(cast("dict[str, Any]", inner).get("content")) if isinstance(inner, dict) else []


def _objects(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[object]", value) if isinstance(item, dict)]
