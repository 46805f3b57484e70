"""What the events of an episode, or of several on the same problem, say about the work: counted, pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from bus.duplicate_work import DuplicateWork
from bus.messages import Event


class EpisodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over all events.

    Attributes:
        lemmas: accepted.
        distinct_lemmas: accepted, each statement once.
        checks: Lean checks.
        counters: everything else, by the names that records use.
    """

    lemmas: int
    distinct_lemmas: int
    checks: int
    counters: dict[str, float]


def facts_of(episodes: Sequence[Sequence[Event]]) -> EpisodeFacts:
    """Count. Several episodes are isolated agents on one problem: what two of them prove is done twice."""
    events = [event for episode in episodes for event in episode]
    kinds = Counter(event.kind for event in events)
    checks = [event.body for event in events if event.kind == "check_finished"]
    lemmas = [event.body for event in events if event.kind == "lemma_accepted"]
    statements = Counter(str(body.get("statement_hash") or body.get("statement")) for body in lemmas)
    counters: dict[str, float] = {
        "useful_checks": sum(bool(body.get("accepted")) for body in checks),
        "check_s": round(sum(float(body.get("ms") or 0) for body in checks) / 1000, 3),
        "both_busy_s": round(busy_together([interval(event) for event in events if event.kind == "check_finished"]), 3),
        "duplicates": sum(count - 1 for count in statements.values()) + sum(map(_repeated_attempts, episodes)),
        "duplicate_work_min": round(sum(map(_duplicate_minutes, episodes)), 3),
        "reused": sum(map(_reused, episodes)),
        "lost_leases": kinds["lease_expired"],
        "messages": kinds["message_sent"],
        "parts": kinds["node_added"] - len(episodes),
        "refuted_parts": kinds["node_refuted"],
    }
    return EpisodeFacts(
        lemmas=len(lemmas),
        distinct_lemmas=len(statements),
        checks=len(checks),
        counters=counters | _proof(episodes),
    )


def _duplicate_minutes(events: Sequence[Event]) -> float:
    work = DuplicateWork()
    work.take(events)
    return work.minutes


def interval(event: Event) -> tuple[float, float]:
    """When the check that an event reports ran, in seconds since 1970."""
    end = event.at_ms / 1000
    return end - float(event.body.get("ms") or 0) / 1000, end


def busy_together(intervals: Iterable[tuple[float, float]], *, at_least: int = 2) -> float:
    """Seconds in which at least so many of the intervals overlap."""
    edges = sorted([(start, 1) for start, _ in intervals] + [(end, -1) for _, end in intervals])
    total, depth, since = 0.0, 0, 0.0
    for at, step in edges:
        if depth >= at_least:
            total += at - since
        depth, since = depth + step, at
    return total


def proved_ms(events: Sequence[Event]) -> int | None:
    """When the theorem was closed, by the store's clock; the assembly comes after it."""
    root = next((str(event.body.get("root")) for event in events if event.kind == "episode_opened"), "n0")
    closed = [event.at_ms for event in events if event.kind == "node_closed" and event.body.get("node") == root]
    return closed[0] if closed else None


def uses(events: Sequence[Event]) -> list[tuple[str, str, bool]]:
    """(lemma, what it uses, whether two authors are involved) for every use of a lemma by a lemma."""
    bodies = {str(event.body.get("lemma")): event.body for event in events if event.kind == "lemma_accepted"}
    return [
        (lemma, str(used), _author(body) != _author(bodies[str(used)]))
        for lemma, body in bodies.items()
        for used in body.get("uses") or ()
        if str(used) in bodies
    ]


def _author(body: dict[str, Any]) -> str:
    return str(body.get("author"))


def _reused(events: Sequence[Event]) -> int:
    return sum(is_shared for _, _, is_shared in uses(events))


def _repeated_attempts(events: Sequence[Event]) -> int:
    """Attempts on a part by somebody other than the first: the work on it was done again."""
    tried: dict[str, set[str]] = {}
    for event in events:
        if event.kind == "attempt_noted":
            tried.setdefault(str(event.body.get("node")), set()).add(str(event.body.get("agent")))
    return sum(len(agents) - 1 for agents in tried.values())


def _proof(episodes: Sequence[Sequence[Event]]) -> dict[str, float]:
    """How long the proof took and how many checks were made until then, by all; nothing without a proof."""
    proved = [(at, events) for events in episodes if events and (at := proved_ms(events)) is not None]
    if not proved:
        return {}
    at, events = min(proved, key=lambda item: item[0] - item[1][0].at_ms)
    checks = [event for episode in episodes for event in episode if event.kind == "check_finished"]
    return {
        "proved_s": round((at - events[0].at_ms) / 1000, 3),
        "checks_to_proof": 1 + sum(event.at_ms < at for event in checks),
    }
