"""Policy numbers of an adapter version, with the bounds that no version may leave."""

from typing import Annotated

import msgspec
from msgspec import Meta


class DigestSizes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many entries of each list a digest shows."""

    next: Annotated[int, Meta(ge=1, le=20, description="Next best actions that a digest names.")]
    frontier: Annotated[int, Meta(ge=1, le=50, description="Open parts that a digest lists.")]
    lemmas: Annotated[int, Meta(ge=1, le=50, description="Lemmas that a digest lists.")]
    messages: Annotated[int, Meta(ge=1, le=50, description="Messages that a digest shows.")]


class ReplySizes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of a list or a text one reply shows; the rest is behind `get` or counted as left out."""

    errors: Annotated[int, Meta(ge=1, le=20, description="Lean errors that the reply of a failed check shows.")]
    goals: Annotated[int, Meta(ge=1, le=10, description="Unsolved goals that the reply of a failed check shows.")]
    attempts: Annotated[int, Meta(ge=1, le=20, description="Earlier attempts on a part that claim shows.")]
    missing: Annotated[int, Meta(ge=1, le=50, description="Open parts that submit names as missing.")]
    events: Annotated[int, Meta(ge=1, le=50, description="Events that one reply of wait shows.")]
    error_bytes: Annotated[int, Meta(ge=100, le=2000, description="Length of a shown Lean error.")]
    goal_bytes: Annotated[int, Meta(ge=100, le=2000, description="Length of a shown goal.")]
    statement_bytes: Annotated[
        int, Meta(ge=80, le=1000, description="Length of a statement in lists; the whole one is behind get.")
    ]


class Rates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often one agent may call."""

    calls_per_s: Annotated[
        float, Meta(ge=1, le=1000, description="Calls per second and agent before the server answers rate_limited.")
    ]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All numbers that coordination depends on. Nothing else in the server knows them."""

    lease_s: Annotated[
        int,
        Meta(
            ge=5,
            le=3600,
            description="Seconds that a lease outlives its holder's last call: long lets agents think.",
        ),
    ]
    lease_max_s: Annotated[int, Meta(ge=5, le=7200, description="Longest lease that an agent may ask for.")]
    leases_per_agent: Annotated[int, Meta(ge=1, le=20, description="Parts that one agent may hold at a time.")]
    holders_per_node: Annotated[
        int,
        Meta(
            ge=1,
            le=20,
            description="Agents that may work on the same part at a time: more is racing, less is no duplicate work.",
        ),
    ]
    digest: DigestSizes
    shown: ReplySizes
    delta_bytes: Annotated[int, Meta(ge=200, le=3000, description="Size of the news block at the end of a reply.")]
    reply_bytes: Annotated[int, Meta(ge=2048, le=8192, description="Size of a whole reply.")]
    wait_max_s: Annotated[float, Meta(ge=1, le=45, description="Longest time that one wait may block.")]
    find_limit: Annotated[int, Meta(ge=1, le=15, description="Hits that a search returns at most.")]
    open_parts_max: Annotated[int, Meta(ge=1, le=200, description="Open parts at which plan refuses another one.")]
    repeat_window_s: Annotated[
        float, Meta(ge=0, le=600, description="How long the same changing call counts as a retry.")
    ]
    rates: Rates
    roles: Annotated[
        dict[str, list[str]],
        Meta(description="Team name → roles in the order in which agents join; the team `default` must be there."),
    ]
    portfolio: Annotated[
        list[str],
        Meta(
            description="Techniques for agents that read it, in any order; to the tactician: simp_all, definitions, "
            "newest, half, star (simp sets), rewrite, generalise, explore, conditions."
        ),
    ]

    def role_of(self, index: int) -> str:
        """The role of the agent that joins as number `index` without asking for one."""
        roles = self.roles["default"]
        return roles[index % len(roles)]
