"""A log and the state that it gives, kept together: what is not written has not happened."""

from collections.abc import Callable

from .events import LedgerEvent
from .ledger import EventLog
from .state import State, fold


class Journal:
    """The only way in which a campaign changes its state."""

    def __init__(self, log: EventLog, *, told: Callable[[LedgerEvent], None] | None = None) -> None:
        """Fold what is there; `told` hears of every event that is written from now on.

        Raises:
            BadLedger: the log does not begin with the set-up of a campaign.
        """
        self._log = log
        self._told = told
        self.state: State = fold(log.entries)

    def write(self, event: LedgerEvent) -> None:
        """Write an event, then take it into the state."""
        self.state.take(self._log.append(event))
        if self._told:
            self._told(event)
