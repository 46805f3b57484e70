"""What the control methods take and answer, and the events of an episode.

Parameters refuse unknown fields, so that a misspelt one is noticed. Replies accept them, so that an older
program can talk to a newer server.
"""

from typing import Annotated, Any, Literal

import msgspec

EpisodeState = Literal["open", "solved", "refuted", "unsolved", "closed"]
"""open: work goes on. solved: the proof was assembled and checked. refuted: the negation of the target was proved.
unsolved: ended with neither. closed: ended by hand."""

EventKind = Literal[
    "episode_opened",
    "agent_joined",
    "node_added",
    "alternative_added",
    "lease_granted",
    "lease_released",
    "lease_expired",
    "lease_handed_off",
    "attempt_noted",
    "check_finished",
    "lemma_accepted",
    "node_closed",
    "node_refuted",
    "node_disputed",
    "node_revised",
    "node_reopened",
    "lemma_revoked",
    "message_sent",
    "feedback_given",
    "episode_closed",
]

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Seq = Annotated[int, msgspec.Meta(ge=0)]


class ProblemText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A problem as Lean text.

    Attributes:
        name: what people call it.
        source: definitions, then the theorem to prove with `sorry` as its proof.
        theorem: its name; without it the last theorem with `sorry` is meant.
        origin: where the problem comes from.
    """

    name: Name
    source: str
    theorem: str | None = None
    origin: str = ""


class EpisodeCreate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of episode.create.

    Attributes:
        problem: what to prove.
        adapter: id of the adapter version to pin; without it the server's default.
        limits: policy numbers to override for this episode.
        seconds: time after which the episode ends as unsolved; without it never.
    """

    problem: ProblemText
    adapter: str | None = None
    limits: dict[str, Any] = {}
    seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None


class EpisodeCreated(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of episode.create.

    Attributes:
        episode: its id.
        root: id of the plan node that is the theorem.
        statement: the theorem as Lean prints it.
        bundle: id of the pinned adapter version.
    """

    episode: str
    root: str
    statement: str
    bundle: str


class EpisodeRef(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of episode.status."""

    episode: Name


class EpisodeClose(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of episode.close.

    Attributes:
        episode: its id.
        status: the state to end in; a solved episode stays solved.
        reason: for the record.
    """

    episode: Name
    status: EpisodeState = "closed"
    reason: str = ""


class AgentSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent did.

    Attributes:
        name: unique in the episode.
        role: the role it was registered with.
        calls: tool calls.
        checks: Lean checks among them.
        lemmas: accepted lemmas of which it is the first author.
        used: those that the final proof needs.
    """

    name: str
    role: str = ""
    calls: int = 0
    checks: int = 0
    lemmas: int = 0
    used: int = 0


class Credit(msgspec.Struct, frozen=True, kw_only=True):
    """A lemma that the final proof needs.

    Attributes:
        lemma: its id.
        name: its stored name.
        author: the agent who proved it first.
        used_by: stored names of what uses it directly.
    """

    lemma: str
    name: str
    author: str
    used_by: list[str] = []


class EpisodeStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of episode.status and episode.close.

    Attributes:
        episode: its id.
        status: its state.
        statement: the theorem as Lean prints it.
        seconds: from the opening until now or until the end.
        nodes: parts in the plan, the theorem included.
        closed_nodes: proved ones among them.
        lemmas: accepted lemmas.
        checks: Lean checks.
        agents: in the order of joining.
        certificate: path of the certificate on the server's machine, when solved.
        proof: the assembled Lean text, when solved.
        credit: lemmas of the final proof, when solved.
        folder: the episode's folder on the server's machine.
        duplicate_work_min: minutes in which several agents worked on the same part at the same time.
    """

    episode: str
    status: EpisodeState
    statement: str
    seconds: float
    nodes: int = 0
    closed_nodes: int = 0
    lemmas: int = 0
    checks: int = 0
    agents: list[AgentSummary] = []
    certificate: str | None = None
    proof: str | None = None
    credit: list[Credit] = []
    folder: str = ""
    duplicate_work_min: float = 0.0


class AgentRegister(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of agent.register.

    Attributes:
        episode: the episode to join.
        name: what the others call the agent; unique in the episode.
        role: one of the adapter version's roles, or empty.
        client: the program behind it, for the record.
    """

    episode: Name
    name: Name
    role: str = ""
    client: str = ""


class AgentRegistered(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of agent.register.

    Attributes:
        agent: its name.
        url: its MCP endpoint.
        token: its bearer token; a secret.
        role: the role that it has got.
        prompts: what the adapter version tells it: `team`, `role` (when the version knows the role), `instructions`.
        skills: name → text of each skill of the version.
        portfolio: techniques that the version offers to agents that read it.
    """

    agent: str
    url: str
    token: str
    role: str = ""
    prompts: dict[str, str] = {}
    skills: dict[str, str] = {}
    portfolio: list[str] = []


class EventsSubscribe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of events.subscribe.

    Attributes:
        episode: whose events.
        from_seq: number of the last event that the caller has; what comes after it is sent.
        subscription: an id of the caller's choice, unique on its connection; without it the hub chooses.
    """

    episode: Name
    from_seq: Seq = 0
    subscription: Name | None = None


class EventsUnsubscribe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of events.unsubscribe."""

    subscription: Name


class Subscribed(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of events.subscribe and events.unsubscribe."""

    subscription: str


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened in an episode.

    Attributes:
        episode: its id.
        seq: 1, 2, 3 … without holes in an episode.
        kind: what happened.
        actor: the agent who caused it, or "server".
        at_ms: Unix time by the store's clock.
        body: facts, by kind.
    """

    episode: str
    seq: int
    kind: EventKind
    actor: str
    at_ms: int
    body: dict[str, Any] = {}


class EventNotice(Event, frozen=True, kw_only=True):
    """Parameters of the notification `event`: the event and the subscription that it is sent for."""

    subscription: str = ""


class EventsGap(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of the notification `events.gap`: the subscription has ended before all was sent.

    Attributes:
        episode: its id.
        resume_from: `from_seq` for the next events.subscribe.
        subscription: the one that has ended.
    """

    episode: str
    resume_from: int
    subscription: str = ""


class EventsEnd(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of the notification `events.end`: the subscription has ended, all was sent, nothing will follow.

    Attributes:
        episode: its id.
        subscription: the one that has ended.
    """

    episode: str
    subscription: str = ""
