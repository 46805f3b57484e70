"""Who works on a problem: `tactician:5` is five agents of one kind."""

import re

import msgspec

from bus.errors import BadArguments

MAX_AGENTS = 64
KINDS = ("tactician",)
_LATER = ("codex", "claude")
_PART = re.compile(r"(?P<kind>[a-z]+)(?::(?P<count>[0-9]{1,3}))?")


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One agent of a team."""

    name: str
    """Unique in the team; what the others call it."""
    kind: str
    """Which client it is."""
    seed: int
    """What its choices depend on; different for every member."""


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
        if kind in _LATER:
            raise BadArguments(f"{kind} agents come later", hint="use tactician:5")
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
