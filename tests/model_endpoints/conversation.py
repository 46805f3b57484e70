"""What a scripted model sees and answers, the same for both vendors' protocols; pure."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import msgspec

Facts = dict[str, Any]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that has come back."""

    tool: str
    arguments: Facts
    text: str
    is_error: bool = False

    @property
    def facts(self) -> Facts:
        """The JSON line of our server's replies; empty when there is none."""
        for line in self.text.splitlines():
            if line.startswith("{"):
                try:
                    return cast(Facts, json.loads(line))
                except ValueError:
                    return {}
        return {}

    @property
    def is_lost(self) -> bool:
        """Whether the server's own reply never came: the errors of our tools have facts."""
        return self.is_error and not self.facts


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One request to the model."""

    said: tuple[str, ...]
    """Texts of the user, oldest first, with what the host puts before them."""
    results: tuple[Result, ...]
    """Finished tool calls, oldest first."""
    tools: tuple[str, ...]
    """Names of the adapter's tools that are offered."""
    text: str
    """The whole request, for tests that look for a text anywhere."""

    @property
    def last(self) -> Result | None:
        return self.results[-1] if self.results else None

    def of(self, tool: str) -> Iterator[Result]:
        return (result for result in self.results if result.tool == tool)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call."""

    tool: str
    arguments: Facts = {}
    is_own: bool = False
    """Of a tool of the host's own, not of the adapter's."""


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """A call of Codex' code tool."""

    source: str


Answer = str | Sequence[Call] | Code
"""A text ends the turn; calls go on."""

Script = Callable[[Conversation], Answer]


def strings(value: object) -> Iterator[str]:
    """All texts inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from strings(item)
    elif isinstance(value, dict):
        for item in cast("dict[str, object]", value).values():
            yield from strings(item)


def objects(value: object) -> list[Facts]:
    """The objects of a JSON list."""
    if not isinstance(value, list):
        return []
    return [cast(Facts, item) for item in cast("list[object]", value) if isinstance(item, dict)]
