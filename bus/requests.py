"""Which answer belongs to which call, without any I/O."""

import itertools

import anyio
import msgspec

from .errors import AdapterError, ConnectionLost
from .jsonrpc import Refusal, Reply


class Pending:
    """A call that waits for its answer.

    Attributes:
        number: its id on the wire.
        settled: set when there is an outcome.
    """

    def __init__(self, number: int, /) -> None:
        self.number = number
        self.settled = anyio.Event()
        self._outcome: msgspec.Raw | AdapterError | None = None

    def settle(self, outcome: msgspec.Raw | AdapterError, /) -> None:
        """Give the call its outcome; only the first one counts."""
        if self._outcome is None:
            self._outcome = outcome
            self.settled.set()

    def result(self) -> msgspec.Raw:
        """Return what the other side answered. Only after `settled`.

        Raises:
            AdapterError: the one that it answered with, or the loss of the connection.
        """
        assert self._outcome is not None, "the call has no outcome yet"
        if isinstance(self._outcome, AdapterError):
            raise self._outcome
        return self._outcome


class Requests:
    """The open calls of one connection. Ids are never used twice, so a late answer cannot meet a later call."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._open: dict[int, Pending] = {}

    def begin(self) -> Pending:
        """Open a call."""
        pending = Pending(next(self._numbers))
        self._open[pending.number] = pending
        return pending

    def settle(self, answer: Reply | Refusal, /) -> bool:
        """Hand an answer to its call; False when nobody waits for it any more, or ever did."""
        pending = self._open.pop(answer.id, None) if isinstance(answer.id, int) else None
        if pending is None:
            return False
        pending.settle(answer.result if isinstance(answer, Reply) else answer.error)
        return True

    def forget(self, pending: Pending, /) -> None:
        """Close a call without waiting for its answer."""
        self._open.pop(pending.number, None)

    def lose(self, reason: str, /) -> None:
        """Settle every open call with ConnectionLost, each with one of its own: a traceback belongs to one raiser."""
        while self._open:
            self._open.popitem()[1].settle(ConnectionLost(reason))
