from typing import Any

from bus.duplicate_work import DuplicateWork
from bus.messages import Event, EventKind


def event(seq: int, minute: float, kind: EventKind, **body: Any) -> Event:
    return Event(episode="e", seq=seq, kind=kind, actor="ada", at_ms=int(minute * 60_000), body={"node": "n1", **body})


def test_only_the_time_in_which_several_hold_a_part_counts() -> None:
    story = [
        event(1, 0, "lease_granted", agent="ada"),
        event(2, 10, "lease_granted", agent="bob"),
        event(3, 11, "lease_granted", agent="bob"),  # the same lease under a new fence
        event(4, 12, "lease_granted", agent="cyd"),
        event(5, 13, "lease_handed_off", **{"from": "cyd", "to": "dan"}),
        event(6, 14, "lease_expired", agent="bob"),
        event(7, 15, "lease_released", agent="dan"),
        event(8, 90, "lease_released", agent="ada"),
    ]
    work = DuplicateWork()
    work.take(story[:5])
    assert work.minutes == 4  # ten to twelve: one too many; to thirteen: two
    work.take(story[5:])
    assert (work.minutes, work.seq) == (7, 8)
