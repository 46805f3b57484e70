"""Who calls: known from the connection, never from arguments."""

import msgspec

from adapter_server.bundle import Bundle
from adapter_server.policy import Policy


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """An agent in an episode, with the adapter version that was pinned when the episode opened."""

    episode: str
    agent: str
    role: str
    version: Bundle

    policy: Policy
    """The version's policy with the limits that this episode overrides."""

    seen_seq: int = 0
    """Number of the last event that a reply to this agent contained."""

    op: str | None = None
    """Names this call for the board when the caller gave it a key: the board does it once, also across a restart."""
