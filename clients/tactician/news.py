"""Events as the news lines of replies and the facts of `wait` tell them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

import msgspec

from .session import Reply

_LINE = re.compile(r"#(?P<seq>\d+) (?P<actor>\S+) (?P<kind>\w+) ?(?P<rest>.*)")


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """One event, as far as an agent needs it."""

    kind: str
    actor: str
    name: str = ""
    """Lemma or node name."""

    node: str = ""
    closes: tuple[str, ...] = ()
    """Nodes that a lemma closed."""

    statement: str = ""
    """Empty when it was too long to be told."""


def happenings(reply: Reply) -> list[Happening]:
    """Events in the news of a reply and in the facts of a `wait`."""
    found = [event for line in reply.news if (event := _from_line(line)) is not None]
    return found + [_from_fields(item) for item in _events(reply)]


def _events(reply: Reply) -> Iterable[dict[str, Any]]:
    events = reply.facts.get("events", [])
    if isinstance(events, list):
        for item in cast("list[object]", events):
            if isinstance(item, dict):
                yield cast("dict[str, Any]", item)


def _from_fields(fields: dict[str, Any]) -> Happening:
    statement = str(fields.get("statement", ""))
    return Happening(
        kind=str(fields.get("kind", "")),
        actor=str(fields.get("actor", "")),
        name=str(fields.get("name", "")),
        node=str(fields.get("node", "")),
        closes=_strings(fields.get("closes")),
        statement="" if statement.endswith("…") else statement,
    )


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in cast("list[object]", value)) if isinstance(value, list) else ()


def _from_line(line: str) -> Happening | None:
    found = _LINE.match(line)
    if found is None:
        return None
    kind, rest = found["kind"], found["rest"]
    name = node = statement = ""
    closes: tuple[str, ...] = ()
    if kind == "lemma_accepted":
        left, _, statement = rest.partition(": ")
        name, _, closed = left.partition(" closes ")
        closes = tuple(closed.split(", ")) if closed else ()
    elif kind == "node_added":
        left, _, statement = rest.partition(": ")
        words = left.split()
        node, name = [*words, "", ""][:2]
    elif rest:
        node = rest.split(" ", 1)[0]
    return Happening(
        kind=kind,
        actor=found["actor"],
        name=name,
        node=node,
        closes=closes,
        statement="" if statement.endswith("…") else statement,
    )
