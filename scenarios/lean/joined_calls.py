"""Tool calls as the agent's host saw them, beside the same calls as the server saw them."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

import msgspec

from bus.answered_calls import AnsweredCall, AnsweredCalls, EpisodeCalls
from bus.link import Link
from clients.transcript import ToolCalled, read_transcript

from .run_folder import RunFolder, write_whole

SIDE_BY_SIDE = 8
"""So many places apart the two sides may tell of calls that ran at the same time."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A call from one side; `at_ms` is when it was over."""

    tool: str
    at_ms: int
    is_error: bool = False
    ms: int | None = None
    """How long the server worked on it."""


class JoinedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of an agent, its `number` counted from 1. A side that is missing has not seen its answer."""

    agent: str
    number: int
    tool: str
    host: Seen | None = None
    server: Seen | None = None


async def keep_calls(link: Link, folder: RunFolder, episode: str) -> None:
    """Write `calls.jsonl` into the folder of a run.

    Raises:
        AdapterError: the server does not tell what it has answered; nothing is written.
    """
    answered = await _answered(link, episode)
    calls: list[JoinedCall] = []
    for path in sorted(folder.agent_logs.glob("*.jsonl")):
        mine = [_seen(call) for call in answered if call.agent == path.stem]
        calls += joined(path.stem, _told(path), mine)
    write_whole(folder.calls_file, "".join(msgspec.json.encode(call).decode() + "\n" for call in calls))


def joined(agent: str, host: Sequence[Seen], server: Sequence[Seen]) -> list[JoinedCall]:
    """Pair the calls of one agent by order and tool; what only one side saw stays alone."""
    pairs: list[tuple[Seen | None, Seen | None]] = []
    tools = ([call.tool for call in host], [call.tool for call in server])
    for kind, a, b, c, d in SequenceMatcher(None, *tools, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip(host[a:b], server[c:d], strict=True)
        else:
            pairs += [*((call, None) for call in host[a:b]), *((None, call) for call in server[c:d])]
    pairs = _swapped(pairs)
    return [
        JoinedCall(
            agent=agent, number=number, tool=(one or other or Seen(tool="", at_ms=0)).tool, host=one, server=other
        )
        for number, (one, other) in enumerate(pairs, 1)
    ]


def _swapped(pairs: list[tuple[Seen | None, Seen | None]]) -> list[tuple[Seen | None, Seen | None]]:
    """Calls that ran side by side end in any order: those that are alone and close to each other belong together."""
    for index, (one, other) in enumerate(pairs):
        if one is None or other is not None:
            continue
        for near in range(max(0, index - SIDE_BY_SIDE), min(len(pairs), index + SIDE_BY_SIDE + 1)):
            alone, same = pairs[near]
            if alone is None and same is not None and same.tool == one.tool:
                pairs[index], pairs[near] = (one, same), (None, None)
                break
    return [pair for pair in pairs if pair != (None, None)]


def _told(transcript: Path) -> list[Seen]:
    return [
        Seen(tool=line.entry.tool, at_ms=line.at_ms, is_error=line.entry.is_error)
        for line in read_transcript(transcript)
        if isinstance(line.entry, ToolCalled) and line.entry.server
    ]


async def _answered(link: Link, episode: str) -> list[AnsweredCall]:
    found: list[AnsweredCall] = []
    while True:
        wanted = EpisodeCalls(episode=episode, after=found[-1].number if found else 0)
        page = await link.call("episode.calls", wanted, AnsweredCalls)
        if not page.calls:
            return found
        found += page.calls


def _seen(call: AnsweredCall) -> Seen:
    return Seen(tool=call.tool, at_ms=call.at_ms, is_error=call.is_error, ms=call.ms)
