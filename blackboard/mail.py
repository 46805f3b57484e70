"""Messages between agents."""

from .in_redis import EpisodeStore
from .types import Message


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
        to: tuple[str, ...] = (),
        ref: str | None = None,
        needs_ack: bool = False,
        op: str | None = None,
    ) -> Message:
        """Send a message to the named agents, or to everyone.

        Raises:
            UnknownRecipient: a name that nobody has; nothing was sent (facts: roster).
        """
        raise NotImplementedError

    async def messages(self, episode: str, agent: str | None = None, *, limit: int = 50) -> list[Message]:
        """Return the last messages, oldest first; with `agent` only those it may see: to it, to all, or from it."""
        raise NotImplementedError

    async def message(self, episode: str, id: str) -> Message:  # noqa: A002
        """Return one message.

        Raises:
            UnknownId: no such message.
        """
        raise NotImplementedError
