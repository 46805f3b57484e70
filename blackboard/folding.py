"""The state of an episode, computed from nothing but its log."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from bus.messages import EpisodeState, Event, EventKind

from .types import AgentRow, Alternative, Attempt, LemmaNote, Message, Node


class HeldLease(msgspec.Struct, frozen=True, kw_only=True):
    """A lease as the log has it; renewals are not events, so its end is not here."""

    node: str
    agent: str
    fence: int
    approach: str


class State(msgspec.Struct, kw_only=True):
    """Everything that the log says about an episode; `apply` grows it in place.

    Attributes:
        status: whether work goes on, and how it ended.
        reason: why it ended.
        bundle: id of the pinned adapter version.
        details: what was given when the episode was opened.
        nodes, alternatives, lemmas, messages, agents: by id or name. Calls are not in the log and count as 0.
        leases: by node and agent.
        fences: the last fence of each node that was ever leased.
        attempts: oldest first.
        checks: Lean checks.
    """

    status: EpisodeState = "open"
    reason: str = ""
    bundle: str = ""
    details: dict[str, Any] = {}
    nodes: dict[str, Node] = {}
    alternatives: dict[str, Alternative] = {}
    lemmas: dict[str, LemmaNote] = {}
    messages: dict[str, Message] = {}
    agents: dict[str, AgentRow] = {}
    leases: dict[tuple[str, str], HeldLease] = {}
    fences: dict[str, int] = {}
    attempts: list[Attempt] = []
    checks: int = 0


def fold(events: Iterable[Event], state: State | None = None) -> State:
    """Apply events to a new state, or to the given one."""
    state = state or State()
    for event in events:
        apply(state, event)
    return state


def apply(state: State, event: Event) -> None:
    """Let one event change the state."""
    _APPLY[event.kind](state, event, event.body)


def _open(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    state.bundle = body["bundle"]
    state.details = body["details"]


def _join(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    known = state.agents.get(body["agent"], AgentRow(name=body["agent"]))
    state.agents[known.name] = msgspec.structs.replace(known, role=body["role"])


def _add_node(state: State, event: Event, body: Mapping[str, Any]) -> None:
    state.nodes[body["node"]] = Node(
        id=body["node"],
        name=body["name"],
        statement=body["statement"],
        statement_hash=body["statement_hash"],
        note=body["note"],
        author=event.actor,
        at_seq=event.seq,
    )


def _add_alternative(state: State, event: Event, body: Mapping[str, Any]) -> None:
    added = Alternative(
        id=body["alternative"],
        parent=body["parent"],
        children=tuple(body["children"]),
        glue=body["glue"],
        author=event.actor,
        at_seq=event.seq,
    )
    state.alternatives[added.id] = added
    parent = state.nodes[added.parent]
    state.nodes[parent.id] = msgspec.structs.replace(parent, alternatives=(*parent.alternatives, added.id))


def _hold(state: State, node: str, agent: str, body: Mapping[str, Any]) -> None:
    state.leases[node, agent] = HeldLease(node=node, agent=agent, fence=body["fence"], approach=body["approach"])
    state.fences[node] = body["fence"]


def _grant(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    _hold(state, body["node"], body["agent"], body)


def _end_lease(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    del state.leases[body["node"], body["agent"]]


def _hand_off(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    del state.leases[body["node"], body["from"]]
    _hold(state, body["node"], body["to"], body)


def _note_attempt(state: State, event: Event, body: Mapping[str, Any]) -> None:
    state.attempts.append(msgspec.convert({**body, "at_seq": event.seq}, Attempt))


def _count_check(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    state.checks += 1
    if known := state.agents.get(body["agent"]):
        state.agents[known.name] = msgspec.structs.replace(known, checks=known.checks + 1)


def _accept_lemma(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    state.lemmas[body["lemma"]] = msgspec.convert({**body, "id": body["lemma"]}, LemmaNote)
    if known := state.agents.get(body["author"]):
        state.agents[known.name] = msgspec.structs.replace(known, lemmas=known.lemmas + 1)


def _close_node(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    node = state.nodes[body["node"]]
    state.nodes[node.id] = msgspec.structs.replace(node, status="closed", lemma=body["lemma"])


def _refute_node(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    _change_node(state, body["node"], status="refuted")
    for name in body["alternatives"]:
        state.alternatives[name] = msgspec.structs.replace(state.alternatives[name], is_dead=True)


def _reopen_node(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    _change_node(state, body["node"], status="open", lemma=None)
    for name in body["alternatives"]:
        state.alternatives[name] = msgspec.structs.replace(state.alternatives[name], is_dead=False)


def _revoke_lemma(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    note = state.lemmas.pop(body["lemma"], None)
    if note and (known := state.agents.get(note.author)):
        state.agents[known.name] = msgspec.structs.replace(known, lemmas=known.lemmas - 1)
    for name in body["alternatives"]:
        state.alternatives[name] = msgspec.structs.replace(state.alternatives[name], is_dead=True)


def _dispute_node(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    _change_node(state, body["node"], status="disputed")


def _revise_node(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    _change_node(state, body["node"], name=body["name"], note=body["note"])


def _change_node(state: State, node: str, **changes: Any) -> None:
    state.nodes[node] = msgspec.structs.replace(state.nodes[node], **changes)


def _hear(_state: State, _event: Event, _body: Mapping[str, Any]) -> None:
    """Feedback is evidence about the episode and changes nothing in it."""


def _send(state: State, event: Event, body: Mapping[str, Any]) -> None:
    fields = {**body, "id": body["message"], "sender": body["from"], "at_seq": event.seq}
    state.messages[body["message"]] = msgspec.convert(fields, Message)


def _close(state: State, _event: Event, body: Mapping[str, Any]) -> None:
    state.status = body["status"]
    state.reason = body["reason"]


_APPLY: Mapping[EventKind, Callable[[State, Event, Mapping[str, Any]], None]] = {
    "episode_opened": _open,
    "agent_joined": _join,
    "node_added": _add_node,
    "alternative_added": _add_alternative,
    "lease_granted": _grant,
    "lease_released": _end_lease,
    "lease_expired": _end_lease,
    "lease_handed_off": _hand_off,
    "attempt_noted": _note_attempt,
    "check_finished": _count_check,
    "lemma_accepted": _accept_lemma,
    "node_closed": _close_node,
    "node_refuted": _refute_node,
    "node_disputed": _dispute_node,
    "node_revised": _revise_node,
    "node_reopened": _reopen_node,
    "lemma_revoked": _revoke_lemma,
    "feedback_given": _hear,
    "message_sent": _send,
    "episode_closed": _close,
}
