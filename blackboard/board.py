"""The blackboard: everything that agents of an episode share."""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Self

import msgspec

from bus.errors import BadArguments
from bus.messages import EpisodeState

from .archive import Archives
from .calls import Calls
from .doubts import Doubts
from .in_redis import EpisodeStore
from .jobs import JobRecords
from .leases import Leases
from .log import Log
from .mail import Mail
from .overview import Overviews, meta_of
from .plan import Plan
from .types import AgentRow, EpisodeMeta, Node, NodeDraft

_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class Board(Plan, Doubts, Leases, Mail, Overviews, Calls, Log, JobRecords, Archives):
    """The shared state of all episodes in one store.

    Every change is one atomic script: it is in the log, or it did not happen. Changes take an operation id `op`;
    the same id again returns the first result. Changes to an ended episode raise EpisodeClosed; reads go on.
    Everything raises StorageUnavailable when the store cannot be reached, and UnknownId for an unknown episode.
    """

    def __init__(self, store: EpisodeStore) -> None:
        Plan.__init__(self, store)
        Doubts.__init__(self, store)
        Leases.__init__(self, store)
        Mail.__init__(self, store)
        Overviews.__init__(self, store)
        Calls.__init__(self, store)
        Log.__init__(self, store)
        JobRecords.__init__(self, store)
        Archives.__init__(self, store)

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncGenerator[Self]:
        """Use the store at `url` (unix:///path, redis://host:port/0) for the length of the block.

        Connections are made when they are needed: a store that is away shows at the first call.
        """
        async with EpisodeStore.open(url) as store:
            yield cls(store)

    async def ping(self) -> None:
        """Return when the store answers."""
        await self._store.ping()

    async def open_episode(
        self, episode: str, target: NodeDraft, bundle: str, meta: Mapping[str, object], *, op: str | None = None
    ) -> Node:
        """Start an episode and return its root node, "n0".

        Raises:
            Duplicate: the episode exists.
            BadArguments: the id is not made of letters, digits, "_", "." and "-".
        """
        args = {"target": target, "bundle": bundle, "details": msgspec.json.encode(meta).decode()}
        return msgspec.json.decode(
            await self._store.change("open_episode", episode=episode, op=op, args=args), type=Node
        )

    async def meta(self, episode: str) -> EpisodeMeta:
        """Return the episode at a glance."""
        (fields,) = await self._store.read(episode, ("HGETALL", "meta"))
        return meta_of(episode, fields)

    async def join(self, episode: str, agent: str, role: str = "", *, op: str | None = None) -> AgentRow:
        """Add an agent to the team; joining again changes at most its role.

        News begins with what happens after the joining.

        Raises:
            BadArguments: the name is not made of letters, digits, "_", "." and "-", or it is "server".
        """
        if not _AGENT.fullmatch(agent) or agent == "server":
            raise BadArguments(f"{agent!r} cannot be an agent's name", hint="take letters, digits, _, . and -")
        reply = await self._store.change("join", episode=episode, op=op, args={"agent": agent, "role": role})
        return msgspec.json.decode(reply, type=AgentRow)

    async def agents(self, episode: str) -> list[AgentRow]:
        """Return the team in the order of joining."""
        rows, counts = await self._store.read(episode, ("HVALS", "agents"), ("HGETALL", "counts"))
        members = sorted((msgspec.json.decode(row) for row in rows), key=lambda member: member["at_seq"])
        return [_agent_row(member["name"], member["role"], counts) for member in members]

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
        job: str | None = None,
        op: str | None = None,
    ) -> None:
        """Record that a check of this agent has finished; `accepted` are stored names.

        `job` names a check that outlived its call: its author has news of it then.
        """
        counts = {"rejected": rejected, "undecided": undecided, "ms": ms}
        args = {"agent": agent, "node": node, "accepted": tuple(accepted), "job": job} | counts
        await self._store.change("record_check", episode=episode, op=op, args=args)

    async def record_feedback(
        self, episode: str, agent: str, text: str, *, about: str | None = None, op: str | None = None
    ) -> int:
        """Record what an agent has to say about its work, for operators only; returns the number of the event."""
        args = {"agent": agent, "text": text, "about": about}
        return int(await self._store.change("record_feedback", episode=episode, op=op, args=args))

    async def close_episode(self, episode: str, status: EpisodeState, reason: str = "") -> EpisodeMeta:
        """End the episode and all leases; an ended one stays as it ended.

        Raises:
            BadArguments: the status is "open".
        """
        if status == "open":
            raise BadArguments("an episode cannot end as open", hint="solved, unsolved or closed")
        await self._store.ask("close_episode", episode=episode, args={"status": status, "reason": reason})
        return await self.meta(episode)


def _agent_row(name: str, role: str, counts: Mapping[bytes, bytes]) -> AgentRow:
    calls, checks, lemmas = (int(counts.get(f"{name}|{what}".encode(), 0)) for what in ("calls", "checks", "lemmas"))
    return AgentRow(name=name, role=role, calls=calls, checks=checks, lemmas=lemmas)
