"""What is left of an episode: its events and its agents' transcripts, read from a folder."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from bus.messages import Event

_PREFIX = "agent-"

T = TypeVar("T")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call of an agent that has come back.

    Attributes:
        at_ms: when.
        agent: whose.
        tool: its name.
        arguments: as the agent gave them.
        text: what it was answered, shortened by the launcher.
        is_error: whether that was an error.
    """

    at_ms: int
    agent: str
    tool: str
    arguments: dict[str, Any]
    text: str
    is_error: bool


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """Events and calls of one episode, both in order of time; no calls when no transcripts were kept."""

    events: list[Event]
    calls: list[Call]

    @property
    def episode(self) -> str:
        """Its id."""
        return self.events[0].episode if self.events else ""

    @property
    def began_ms(self) -> int:
        """When it was opened."""
        return self.events[0].at_ms if self.events else 0

    @property
    def root(self) -> str:
        """Id of the part that is the theorem."""
        return next((str(event.body.get("root")) for event in self.events if event.kind == "episode_opened"), "n0")


def read_trace(folder: Path) -> Trace:
    """The trace in a run's folder or in a folder of what was kept of an episode; a line that is cut off ends a file."""
    events = [event for file in sorted(folder.glob("events*.jsonl*")) for event in _decoded(file, Event)]
    files = [*sorted(folder.glob("agents/*.jsonl")), *sorted(folder.glob(f"{_PREFIX}*.jsonl.gz"))]
    calls = [call for file in files for call in _calls(file)]
    return Trace(
        events=sorted(events, key=lambda event: (event.at_ms, event.seq)), calls=sorted(calls, key=lambda c: c.at_ms)
    )


def traces_in(folder: Path) -> dict[str, Path]:
    """Episode id → folder of its trace, for all that lie directly in `folder`."""
    found: dict[str, Path] = {}
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        for file in sorted(place.glob("events*.jsonl*")):
            if first := next(_decoded(file, Event), None):
                found[first.episode] = place
    return found


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    at_ms: int
    entry: dict[str, Any]


def _calls(file: Path) -> Iterator[Call]:
    agent = file.name.removesuffix(".gz").removesuffix(".jsonl").removeprefix(_PREFIX)
    for line in _decoded(file, _Line):
        entry = line.entry
        if entry.get("type") == "tool_called" and entry.get("server"):
            given = entry.get("arguments")
            yield Call(
                at_ms=line.at_ms,
                agent=agent,
                tool=str(entry.get("tool")),
                arguments=cast("dict[str, Any]", given) if isinstance(given, dict) else {},
                text=str(entry.get("text", "")),
                is_error=bool(entry.get("is_error")),
            )


def _decoded(file: Path, kind: type[T]) -> Iterator[T]:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    for line in content.splitlines():
        try:
            yield msgspec.json.decode(line, type=kind)
        except msgspec.DecodeError:
            return
