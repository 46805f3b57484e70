"""Policy numbers of an adapter version, with the bounds that no version may leave."""

from typing import Annotated

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=1, le=200)]


class DigestSizes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many entries of each list a digest shows."""

    next: Annotated[int, Meta(ge=1, le=20)]
    frontier: Annotated[int, Meta(ge=1, le=50)]
    lemmas: Annotated[int, Meta(ge=1, le=50)]
    messages: Annotated[int, Meta(ge=1, le=50)]


class ReplySizes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of a list or a text one reply shows; the rest is behind `get` or counted as left out."""

    errors: Annotated[int, Meta(ge=1, le=20)]
    goals: Annotated[int, Meta(ge=1, le=10)]
    attempts: Annotated[int, Meta(ge=1, le=20)]
    missing: Annotated[int, Meta(ge=1, le=50)]
    events: Annotated[int, Meta(ge=1, le=50)]
    error_bytes: Annotated[int, Meta(ge=100, le=2000)]
    goal_bytes: Annotated[int, Meta(ge=100, le=2000)]
    statement_bytes: Annotated[int, Meta(ge=80, le=1000)]


class Rates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often one agent may call."""

    calls_per_s: Annotated[float, Meta(ge=1, le=1000)]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All numbers that coordination depends on. Nothing else in the server knows them."""

    lease_s: Annotated[int, Meta(ge=5, le=3600)]
    """Lifetime of a lease without any call from its holder."""

    lease_max_s: Annotated[int, Meta(ge=5, le=7200)]
    leases_per_agent: Annotated[int, Meta(ge=1, le=20)]
    holders_per_node: Annotated[int, Meta(ge=1, le=20)]
    digest: DigestSizes
    shown: ReplySizes
    delta_bytes: Annotated[int, Meta(ge=200, le=3000)]
    """Size of the news block at the end of a reply."""

    reply_bytes: Annotated[int, Meta(ge=2048, le=8192)]
    wait_max_s: Annotated[float, Meta(ge=1, le=45)]
    find_limit: Annotated[int, Meta(ge=1, le=15)]
    open_parts_max: Count
    """Open nodes at which `plan add` refuses another one."""

    repeat_window_s: Annotated[float, Meta(ge=0, le=600)]
    """How long the same changing call counts as a retry."""

    rates: Rates
    roles: dict[str, list[str]]
    """Team name → roles in the order in which agents join; `default` must be there."""

    portfolio: Annotated[
        list[str],
        Meta(
            description="Techniques that agents which read it may use; to the tactician: simp_all, definitions, newest, half, star (simp sets), rewrite, generalise, explore, conditions."
        ),
    ]

    def role_of(self, index: int) -> str:
        """The role of the agent that joins as number `index` without asking for one."""
        roles = self.roles["default"]
        return roles[index % len(roles)]
