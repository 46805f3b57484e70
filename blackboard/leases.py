"""Who works on what: leases with fences, and what came of them."""

from .in_redis import EpisodeStore
from .types import Attempt, Lease


class Leases:
    """Leases and attempts of an episode. Time is the store's clock."""

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
        raise NotImplementedError

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
        raise NotImplementedError

    async def renew(self, episode: str, agent: str, *, ttl_s: float, node: str | None = None) -> list[Lease]:
        """Let the agent's leases, or the one on `node`, last `ttl_s` from now; never shortens one.

        Raises:
            LeaseLost: `node` is given and the agent holds no lease on it.
        """
        raise NotImplementedError

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
        """End a lease and note the attempt.

        Raises:
            StaleFence: somebody else, or a newer lease of this agent, has the node (facts: owner, fence).
            LeaseLost: nobody has it, the agent's lease has ended.
        """
        raise NotImplementedError

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
            UnknownRecipient: nobody has that name (facts: roster).
            LeaseFull: the other agent has as many leases as it may.
            StaleFence, LeaseLost: as in `release`.
        """
        raise NotImplementedError

    async def confirm_fence(self, episode: str, agent: str, node: str, fence: int) -> Lease:
        """Return the lease if it is still the agent's under this fence.

        Raises:
            StaleFence, LeaseLost: as in `release`.
        """
        raise NotImplementedError

    async def leases(self, episode: str, agent: str | None = None) -> list[Lease]:
        """Return the valid leases, of all or of one agent."""
        raise NotImplementedError

    async def attempts(self, episode: str, node: str | None = None, *, limit: int = 20) -> list[Attempt]:
        """Return the last attempts, on `node` or anywhere, oldest first."""
        raise NotImplementedError
