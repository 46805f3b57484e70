"""An episode as a person would tell it: what was reached when, what led to the proof, what each agent was shown."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from bus.messages import Event

from .traces import Call, Trace

LINE = 220
"""Characters of a line; what agents wrote is cut and kept on one line."""


class Lemma(msgspec.Struct, frozen=True, kw_only=True):
    """An accepted lemma.

    Attributes:
        id: content id.
        name: stored name.
        key: hash of its statement, equal in all episodes.
        statement: as Lean prints it.
        author: who proved it first.
        at_ms: when.
    """

    id: str
    name: str
    key: str
    statement: str
    author: str
    at_ms: int


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent knew of a lemma of somebody else.

    Attributes:
        lemma: which.
        call: the reply that named it first; None when none did.
        is_used: whether a later check of the agent names it.
    """

    lemma: Lemma
    call: Call | None
    is_used: bool


def one_line(text: object, size: int = LINE) -> str:
    """Text of agents or of Lean, harmless in a list: one line, no marks of Markdown code, cut."""
    flat = " ".join(str(text).replace("`", "'").split())
    return flat if len(flat) <= size else flat[: size - 1] + "…"


def lemmas_of(trace: Trace) -> list[Lemma]:
    """Accepted lemmas in order."""
    return [
        Lemma(
            id=str(event.body.get("lemma")),
            name=str(event.body.get("name")),
            key=str(event.body.get("statement_hash") or event.body.get("statement")),
            statement=str(event.body.get("statement", "")),
            author=str(event.body.get("author")),
            at_ms=event.at_ms,
        )
        for event in trace.events
        if event.kind == "lemma_accepted"
    ]


def path_to_proof(trace: Trace) -> list[Lemma]:
    """The lemmas that the final proof rests on, the theorem itself left out, in order; empty without a proof."""
    bodies = {str(event.body.get("lemma")): event.body for event in trace.events if event.kind == "lemma_accepted"}
    closing = {str(e.body.get("node")): str(e.body.get("lemma")) for e in trace.events if e.kind == "node_closed"}
    goal = closing.get(trace.root, "")
    reached, todo = set[str](), [goal]
    while todo:
        one = todo.pop()
        if one in bodies and one not in reached:
            reached.add(one)
            todo += [str(used) for used in bodies[one].get("uses") or ()]
    return [lemma for lemma in lemmas_of(trace) if lemma.id in reached - {goal}]


def shown_to(trace: Trace, agent: str) -> list[Shown]:
    """Each lemma of the others: the first reply to this agent that named it, and whether it was used afterwards."""
    calls = [call for call in trace.calls if call.agent == agent]
    found: list[Shown] = []
    for lemma in lemmas_of(trace):
        if lemma.author == agent:
            continue
        first = next((call for call in calls if lemma.name in call.text), None)
        later = [call for call in calls if first and call.tool == "check" and call.at_ms > first.at_ms]
        is_used = any(lemma.name in str(call.arguments.get("source", "")) for call in later)
        found.append(Shown(lemma=lemma, call=first, is_used=is_used))
    return found


def timeline(trace: Trace, *, marked: frozenset[str] = frozenset()) -> list[str]:
    """What happened, a line each; checks in a row that led to nothing are one line, marked lemmas get a star."""
    names = {str(e.body.get("node")): str(e.body.get("name")) for e in trace.events if e.kind == "node_added"}
    lines: list[str] = []
    for group in _grouped(trace.events):
        if len(group) == 1 or group[0].kind != "check_finished":
            lines += [line for event in group if (line := _told(event, trace, names, marked))]
            continue
        seconds = sum(float(event.body.get("ms") or 0) for event in group) / 1000
        who = ", ".join(f"{agent} {count}" for agent, count in Counter(event.actor for event in group).most_common())
        lines.append(
            f"{_at(trace, group[0].at_ms)} {len(group)} checks led to nothing, {seconds:.1f} s of Lean ({who})"
        )
    return lines


def _grouped(events: Sequence[Event]) -> Iterator[list[Event]]:
    group: list[Event] = []
    for event in events:
        if event.kind == "check_finished" and event.body.get("accepted"):
            continue  # the lemma is told
        is_fruitless = event.kind == "check_finished"
        if group and not (is_fruitless and group[0].kind == "check_finished"):
            yield group
            group = []
        group.append(event)
    if group:
        yield group


def _told(event: Event, trace: Trace, names: dict[str, str], marked: frozenset[str]) -> str:
    words = _words(event, names, marked)
    return one_line(f"{_at(trace, event.at_ms)} {words}") if words else ""


def _words(event: Event, names: dict[str, str], marked: frozenset[str]) -> str:
    body, who = event.body, event.actor
    node = names.get(str(body.get("node")), str(body.get("node")))
    match event.kind:
        case "lemma_accepted":
            star = "★ " if str(body.get("lemma")) in marked else ""
            return f"{star}{who} proves {body.get('name')}: {body.get('statement')}"
        case "node_added" if who != "server":
            return f"{who} adds part {body.get('name')}: {body.get('statement')}"
        case "alternative_added":
            parent = names.get(str(body.get("parent")), "?")
            children = ", ".join(names.get(str(child), str(child)) for child in body.get("children") or ())
            return f"{who} reduces {parent} to {children}"
        case "node_closed" | "node_refuted" | "node_disputed":
            return f"{node} is {event.kind.removeprefix('node_')} by {who}"
        case _:
            return _small_words(event, node)


def _small_words(event: Event, node: str) -> str:
    body, who = event.body, event.actor
    match event.kind:
        case "lease_granted":
            return f"{who} takes {node}: {body.get('approach') or 'no approach told'}"
        case "lease_expired":
            return f"{who} loses {node}: the lease ran out"
        case "attempt_noted":
            return f"{who} leaves {node}, {body.get('outcome')}: {body.get('note')}"
        case "message_sent":
            return f"{who} says: {body.get('text')}"
        case "check_finished":
            return f"{who} checks in vain, {float(body.get('ms') or 0) / 1000:.1f} s of Lean"
        case "episode_closed":
            return f"the episode ends: {body.get('status')}, {body.get('reason')}"
        case _:
            return ""


def _at(trace: Trace, at_ms: int) -> str:
    return f"{(at_ms - trace.began_ms) / 1000:.1f} s"
