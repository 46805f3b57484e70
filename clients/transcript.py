"""What an agent's session did, in one form for every host. Kept as JSON lines; secrets are blotted out on the way."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

TEXT_CAP = 4000
HIDDEN = "[hidden]"

TurnOutcome = Literal["completed", "interrupted", "failed"]


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens, as the host counts them."""

    input: int = 0
    """All that was sent to the model, cached tokens included."""
    cached: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """What a budget counts."""
        return self.input + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input, cached=self.cached + other.cached, output=self.output + other.output
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input - other.input, cached=self.cached - other.cached, output=self.output - other.output
        )


class SessionBegan(msgspec.Struct, frozen=True, kw_only=True, tag="session_began"):
    """The host is up and has connected, or failed to connect, to the adapter."""

    session: str
    """The host's own id of the session."""
    model: str = ""
    is_connected: bool = True


class TurnBegan(msgspec.Struct, frozen=True, kw_only=True, tag="turn_began"):
    """The model has begun to work."""

    turn: str = ""


class ToolCalled(msgspec.Struct, frozen=True, kw_only=True, tag="tool_called"):
    """A tool call that has come back."""

    server: str
    """Name of the MCP server; empty for a tool of the host's own."""
    tool: str
    arguments: Any = None
    text: str = ""
    is_error: bool = False


class Spoke(msgspec.Struct, frozen=True, kw_only=True, tag="spoke"):
    """The model has said something."""

    text: str


class TurnEnded(msgspec.Struct, frozen=True, kw_only=True, tag="turn_ended"):
    """The model has stopped; the session waits."""

    outcome: TurnOutcome
    usage: Usage = Usage()
    """Of this turn."""
    cost_usd: float | None = None
    """Of the whole session so far; None when the host does not know it."""
    error: str = ""


class Troubled(msgspec.Struct, frozen=True, kw_only=True, tag="troubled"):
    """The host complains."""

    text: str


class Woken(msgspec.Struct, frozen=True, kw_only=True, tag="woken"):
    """The launcher has prompted, steered or interrupted the session."""

    how: Literal["prompted", "steered", "interrupted"]
    reason: str


class Exited(msgspec.Struct, frozen=True, kw_only=True, tag="exited"):
    """The host's process has ended."""

    reason: str
    exit_code: int | None = None


Entry = SessionBegan | TurnBegan | ToolCalled | Spoke | TurnEnded | Troubled | Woken | Exited


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a transcript."""

    at_ms: int
    entry: Entry


class Account(msgspec.Struct, kw_only=True):
    """What a session amounts to."""

    sessions: int = 0
    turns: int = 0
    tool_calls: int = 0
    """Calls of the adapter's tools; the server counts the same ones."""
    tool_errors: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    wakes: list[str] = []
    """Why the launcher stepped in."""
    exit_reason: str = ""

    def take(self, entry: Entry) -> None:
        """Count one entry."""
        match entry:
            case SessionBegan():
                self.sessions += 1
            case TurnBegan():
                self.turns += 1
            case ToolCalled() if entry.server:
                self.tool_calls += 1
                self.tool_errors += entry.is_error
            case TurnEnded():
                self.usage = self.usage + entry.usage
                self.cost_usd = entry.cost_usd if entry.cost_usd is not None else self.cost_usd
            case Woken():
                self.wakes = [*self.wakes, f"{entry.how}: {entry.reason}"]
            case Exited():
                self.exit_reason = entry.reason
            case _:
                pass


class Transcript:
    """A file of lines, and the account of them."""

    def __init__(self, path: Path, *, secrets: Iterable[str]) -> None:
        self.path = path
        self.account = Account()
        self._secrets = tuple(secret for secret in secrets if secret)

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        self.account.take(entry)
        line = msgspec.json.encode(Line(at_ms=int(time.time() * 1000), entry=_shortened(entry))).decode()
        with self.path.open("a", encoding="utf-8") as file:
            file.write(blotted(line, self._secrets) + "\n")


def read_transcript(path: Path) -> list[Line]:
    """The lines of a transcript."""
    return [msgspec.json.decode(line, type=Line) for line in path.read_bytes().splitlines()]


def entry_line(entry: Entry) -> str:
    """What people who watch are told, if anything: not the calls, which the server tells about."""
    match entry:
        case SessionBegan():
            return f"opens a session{f' with {entry.model}' if entry.model else ''}"
        case TurnEnded():
            usage = entry.usage
            ended = f"stops ({entry.outcome}{f': {entry.error}' if entry.error else ''})"
            return f"{ended}: {usage.input} tokens in ({usage.cached} cached), {usage.output} out"
        case Troubled():
            return f"has trouble: {entry.text}"
        case Woken():
            return f"is {entry.how}: {entry.reason}"
        case Exited():
            return f"ends: {entry.reason}"
        case _:
            return ""


def blotted(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def _shortened(entry: Entry) -> Entry:
    text = getattr(entry, "text", "")
    if len(text) <= TEXT_CAP:
        return entry
    return msgspec.structs.replace(entry, text=text[:TEXT_CAP] + "…")  # pyright: ignore[reportCallIssue]
