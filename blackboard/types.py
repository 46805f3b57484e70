"""What the blackboard takes and hands out."""

from typing import Any, Literal

import msgspec

from bus.messages import EpisodeState, Event

NodeStatus = Literal["open", "closed", "refuted", "disputed"]
"""open: to be proved. closed: proved. refuted: proved false. disputed: doubted by argument, may still be worked on."""


class NodeDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A part that somebody wants in the plan.

    Attributes:
        name: what the author calls it; a number is appended when another part has the name.
        statement: what has to be proved, as Lean prints it.
        statement_hash: equal for two statements exactly when they count as the same.
        order_free_hash: the same for statements that differ in the order of independent hypotheses; may be empty.
        note: the author's words on it.
    """

    name: str
    statement: str
    statement_hash: str
    order_free_hash: str = ""
    note: str = ""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the plan.

    Attributes:
        id: "n0" is the theorem itself, then "n1", "n2" …
        name: unique in the episode.
        statement: what has to be proved, as Lean prints it.
        statement_hash: equal for two statements exactly when they count as the same.
        note: the author's words on it.
        author: who added it.
        at_seq: number of the event that added it.
        status: whether it is proved.
        lemma: id of the lemma that closed it.
        alternatives: ids of the ways to split it, oldest first.
    """

    id: str
    name: str
    statement: str
    statement_hash: str
    note: str = ""
    author: str
    at_seq: int
    status: NodeStatus = "open"
    lemma: str | None = None
    alternatives: tuple[str, ...] = ()


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """One way to prove a node from others: all children, and glue that the kernel accepted.

    Attributes:
        id: "a1", "a2" …
        parent: the node that it would close.
        children: the nodes that it needs.
        glue: id of the lemma that derives the parent from the children.
        author: who added it.
        at_seq: number of the event that added it.
        is_dead: whether a child is refuted, so that it can never close its parent.
    """

    id: str
    parent: str
    children: tuple[str, ...]
    glue: str
    author: str
    at_seq: int
    is_dead: bool = False


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to work on a node for a while.

    Attributes:
        node: what is worked on.
        agent: who works on it.
        fence: grows with every grant on the node; a result names it.
        expires_at_ms: Unix time by the store's clock.
        approach: what the agent said it would try.
    """

    node: str
    agent: str
    fence: int
    expires_at_ms: int
    approach: str = ""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a lease.

    Attributes:
        node: what was worked on.
        agent: who did.
        approach: what the agent said it would try.
        outcome: the agent's word for it, or "expired", or "handed_off".
        note: the agent's words on it.
        at_seq: number of the event that noted it.
    """

    node: str
    agent: str
    approach: str
    outcome: str
    note: str
    at_seq: int


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """Words from one agent to others.

    Attributes:
        id: "m1", "m2" …
        type: what kind of message it is.
        sender: who said it.
        to: who is meant; empty means everyone.
        text: the words.
        ref: id of what it is about or answers.
        needs_ack: whether the sender wants an answer.
        at_seq: number of the event that sent it.
    """

    id: str
    type: str
    sender: str
    to: tuple[str, ...]
    text: str
    ref: str | None
    needs_ack: bool
    at_seq: int


class LemmaNote(msgspec.Struct, frozen=True, kw_only=True):
    """An accepted lemma, as much as the plan needs to know of it.

    Attributes:
        id: its id in the lemma store.
        name: its stored name.
        statement: what it says, as Lean prints it.
        statement_hash: equal for two statements exactly when they count as the same.
        author: who proved it first.
        uses: ids of the lemmas that its proof needs.
    """

    id: str
    name: str
    statement: str
    statement_hash: str
    author: str
    uses: tuple[str, ...] = ()


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What a lemma did to the plan.

    Attributes:
        closed: ids of the nodes that it closed.
        ready: ids of the alternatives that now have all their children, while the parent is open.
    """

    closed: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()


class Same(msgspec.Struct, frozen=True, kw_only=True):
    """Who has a statement already.

    Attributes:
        node: id of the node with it, whatever its status.
        lemma: id of the first lemma with it.
    """

    node: str | None = None
    lemma: str | None = None


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of the episode and what it did so far.

    Attributes:
        name: unique in the episode.
        role: the role it joined with.
        calls: tool calls begun.
        checks: Lean checks among them.
        lemmas: accepted lemmas of which it is the first author.
    """

    name: str
    role: str = ""
    calls: int = 0
    checks: int = 0
    lemmas: int = 0


class EpisodeMeta(msgspec.Struct, frozen=True, kw_only=True):
    """An episode at a glance.

    Attributes:
        episode: its id.
        status: whether work goes on, and how it ended.
        reason: why it ended.
        bundle: id of the pinned adapter version.
        root: id of the node that is the theorem.
        seq: number of the last event.
        opened_at_ms: Unix time by the store's clock.
        closed_at_ms: the same for the end.
        nodes: parts in the plan.
        closed_nodes: those that are proved.
        lemmas: accepted lemmas.
        checks: Lean checks.
        messages: messages sent.
        details: what was given when the episode was opened.
    """

    episode: str
    status: EpisodeState
    reason: str = ""
    bundle: str
    root: str
    seq: int
    opened_at_ms: int
    closed_at_ms: int | None = None
    nodes: int = 0
    closed_nodes: int = 0
    lemmas: int = 0
    checks: int = 0
    messages: int = 0
    details: dict[str, Any] = {}


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """An open node as somebody sees it who looks for work.

    Attributes:
        node: the node.
        depth: steps from the theorem; large when nothing connects them.
        parents: ids of the open nodes that some alternative would close with its help.
        is_linked: whether any alternative needs it, of an open node or not.
        holders: who works on it.
        approaches: what they said they would try, in the same order.
        attempts: how often anybody gave up on it.
        own_attempts: how often the asking agent did.
    """

    node: Node
    depth: int
    parents: tuple[str, ...] = ()
    is_linked: bool = False
    holders: tuple[str, ...] = ()
    approaches: tuple[str, ...] = ()
    attempts: int = 0
    own_attempts: int = 0


class CallToken(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that has begun and not ended.

    Attributes:
        episode, agent: where, and who calls.
        call: unique per call.
        status: state of the episode when the call began.
        committed: number of the last event that the agent is known to have received.
        shown: number of the last event that a reply to the agent contained, received or not.
        seq, head: number and hash of the last event when the call began.
    """

    episode: str
    agent: str
    call: str
    status: EpisodeState
    committed: int
    shown: int
    seq: int = 0
    head: str = ""


class DeltaPage(msgspec.Struct, frozen=True, kw_only=True):
    """What a reply tells the agent about the others.

    Attributes:
        events: in order, within the byte budget.
        repeated: numbers of those that an earlier reply contained already.
        up_to: number of the last event that this page settles.
        left_out: events that wait for the next reply; a lower bound when the log is long.
    """

    events: tuple[Event, ...] = ()
    repeated: frozenset[int] = frozenset()
    up_to: int = 0
    left_out: int = 0
