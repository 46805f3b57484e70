"""How long it takes until an agent that waits has an event, from the agents' logs and the events."""

import re
import statistics
from collections.abc import Sequence
from pathlib import Path

from bus.messages import Event

_WOKEN = re.compile(r"\bwoken\b.*?\bbegan_ms=(?P<began>\d+).*?\bseq=(?P<seq>\d+).*?\bwoken_ms=(?P<woken>\d+)")


def wake_ms(logs: Path, events: Sequence[Event]) -> float | None:
    """Median milliseconds from an event until the agent had it; None when nobody waited for one.

    What had happened before the waiting began wakes nobody and does not count. Store and agents share one clock.
    """
    at_ms = {event.seq: event.at_ms for event in events}
    found: list[int] = []
    for log in sorted(logs.glob("*.log")):
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            match = _WOKEN.search(line)
            if match and int(match["began"]) <= (at := at_ms.get(int(match["seq"]), -1)):
                found.append(int(match["woken"]) - at)
    return statistics.median(found) if found else None
