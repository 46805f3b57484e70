"""Events as one line each, for the news at the end of a reply."""

from collections.abc import Callable, Mapping
from typing import Any

from bus.messages import Event

from .reply import cut

LINE_BYTES = 280
_STATEMENT_BYTES = 160

Body = Mapping[str, Any]


def news_line(event: Event) -> str:
    """One line about an event, at most LINE_BYTES long. What agents wrote shows as quoted data, on one line."""
    render = _LINES.get(event.kind)
    text = render(event.body) if render else ""
    return cut(f"#{event.seq} {event.actor} {event.kind} {text}".rstrip(), LINE_BYTES)


def one_line(text: object, limit: int = _STATEMENT_BYTES) -> str:
    """A text on one line in at most `limit` bytes, without control characters."""
    line = " ".join(str(text).split())
    return cut(line if line.isprintable() else "".join(char if char.isprintable() else " " for char in line), limit)


def _node_added(body: Body) -> str:
    parent = f" under {body['parent']}" if body.get("parent") else ""
    return f"{body.get('node')} {one_line(body.get('name', ''), 60)}{parent}: {one_line(body.get('statement', ''))}"


def _alternative_added(body: Body) -> str:
    return f"{body.get('alternative')}: {body.get('parent')} follows from {', '.join(body.get('children', []))}"


def _lease(body: Body) -> str:
    approach = f" approach {one_line(body['approach'], 80)!r}" if body.get("approach") else ""
    return f"{body.get('node')} {body.get('agent') or body.get('to') or ''}{approach}"


def _attempt(body: Body) -> str:
    return f"{body.get('node')} {one_line(body.get('outcome', ''), 40)}: {one_line(body.get('note', ''))!r}"


def _check(body: Body) -> str:
    names = ", ".join(body.get("accepted", []))
    job = f"job {body['job']} " if body.get("job") else ""
    return f"{job}{body.get('node') or ''} accepted [{names}] rejected {body.get('rejected', 0)}"


def _lemma(body: Body) -> str:
    closes = f" closes {', '.join(body['closes'])}" if body.get("closes") else ""
    return f"{body.get('name')}{closes}: {one_line(body.get('statement', ''))}"


def _node_closed(body: Body) -> str:
    return f"{body.get('node')} by {body.get('name') or body.get('lemma')}"


def _node_refuted(body: Body) -> str:
    hit = f", which ends {', '.join(body['alternatives'])}" if body.get("alternatives") else ""
    witness = f" at {one_line(body['witness'], 80)}" if body.get("witness") else ""
    return f"{body.get('node')} is false{witness}{hit}"


def _node_disputed(body: Body) -> str:
    repair = f" repair {one_line(body['repair'], 80)!r}" if body.get("repair") else ""
    return f"{body.get('node')}: {one_line(body.get('text', ''))!r}{repair}"


def _node_revised(body: Body) -> str:
    return f"{body.get('node')} {one_line(body.get('name', ''), 60)}: {one_line(body.get('note', ''))!r}"


def _node_reopened(body: Body) -> str:
    return f"{body.get('node')} is open again: {str(body.get('lemma'))[:12]} was revoked"


def _lemma_revoked(body: Body) -> str:
    ends = f", which ends {', '.join(body['alternatives'])}" if body.get("alternatives") else ""
    return f"{body.get('name') or body.get('lemma')}: {one_line(body.get('reason', ''))!r}{ends}"


def _message(body: Body) -> str:
    to = f" to {', '.join(body['to'])}" if body.get("to") else ""
    return f"{body.get('message')} {body.get('type')}{to}: {one_line(body.get('text', ''))!r}"


def _closed(body: Body) -> str:
    return f"{body.get('status')}: {one_line(body.get('reason', ''))}"


_LINES: dict[str, Callable[[Body], str]] = {
    "node_added": _node_added,
    "alternative_added": _alternative_added,
    "lease_granted": _lease,
    "lease_released": _lease,
    "lease_expired": _lease,
    "lease_handed_off": _lease,
    "attempt_noted": _attempt,
    "check_finished": _check,
    "lemma_accepted": _lemma,
    "node_closed": _node_closed,
    "node_refuted": _node_refuted,
    "node_disputed": _node_disputed,
    "node_revised": _node_revised,
    "node_reopened": _node_reopened,
    "lemma_revoked": _lemma_revoked,
    "message_sent": _message,
    "episode_closed": _closed,
}
