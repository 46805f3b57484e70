"""A log and the state that it gives, kept together: what is not written has not happened."""

from .events import LedgerEvent
from .ledger import EventLog
from .state import State, fold


class Journal:
    """The only way in which a campaign changes its state."""

    def __init__(self, log: EventLog) -> None:
        """Fold what is there.

        Raises:
            BadLedger: the log does not begin with the set-up of a campaign.
        """
        self._log = log
        self.state: State = fold(log.entries)

    def write(self, event: LedgerEvent) -> None:
        """Write an event, then take it into the state."""
        self.state.take(self._log.append(event))
