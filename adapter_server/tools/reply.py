"""Replies as agents read them: a line for the eye, one JSON line of facts, then news. Never longer than the cap."""

from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Any, cast

import msgspec

from bus.errors import AdapterError

Facts = dict[str, Any]

MIN_TEXT_BYTES = 120
"""Texts inside facts are not cut shorter than this to make a reply fit."""


class ToolReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool hands back before it becomes text."""

    headline: str
    facts: Facts = {}
    cap: int | None = None
    """A size in bytes that the caller asked for, below the version's cap."""

    shown: frozenset[int] = frozenset()
    """Numbers of events that the facts contain already, so that the news leaves them out."""

    is_settled: bool = True
    """False when the same call may well end differently in a moment, so that a repetition must run again."""


def render_reply(reply: ToolReply, *, news: Sequence[str], cap: int) -> str:
    """The text of a reply, at most `cap` bytes: list tails go first (counted in `left_out`), then long texts."""
    tail = "\nnews:\n" + "\n".join(news) if news else ""
    cap = min(cap, reply.cap or cap)
    headline = cut(reply.headline, 400)
    room = cap - len(headline.encode()) - len(tail.encode()) - 1
    return f"{headline}\n{_fit(reply.facts, room)}{tail}"


def render_error(error: AdapterError, *, cap: int) -> str:
    """The text of an error: code, message and hint for the eye, then all fields."""
    fields = error.to_fields()
    hint = f" {error.hint}" if error.hint else ""
    headline = cut(f"error {error.code}: {error.message}.{hint}".replace("..", "."), 600)
    return f"{headline}\n{_fit(fields, cap - len(headline.encode()) - 1)}"


def cut(text: str, limit: int) -> str:
    """The text in at most `limit` bytes; what is cut off shows as an ellipsis."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return data[: max(limit - 3, 0)].decode(errors="ignore") + "…"


def _fit(facts: Facts, room: int) -> str:
    text = _encode(facts)
    if len(text.encode()) <= room:
        return text
    facts = cast(Facts, msgspec.to_builtins(facts))
    _cut_lists(facts, room)
    while len((text := _encode(facts)).encode()) > room and _shorten_a_list(facts):
        pass
    limit = room
    while len((text := _encode(facts)).encode()) > room and limit > MIN_TEXT_BYTES:
        limit //= 2
        facts = cast(Facts, _cut_texts(facts, limit))
    return text


def _cut_lists(facts: Facts, room: int) -> None:
    """Drop the tail of each list that would not fit even alone: long ones are not worn down item by item."""
    lists = {name: cast("list[object]", value) for name, value in facts.items() if isinstance(value, list)}
    for name, items in lists.items():
        sizes = accumulate(len(msgspec.json.encode(item)) + 1 for item in items)
        kept = max(sum(1 for _ in takewhile(lambda size: size <= room, sizes)), 1)
        if kept < len(items):
            _drop(facts, name, len(items) - kept)


def _drop(facts: Facts, name: str, count: int) -> None:
    facts[name] = facts[name][:-count]
    left_out = dict(facts.get("left_out") or {})
    left_out[name] = left_out.get(name, 0) + count
    facts["left_out"] = left_out


def _shorten_a_list(facts: Facts) -> bool:
    """Drop the last item of the list that takes most room; False when no list has two items left."""
    lists: dict[str, list[object]] = {name: value for name, value in facts.items() if isinstance(value, list)}
    lists = {name: value for name, value in lists.items() if len(value) > 1}
    if not lists:
        return False
    name = max(lists, key=lambda key: len(_encode(lists[key])))
    _drop(facts, name, 1)
    return True


def _cut_texts(value: object, limit: int) -> object:
    if isinstance(value, str):
        return cut(value, limit)
    if isinstance(value, list):
        return [_cut_texts(item, limit) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _cut_texts(item, limit) for key, item in cast("dict[str, object]", value).items()}
    return value


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
