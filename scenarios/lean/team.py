"""Who works on a problem: `tactician:5` is five agents of one kind."""

import re
from collections.abc import Sequence

import msgspec

from bus.errors import BadArguments
from bus.messages import AgentRegistered
from clients.agent_spec import AgentSpec, Budget

MAX_AGENTS = 64
KINDS = ("tactician", "codex", "claude")
_PART = re.compile(r"(?P<kind>[a-z]+)(?::(?P<count>[0-9]{1,3}))?")


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One agent of a team."""

    name: str
    """Unique in the team; what the others call it."""
    kind: str
    """Which client it is."""
    seed: int
    """What its choices depend on; different for every member."""


class Hosting(msgspec.Struct, frozen=True, kw_only=True):
    """How agents that are played by a model are set up."""

    models: dict[str, str] = {}
    """Kind → model; a kind that is not named gets its host's own choice."""
    reasoning: dict[str, str] = {}
    """Kind → how long it thinks, in the host's words."""
    budget: Budget = Budget()
    """What each of them may spend."""


def parse_by_kind(given: Sequence[str], *, option: str) -> dict[str, str]:
    """Kind → value of `VALUE`, meant for every kind, and `KIND=VALUE`.

    Raises:
        BadArguments: an unknown kind, or no value.
    """
    values: dict[str, str] = {}
    for text in given:
        kind, equals, value = text.partition("=")
        named = {kind: value} if equals else dict.fromkeys(KINDS, text)
        if not all(named.values()) or not named.keys() <= set(KINDS):
            raise BadArguments(f"{option} {text!r} is not of the form VALUE or KIND=VALUE, for example codex=gpt-6")
        values |= named
    return values


def parse_team(text: str, *, seed: int = 0) -> tuple[Member, ...]:
    """The members that `KIND:COUNT[,KIND:COUNT…]` names.

    Raises:
        BadArguments: not of this form, an unknown kind, nobody, or more than 64 agents.
    """
    members: list[Member] = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise BadArguments(f"the team {text!r} is not of the form KIND:COUNT, for example tactician:5")
        kind, count = match["kind"], int(match["count"] or "1")
        if kind not in KINDS:
            raise BadArguments(f"there is no agent of kind {kind}", hint=f"kinds are {', '.join(KINDS)}")
        if len(members) + count > MAX_AGENTS:
            raise BadArguments(f"a team has at most {MAX_AGENTS} agents")
        first = sum(member.kind == kind for member in members) + 1
        members += [
            Member(name=f"{kind}-{number}", kind=kind, seed=seed * MAX_AGENTS + len(members) + number - first)
            for number in range(first, first + count)
        ]
    if not members:
        raise BadArguments("a team needs at least one agent")
    return tuple(members)


def has_tacticians(team: str) -> bool:
    """Whether agents of a team come from a nursery."""
    return any(member.kind == "tactician" for member in parse_team(team))


def agent_spec(
    member: Member, answer: AgentRegistered, hosting: Hosting, *, is_sharing: bool = True, is_alone: bool = False
) -> AgentSpec:
    """What a member that has joined needs to work."""
    return AgentSpec(
        name=member.name,
        url=answer.url,
        token=answer.token,
        role=answer.role,
        seed=member.seed,
        kind=member.kind,
        prompts=answer.prompts,
        skills=answer.skills,
        portfolio=tuple(answer.portfolio),
        is_sharing=is_sharing,
        is_alone=is_alone,
        model=hosting.models.get(member.kind),
        reasoning=hosting.reasoning.get(member.kind),
        budget=hosting.budget,
    )
