"""What the launcher needs of a host's conversation: decisions only, no I/O."""

from typing import Any, Protocol

import msgspec

from .transcript import Entry, Usage

Message = dict[str, Any]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What a message of the host means."""

    entries: tuple[Entry, ...] = ()
    """For the transcript."""
    replies: tuple[Message, ...] = ()
    """To be sent to the host."""


class HostProtocol(Protocol):
    """One session with a host, from the launcher's side."""

    @property
    def is_busy(self) -> bool:
        """Whether the model works, or has been told to."""
        ...

    @property
    def spent(self) -> Usage:
        """Tokens of the turn that goes on, as far as the host has told; a turn's end tells them all."""
        ...

    def begin(self) -> list[Message]:
        """Messages that open the session."""
        ...

    def prompt(self, text: str) -> list[Message]:
        """Messages that give the model something to read: at once when it waits, else at the next opportunity."""
        ...

    def interrupt(self) -> list[Message]:
        """Messages that stop the model's turn and the tool call that it waits for; none when it is idle."""
        ...

    def take(self, message: Message) -> Step:
        """Understand a message of the host. What is not known changes nothing."""
        ...
