"""The blackboard: everything that agents of an episode share."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Self

from bus.messages import EpisodeState

from .calls import Calls
from .leases import Leases
from .log import Log
from .mail import Mail
from .plan import Plan
from .types import AgentRow, EpisodeMeta, Node, NodeDraft


class Board(Plan, Leases, Mail, Calls, Log):
    """The shared state of all episodes in one store.

    Every change is one atomic script: it is in the log, or it did not happen. Changes take an operation id `op`;
    the same id again returns the first result. Changes to an ended episode raise EpisodeClosed; reads go on.
    Everything raises StorageUnavailable when the store cannot be reached, and UnknownId for an unknown episode.
    """

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncGenerator[Self]:
        """Connect to the store at `url` (unix:///path, redis://host:port/0) for the length of the block."""
        raise NotImplementedError
        yield

    async def open_episode(
        self, episode: str, target: NodeDraft, bundle: str, meta: Mapping[str, object], *, op: str | None = None
    ) -> Node:
        """Start an episode and return its root node, "n0".

        Raises:
            Duplicate: the episode exists.
        """
        raise NotImplementedError

    async def meta(self, episode: str) -> EpisodeMeta:
        """Return the episode at a glance."""
        raise NotImplementedError

    async def join(self, episode: str, agent: str, role: str = "", *, op: str | None = None) -> AgentRow:
        """Add an agent to the team; joining again changes at most its role."""
        raise NotImplementedError

    async def agents(self, episode: str) -> list[AgentRow]:
        """Return the team in the order of joining."""
        raise NotImplementedError

    async def record_check(
        self,
        episode: str,
        agent: str,
        node: str | None,
        accepted: Sequence[str],
        rejected: int,
        undecided: int,
        ms: int,
        *,
        op: str | None = None,
    ) -> None:
        """Record that a check of this agent has finished; `accepted` are stored names."""
        raise NotImplementedError

    async def close_episode(self, episode: str, status: EpisodeState, reason: str = "") -> EpisodeMeta:
        """End the episode and all leases; an ended one stays as it ended."""
        raise NotImplementedError
