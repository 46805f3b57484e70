"""How long several agents worked on the same part at the same time, from an episode's events; pure."""

from collections import defaultdict
from collections.abc import Iterable

from .messages import Event

_MS_PER_MINUTE = 60_000


class DuplicateWork:
    """Takes an episode's events in order. A minute in which three agents hold one part counts twice."""

    def __init__(self) -> None:
        self.seq = 0
        """Number of the last event taken."""

        self._holders: dict[str, set[str]] = defaultdict(set)
        self._since_ms: dict[str, int] = {}
        self._total_ms = 0

    def take(self, events: Iterable[Event]) -> None:
        """Go on with the next events."""
        for event in events:
            self.seq = event.seq
            body = event.body
            match event.kind:
                case "lease_granted":
                    self._change(event, body["node"], add=body["agent"])
                case "lease_released" | "lease_expired":
                    self._change(event, body["node"], remove=body["agent"])
                case "lease_handed_off":
                    self._change(event, body["node"], add=body["to"], remove=body["from"])
                case _:
                    pass

    @property
    def minutes(self) -> float:
        """Minutes up to the last lease event; what goes on still counts when it changes."""
        return round(self._total_ms / _MS_PER_MINUTE, 3)

    def _change(self, event: Event, node: str, *, add: str = "", remove: str = "") -> None:
        holders = self._holders[node]
        surplus = max(len(holders) - 1, 0)
        self._total_ms += surplus * (event.at_ms - self._since_ms.get(node, event.at_ms))
        self._since_ms[node] = event.at_ms
        holders.discard(remove)
        holders |= {add} - {""}
