"""The AND/OR graph of parts and the lemmas that close them."""

from .in_redis import EpisodeStore
from .types import Alternative, Candidate, LemmaNote, Node, NodeDraft, Recorded


class Plan:
    """Nodes, alternatives and accepted lemmas of an episode."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def add_node(
        self, episode: str, actor: str, draft: NodeDraft, *, open_parts_max: int | None = None, op: str | None = None
    ) -> Node:
        """Add a part; one whose statement is proved already comes back closed.

        Raises:
            Duplicate: an open, disputed or closed node has the statement (facts: id, name, status).
            Refuted: the statement is known to be false.
            TooLarge: as many parts are open as `open_parts_max` allows (facts: cap).
            EpisodeClosed: the episode has ended.
        """
        raise NotImplementedError

    async def add_alternative(
        self, episode: str, actor: str, *, parent: str, children: tuple[str, ...], glue: str, op: str | None = None
    ) -> Alternative:
        """Add a way to prove `parent`; ask `ready_alternatives` whether it is complete at once.

        Raises:
            Cyclic: a child needs the parent already (facts: path).
            UnknownId: no such node (facts: nearest).
            Duplicate: the parent has this set of children already (facts: id).
            Gone: the parent is closed (facts: replacement).
        """
        raise NotImplementedError

    async def record_lemma(self, episode: str, actor: str, note: LemmaNote, *, op: str | None = None) -> Recorded:
        """Record an accepted lemma and close the open nodes that it proves; their leases end.

        Doing it again closes nothing more and answers what the first time closed and what is ready now.
        """
        raise NotImplementedError

    async def nodes(self, episode: str) -> list[Node]:
        """Return all nodes, oldest first."""
        raise NotImplementedError

    async def node(self, episode: str, id_or_name: str) -> Node:
        """Return one node.

        Raises:
            UnknownId: nothing has the id or name (facts: nearest).
        """
        raise NotImplementedError

    async def frontier(self, episode: str, *, agent: str = "", limit: int = 200) -> list[Candidate]:
        """Return the open nodes nearest to the theorem, as `agent` sees them."""
        raise NotImplementedError

    async def alternatives(self, episode: str) -> list[Alternative]:
        """Return all alternatives, oldest first."""
        raise NotImplementedError

    async def ready_alternatives(self, episode: str) -> list[Alternative]:
        """Return those whose children are all closed while the parent is open."""
        raise NotImplementedError

    async def lemmas(self, episode: str) -> list[LemmaNote]:
        """Return the accepted lemmas, oldest first."""
        raise NotImplementedError
