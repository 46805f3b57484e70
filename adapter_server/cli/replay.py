"""`adapter-server replay`: the state of an episode from its log, up to any event."""

import anyio
import msgspec

from adapter_server.logs import configure_logs
from adapter_server.replaying import Replay, replay
from adapter_server.settings import Settings
from adapter_server.store_access import existing_folder, store_to_read
from blackboard.board import Board

from .exit_codes import NOT_PROVED, OK


def run_replay(episode: str, settings: Settings, *, to: int | None, is_json: bool) -> int:
    """Print the state; the code is 1 when the log's chain is broken.

    Raises:
        UnknownId: there is no such episode.
        BadDataFolder, StorageUnavailable: the data folder or its store cannot be used.
    """
    configure_logs(level="warning")
    existing_folder(settings)
    found = anyio.run(_replay, episode, settings, to)
    print(msgspec.json.encode(found.to_fields()).decode() if is_json else _text(found))
    return OK if found.broken_at is None else NOT_PROVED


async def _replay(episode: str, settings: Settings, to: int | None) -> Replay:
    async with store_to_read(settings) as url, Board.open(url) as board:
        return await replay(board, episode, to=to)


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
