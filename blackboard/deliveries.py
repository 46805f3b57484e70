"""What a reply tells an agent about the others: which events concern it, in what order, within how many bytes."""

from collections.abc import Sequence

import msgspec

from bus.messages import Event

from .types import CallToken, DeltaPage

_LINE_BYTES_MAX = 300  # a longer event is cut when it is rendered
_LINE_BYTES_MIN = 16

_FOR_EVERYONE = frozenset(
    {
        "node_added",
        "alternative_added",
        "lemma_accepted",
        "node_closed",
        "node_refuted",
        "node_disputed",
        "node_revised",
        "node_reopened",
        "lemma_revoked",
        "episode_closed",
    }
)


_FOR_SOME = _FOR_EVERYONE | {"message_sent", "lease_expired", "lease_released", "lease_handed_off"}


def may_concern(kind: str, actor: str, agent: str) -> bool:
    """Tell whether an event can be news to this agent, before anybody reads what is in it."""
    return kind == "check_finished" if actor == agent else kind in _FOR_SOME


def concerns(event: Event, agent: str) -> bool:
    """Tell whether the event is news to this agent.

    Its own doings are not, except the end of a check that outlived its call. Work that others begin and give up is not
    either: a digest shows where they stand.
    """
    if event.actor == agent:
        return event.kind == "check_finished" and event.body.get("job") is not None
    if event.kind == "message_sent":
        return not event.body["to"] or agent in event.body["to"]
    if event.kind in {"lease_expired", "lease_released"}:
        return event.body["agent"] == agent
    if event.kind == "lease_handed_off":
        return event.body["to"] == agent
    return event.kind in _FOR_EVERYONE


def line_bytes(event: Event) -> int:
    """Estimate how long the event is as a line of a reply."""
    size = _LINE_BYTES_MIN + len(event.actor) + len(msgspec.json.encode(event.body))
    return min(size, _LINE_BYTES_MAX)


def extend(page: DeltaPage, token: CallToken, events: Sequence[Event], limit_bytes: int) -> DeltaPage:
    """Add the next events of the log to a page, as far as the budget goes.

    The page settles a prefix of the log. At least one event goes on a page, however small the budget.
    Once one was left out, the rest is only counted.
    """
    taken, left_out, up_to = list(page.events), page.left_out, page.up_to
    room = limit_bytes - sum(line_bytes(event) for event in taken)
    told = {node for event in taken if event.kind == "lemma_accepted" for node in event.body["closes"]}
    for event in events:
        if concerns(event, token.agent) and not (event.kind == "node_closed" and event.body["node"] in told):
            size = line_bytes(event)
            if left_out or (taken and size > room):
                left_out += 1
            else:
                room -= size
                taken.append(event)
                told.update(event.body["closes"] if event.kind == "lemma_accepted" else ())
        up_to = up_to if left_out else event.seq
    repeated = frozenset(event.seq for event in taken if event.seq <= token.shown)
    return DeltaPage(events=tuple(taken), repeated=repeated, up_to=up_to, left_out=left_out)
