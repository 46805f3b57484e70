"""Messages between agents."""

from collections.abc import Sequence

import msgspec

from bus.errors import BadArguments, TooLarge, UnknownId

from .in_redis import EpisodeStore
from .keys import mailbox_key
from .types import Message

TEXT_MAX_BYTES = 65_536
"""What the log takes in one message; the limit that agents meet is the adapter version's."""

_RECIPIENTS_MAX = 200


class Mail:
    """Messages of an episode. A message is sent once its event is in the log."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def send(
        self,
        episode: str,
        sender: str,
        *,
        type: str,  # noqa: A002 - the field's name on the wire
        text: str,
        to: Sequence[str] = (),
        ref: str | None = None,
        needs_ack: bool = False,
        op: str | None = None,
    ) -> Message:
        """Send a message to the named agents, or to everyone.

        Raises:
            UnknownRecipient: a name that nobody has; nothing was sent (facts: roster).
            BadArguments: too many recipients.
            TooLarge: the text is over the log's limit (facts: cap).
        """
        if len(text.encode(errors="replace")) > TEXT_MAX_BYTES:
            raise TooLarge("the message is too long", hint="send a summary", cap=TEXT_MAX_BYTES)
        names = tuple(dict.fromkeys(to))
        if len(names) > _RECIPIENTS_MAX:
            raise BadArguments(f"more than {_RECIPIENTS_MAX} recipients", hint="name none to reach everyone")
        args = {"sender": sender, "type": type, "text": text, "to": names, "ref": ref, "needs_ack": needs_ack}
        boxes = [mailbox_key(episode, agent) for agent in dict.fromkeys((*names, sender))] if names else []
        reply = await self._store.change("send", episode=episode, op=op, args=args, extra_keys=boxes)
        return msgspec.json.decode(reply, type=Message)

    async def messages(self, episode: str, agent: str | None = None, *, limit: int = 50) -> list[Message]:
        """Return the last messages, oldest first; with `agent` only those it may see: to it, to all, or from it."""
        if limit < 1:
            return []
        if agent is None:
            (count,) = await self._store.read(episode, ("HGET", "meta", "messages"))
            last = int(count or 0)
            numbers = list(range(max(1, last - limit + 1), last + 1))
        else:
            boxes = [("LRANGE", name, -limit, -1) for name in ("mail", f"mail:{agent}")]
            numbers = sorted(int(name[1:]) for box in await self._store.read(episode, *boxes) for name in box)
        if not numbers:
            return []
        (rows,) = await self._store.read(episode, ("HMGET", "messages", *(f"m{number}" for number in numbers[-limit:])))
        return [msgspec.json.decode(row, type=Message) for row in rows]

    async def message(self, episode: str, id: str) -> Message:  # noqa: A002
        """Return one message.

        Raises:
            UnknownId: no such message.
        """
        (row,) = await self._store.read(episode, ("HGET", "messages", id))
        if row is None:
            raise UnknownId(f"there is no message {id}", kind="message", id=id, nearest=[])
        return msgspec.json.decode(row, type=Message)
