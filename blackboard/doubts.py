"""Nodes that are false, or said to be, and lemmas that are not believed any more."""

from collections.abc import Sequence

import msgspec

from .in_redis import EpisodeStore


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """What a refutation or a dispute did to the plan.

    Attributes:
        node: the node that is refuted or disputed.
        alternatives: ids of those that need it; a refutation ends them.
        parents: ids of the nodes that they would have closed; a dispute names none.
    """

    node: str
    alternatives: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()


class Refutation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a node is false.

    Attributes:
        node: the node.
        lemma: id of the lemma that states its negation.
        witness: values at which it fails, when somebody named them.
        author: who refuted it.
        at_seq: number of the event that refuted it.
    """

    node: str
    lemma: str
    witness: str
    author: str
    at_seq: int


class Doubts:
    """Refutations, which the kernel has checked, disputes, which are words, and lemmas taken back."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def refute(
        self, episode: str, actor: str, *, node: str, lemma: str, witness: str = "", op: str | None = None
    ) -> Doubt:
        """Mark a node as false on the strength of `lemma`, which states its negation; leases on it end.

        Doing it again changes nothing and answers the same.

        Raises:
            Gone: the node is proved (facts: replacement).
            UnknownId: no such node (facts: nearest).
        """
        args = {"actor": actor, "node": node, "lemma": lemma, "witness": witness}
        return msgspec.json.decode(await self._store.change("refute", episode=episode, op=op, args=args), type=Doubt)

    async def refutations(self, episode: str) -> list[Refutation]:
        """Return what is known to be false, oldest first."""
        (rows,) = await self._store.read(episode, ("HVALS", "refutations"))
        return refutations_of(rows)

    async def withdraw(
        self, episode: str, actor: str, *, lemmas: Sequence[str], reason: str, op: str | None = None
    ) -> list[str]:
        """Take lemmas back: what they closed or refuted is open again, alternatives whose glue they are have ended.

        Returns the ids of the nodes that are open again.
        """
        if not lemmas:
            return []
        args = {"actor": actor, "lemmas": lemmas, "reason": reason}
        return msgspec.json.decode(
            await self._store.change("withdraw", episode=episode, op=op, args=args), type=list[str]
        )

    async def dispute(
        self, episode: str, actor: str, *, node: str, text: str, repair: str = "", op: str | None = None
    ) -> Doubt:
        """Mark an open node as doubted by argument; it may still be worked on.

        Raises:
            Gone: the node is proved (facts: replacement).
            Refuted: it is known to be false.
            UnknownId: no such node (facts: nearest).
        """
        args = {"actor": actor, "node": node, "text": text, "repair": repair}
        return msgspec.json.decode(await self._store.change("dispute", episode=episode, op=op, args=args), type=Doubt)


def refutations_of(rows: Sequence[bytes]) -> list[Refutation]:
    """Return what is known to be false, oldest first, from the stored values."""
    return sorted((msgspec.json.decode(row, type=Refutation) for row in rows), key=lambda one: one.at_seq)
