"""Messages between agents."""

from collections.abc import Sequence

import msgspec

from bus.errors import BadArguments, TooLarge, UnknownId

from .connection import Reading
from .in_redis import EpisodeStore
from .keys import mailbox_key
from .types import Message

TEXT_MAX_BYTES = 65_536
"""What the log takes in one message; the limit that agents meet is the adapter version's."""

MESSAGES_MAX = 50
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

    async def messages(self, episode: str, agent: str | None = None, *, limit: int = MESSAGES_MAX) -> list[Message]:
        """Return the last messages, oldest first; with `agent` only those it may see: to it, to all, or from it."""
        if limit < 1:
            return []
        if agent is None:
            (count,) = await self._store.read(episode, ("HGET", "meta", "messages"))
            last = int(count or 0)
            ids = [f"m{number}" for number in range(max(1, last - limit + 1), last + 1)]
        else:
            ids = message_ids(await self._store.read(episode, *mailboxes(agent, limit)), limit)
        (rows,) = await self._store.read(episode, ("HMGET", "messages", *ids))
        return messages_of(rows)

    async def message(self, episode: str, id: str) -> Message:  # noqa: A002
        """Return one message.

        Raises:
            UnknownId: no such message.
        """
        (row,) = await self._store.read(episode, ("HGET", "messages", id))
        if row is None:
            raise UnknownId(f"there is no message {id}", kind="message", id=id, nearest=[])
        return msgspec.json.decode(row, type=Message)


def mailboxes(agent: str, limit: int) -> list[Reading]:
    """What to read to learn which messages an agent may see; `message_ids` takes the answers."""
    return [("LRANGE", name, -limit, -1) for name in ("mail", f"mail:{agent}")]


def message_ids(boxes: Sequence[Sequence[bytes]], limit: int) -> list[str]:
    """Return the last ids in mailboxes, oldest first."""
    return [f"m{number}" for number in sorted(int(name[1:]) for box in boxes for name in box)[-limit:]]


def messages_of(rows: Sequence[bytes]) -> list[Message]:
    """Return messages from the stored values."""
    return [_message(row) for row in rows]


_message = msgspec.json.Decoder(Message).decode
