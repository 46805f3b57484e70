"""`adapter-server replay`: the state of an episode from its log, and what agents were told, byte for byte."""

import sys

import anyio
import msgspec

from adapter_server.logs import configure_logs
from adapter_server.replaying import Replay, replay
from adapter_server.reply_files import Reply
from adapter_server.reply_reading import PastReplies, past_replies
from adapter_server.settings import Settings
from adapter_server.store_access import existing_folder, store_to_read
from blackboard.board import Board

from .exit_codes import NOT_PROVED, OK


def run_replay(episode: str, settings: Settings, *, to: int | None, is_json: bool) -> int:
    """Print the state; the code is 1 when the log's chain is broken, or that of the replies.

    Raises:
        UnknownId: there is no such episode.
        BadDataFolder, StorageUnavailable: the data folder or its store cannot be used.
    """
    found, told = _read(episode, settings, to)
    fields = found.to_fields() | {"replies": told.last, "replies_broken_at": told.broken_at}
    print(msgspec.json.encode(fields).decode() if is_json else "\n".join([_text(found), *_told(told)]))
    return OK if found.broken_at is None and told.broken_at is None else NOT_PROVED


def run_replay_replies(episode: str, settings: Settings, *, to: int | None, is_json: bool) -> int:
    """List the replies that were made up to event `to`; the code is 1 when one is missing or was changed.

    Raises:
        UnknownId, BadDataFolder, StorageUnavailable: as `run_replay`.
    """
    _, told = _read(episode, settings, 0)
    listed = [reply for reply in told.replies if to is None or reply.seq <= to]
    facts = {"first": told.first, "last": told.last, "broken_at": told.broken_at, "replies": listed}
    print(msgspec.json.encode(facts).decode() if is_json else "\n".join([*map(_line, listed), *_told(told)]))
    return OK if told.broken_at is None else NOT_PROVED


def run_replay_reply(episode: str, settings: Settings, *, number: int, is_json: bool) -> int:
    """Print one reply exactly as its agent got it, and nothing else.

    Raises:
        Gone: it is not kept any more, is missing, or comes after one that is missing or was changed.
        UnknownId, BadDataFolder, StorageUnavailable: as `run_replay`.
    """
    reply = _read(episode, settings, 0)[1].reply(number)
    sys.stdout.write(msgspec.json.encode(reply).decode() + "\n" if is_json else reply.text)
    return OK


def _read(episode: str, settings: Settings, to: int | None) -> tuple[Replay, PastReplies]:
    configure_logs(level="warning")
    folder = existing_folder(settings).episodes / episode

    async def read() -> tuple[Replay, PastReplies]:
        async with store_to_read(settings) as url, Board.open(url) as board:
            return await replay(board, episode, to=to), await past_replies(board, episode, folder)

    return anyio.run(read)


def _line(reply: Reply) -> str:
    mark = "error" if reply.is_error else "ok"
    first = reply.text.partition("\n")[0]
    return f"{reply.number} #{reply.seq} {reply.agent} {reply.tool} {mark} {len(reply.text.encode())} B: {first[:80]}"


def _told(told: PastReplies) -> list[str]:
    kept = f"{told.last} replies" + (f", kept from {told.first} on" if told.first > 1 else "")
    return [kept] if told.broken_at is None else [kept, f"reply {told.broken_at} is missing or was changed"]


def _text(found: Replay) -> str:
    state = found.state
    lines = [f"{found.episode} at event {found.seq} of {found.last_seq}: {state.status} {state.reason}".rstrip()]
    lines += [] if found.broken_at is None else [f"the log is broken at event {found.broken_at}"]
    for node in state.nodes.values():
        held = ", ".join(agent for part, agent in state.leases if part == node.id)
        lines.append(f"  {node.id} {node.name} [{node.status}]{f' held by {held}' if held else ''}: {node.statement}")
    for one in state.alternatives.values():
        dead = " (dead)" if one.is_dead else ""
        lines.append(f"  {one.id} {one.parent} follows from {', '.join(one.children)}{dead}")
    counts = {"lemmas": state.lemmas, "messages": state.messages, "agents": state.agents, "attempts": state.attempts}
    lines.append(", ".join(f"{len(items)} {name}" for name, items in counts.items()) + f", {state.checks} checks")
    return "\n".join(lines)
