"""Who works on what: leases with fences, and what came of them."""

import msgspec

from .in_redis import EpisodeStore
from .picking import rank
from .plan import Plan
from .types import Attempt, Lease

_LOOKS = 3  # others may take, between the look and the claim, all that was free


class Leases:
    """Leases and attempts of an episode. Time is the store's clock; a lease that has run out ends at the next look."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def claim_next(
        self,
        episode: str,
        agent: str,
        *,
        ttl_s: float,
        approach: str = "",
        per_agent: int,
        per_node: int,
        op: str | None = None,
    ) -> Lease | None:
        """Lease the node that is worth most to this agent, or None when nothing is free.

        Raises:
            LeaseFull: the agent holds as many leases as it may (facts: holders).
            UnknownId: the agent has not joined.
        """
        args = {"agent": agent, "ttl_ms": _ms(ttl_s), "approach": approach}
        args |= {"per_agent": per_agent, "per_node": per_node}
        lease = None
        for _ in range(_LOOKS):
            nodes = rank(await Plan(self._store).frontier(episode, agent), agent, per_node=per_node)
            reply = await self._store.change("claim", episode=episode, op=op, args=args | {"nodes": " ".join(nodes)})
            lease = msgspec.json.decode(reply, type=Lease | None)
            if lease or not nodes:
                break
        return lease

    async def claim(
        self,
        episode: str,
        agent: str,
        *,
        node: str,
        ttl_s: float,
        approach: str = "",
        per_agent: int,
        per_node: int,
        op: str | None = None,
    ) -> Lease:
        """Lease a node, named by id or name. Its holder gets it renewed; with another approach, under a new fence.

        Raises:
            LeaseFull: the node or the agent has as many leases as it may (facts: holders).
            Gone: the node is closed (facts: replacement, the lemma).
            Refuted: the node is known to be false.
            UnknownId: no such node (facts: nearest), or the agent has not joined.
        """
        limits = {"per_agent": per_agent, "per_node": per_node}
        args = {"agent": agent, "node": node, "ttl_ms": _ms(ttl_s), "approach": approach}
        reply = await self._store.change("claim", episode=episode, op=op, args=args | limits)
        return msgspec.json.decode(reply, type=Lease)

    async def renew(self, episode: str, agent: str, *, ttl_s: float, node: str | None = None) -> list[Lease]:
        """Let the agent's leases, or the one on `node`, last `ttl_s` from now; never shortens one.

        An agent without leases gets an empty list, also after the end of the episode.

        Raises:
            LeaseLost: `node` is given and the agent holds no lease on it.
        """
        args = {"agent": agent, "ttl_ms": _ms(ttl_s), "node": node}
        return msgspec.json.decode(await self._store.ask("renew", episode=episode, args=args), type=list[Lease])

    async def release(
        self,
        episode: str,
        agent: str,
        *,
        node: str,
        fence: int | None = None,
        outcome: str = "abandoned",
        note: str = "",
        op: str | None = None,
    ) -> Attempt:
        """End a lease and note the attempt. Without a fence, whatever lease the agent has on the node.

        Raises:
            StaleFence: somebody else, or a newer lease of this agent, has the node (facts: owner, fence).
            LeaseLost: nobody has it, the agent's lease has ended (facts: lemma, when the node is proved).
        """
        args = {"agent": agent, "node": node, "fence": fence, "outcome": outcome, "note": note}
        reply = await self._store.change("release", episode=episode, op=op, args=args)
        return msgspec.json.decode(reply, type=Attempt)

    async def hand_off(
        self,
        episode: str,
        agent: str,
        *,
        node: str,
        to: str,
        ttl_s: float,
        per_agent: int,
        fence: int | None = None,
        note: str = "",
        op: str | None = None,
    ) -> Lease:
        """Give a lease to another agent, under a new fence.

        Raises:
            UnknownRecipient: nobody else has that name (facts: roster).
            LeaseFull: the other agent has as many leases as it may.
            StaleFence, LeaseLost: as in `release`.
        """
        args = {"agent": agent, "node": node, "to": to, "fence": fence, "note": note}
        limits = {"ttl_ms": _ms(ttl_s), "per_agent": per_agent}
        reply = await self._store.change("hand_off", episode=episode, op=op, args=args | limits)
        return msgspec.json.decode(reply, type=Lease)

    async def confirm_fence(self, episode: str, agent: str, node: str, fence: int) -> Lease:
        """Return the lease if it is still the agent's under this fence.

        Raises:
            StaleFence, LeaseLost: as in `release`.
        """
        args = {"agent": agent, "node": node, "fence": fence}
        return msgspec.json.decode(await self._store.ask("confirm_fence", episode=episode, args=args), type=Lease)

    async def leases(self, episode: str, agent: str | None = None) -> list[Lease]:
        """Return the valid leases, of all or of one agent."""
        reply = await self._store.ask("leases", episode=episode, args={"agent": agent})
        return sorted(msgspec.json.decode(reply, type=list[Lease]), key=lambda lease: (lease.node, lease.fence))

    async def attempts(self, episode: str, node: str, *, limit: int = 20) -> list[Attempt]:
        """Return the last attempts on a node, named by id or name, oldest first.

        Raises:
            UnknownId: no such node (facts: nearest).
        """
        (count,) = await self._store.read(episode, ("HGET", "tries", node))
        if count is None:
            node = (await Plan(self._store).node(episode, node)).id
            (count,) = await self._store.read(episode, ("HGET", "tries", node))
        last = int(count or 0)
        fields = [f"{node}#{number}" for number in range(max(1, last - limit + 1), last + 1)]
        if not fields:
            return []
        (rows,) = await self._store.read(episode, ("HMGET", "attempts", *fields))
        return [msgspec.json.decode(row, type=Attempt) for row in rows]


def _ms(seconds: float) -> int:
    return max(0, round(seconds * 1000))
