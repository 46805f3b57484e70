"""Safe retries: the same call again, in flight or shortly after, gets the first result and has no second effect."""

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping

import anyio
import msgspec

from .reply import ToolReply

REMEMBERED_PER_AGENT = 64


class _Entry:
    def __init__(self) -> None:
        self.is_done = anyio.Event()
        self.reply: ToolReply | None = None
        self.good_until = 0.0


class Repeats:
    """First results per agent, in memory. After a restart a retry runs again; `operation_of` lets the board notice."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], OrderedDict[str, _Entry]] = {}

    async def run(
        self, owner: tuple[str, str], key: str, make: Callable[[], Awaitable[ToolReply]], *, window_s: float
    ) -> ToolReply:
        """The reply that `make` gives, or gave to the same owner and key within the window before.

        A failed call is not remembered, and neither is one that says it is not settled.
        """
        entries = self._entries.setdefault(owner, OrderedDict())
        while (earlier := entries.get(key)) is not None:
            await earlier.is_done.wait()
            if earlier.reply is not None and anyio.current_time() <= earlier.good_until:
                return msgspec.structs.replace(earlier.reply, headline=f"{earlier.reply.headline} (first result again)")
            if entries.get(key) is earlier:
                break
        entry = entries[key] = _Entry()
        try:
            reply = await make()
            if reply.is_settled:
                entry.reply = reply
                entry.good_until = anyio.current_time() + window_s
            return reply
        finally:
            entry.is_done.set()
            if entry.reply is None and entries.get(key) is entry:
                del entries[key]
            while len(entries) > REMEMBERED_PER_AGENT:
                entries.popitem(last=False)


def repeat_key(tool: str, raw: Mapping[str, object], explicit: str | None) -> str:
    """The caller's own key, or one made from the tool and its arguments."""
    if explicit is not None:
        return f"{tool} key {explicit}"
    arguments = msgspec.json.encode(raw, order="sorted")
    return f"{tool} {hashlib.sha256(arguments).hexdigest()}"


def operation_of(agent: str, tool: str, key: str) -> str:
    """A name for what an agent's keyed call changes, the same for every retry."""
    return hashlib.sha256(f"{agent}\0{tool}\0{key}".encode()).hexdigest()[:32]
