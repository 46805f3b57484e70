"""The AND/OR graph of parts and the lemmas that close them."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from bus.errors import BadArguments

from .frontier import FRONTIER_MAX, candidates, first_look, openings, second_look
from .in_redis import EpisodeStore
from .nodes import ROOT, fixed_part, node_columns, node_of
from .types import Alternative, Candidate, LemmaNote, Node, NodeDraft, Recorded, Same

_NODE_ID = re.compile(r"n\d+")
_EPISODES_KEPT = 8


class _Text(NamedTuple):
    """What a node says, in lower case. Those that say least come first."""

    size: int
    node: str
    text: str


class _Texts:
    """What the nodes of an episode say, in order, as of so many revisions."""

    def __init__(self, *, revisions: int = 0) -> None:
        self.revisions = revisions
        self.rows: list[_Text] = []

    def add(self, nodes: Iterable[Node]) -> None:
        """Add what more nodes say."""
        texts = [(node.id, f"{node.id} {node.name} {node.statement} {node.note}".lower()) for node in nodes]
        self.rows = sorted([*self.rows, *(_Text(len(text), node, text) for node, text in texts)])


class Plan:
    """Nodes, alternatives and accepted lemmas of an episode."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store
        self._texts: dict[str, _Texts] = {}

    async def add_node(
        self, episode: str, actor: str, draft: NodeDraft, *, open_parts_max: int | None = None, op: str | None = None
    ) -> Node:
        """Add a part; one whose statement is proved already comes back closed.

        Raises:
            Duplicate: an open, disputed or closed node has the statement (facts: id, name, status, lemma).
            Refuted: the statement is known to be false.
            TooLarge: as many parts are open as `open_parts_max` allows (facts: cap).
            BadArguments: the name looks like a node's id.
            EpisodeClosed: the episode has ended.
        """
        _refuse_id(draft.name)
        args = {"actor": actor, "draft": draft, "open_parts_max": open_parts_max}
        return msgspec.json.decode(await self._store.change("add_node", episode=episode, op=op, args=args), type=Node)

    async def add_alternative(
        self, episode: str, actor: str, *, parent: str, children: Sequence[str], glue: str, op: str | None = None
    ) -> Alternative:
        """Add a way to prove `parent`; ask `ready_alternatives` whether it is complete at once.

        Raises:
            Cyclic: a child needs the parent already (facts: path).
            UnknownId: no such node (facts: nearest).
            Duplicate: the parent has this set of children already (facts: id).
            Gone: the parent is closed (facts: replacement).
            BadArguments: there are no children.
        """
        if not children:
            raise BadArguments("an alternative needs children", hint="a proof without them is a lemma")
        args = {"actor": actor, "parent": parent, "children": children, "glue": glue}
        reply = await self._store.change("add_alternative", episode=episode, op=op, args=args)
        return msgspec.json.decode(reply, type=Alternative)

    async def record_lemma(self, episode: str, actor: str, note: LemmaNote, *, op: str | None = None) -> Recorded:
        """Record an accepted lemma and close the open node that it proves; leases on it end.

        Doing it again closes nothing more and answers what the first time closed and what is ready now.
        """
        args = {"actor": actor, "note": note}
        reply = await self._store.change("record_lemma", episode=episode, op=op, args=args)
        return msgspec.json.decode(reply, type=Recorded)

    async def revise(
        self,
        episode: str,
        actor: str,
        *,
        node: str,
        name: str | None = None,
        note: str | None = None,
        op: str | None = None,
    ) -> Node:
        """Give an unsettled node another name or note; what it states never changes.

        Raises:
            BadArguments: somebody else added the node, or the name looks like a node's id.
            Gone: the node is closed or refuted.
            UnknownId: no such node (facts: nearest).
        """
        if name is not None:
            _refuse_id(name)
        args = {"actor": actor, "node": node, "name": name, "note": note}
        return msgspec.json.decode(await self._store.change("revise", episode=episode, op=op, args=args), type=Node)

    async def nodes(self, episode: str) -> list[Node]:
        """Return all nodes, oldest first."""
        names = ("nodes", "status", "closed_by", "down")
        fixed, status, closed_by, down = await self._store.read(episode, *(("HGETALL", name) for name in names))
        found = [node_of(fixed[name], status[name], closed_by.get(name), down.get(name)) for name in fixed]
        return sorted(found, key=lambda node: node.at_seq)

    async def nodes_with(self, episode: str, words: Sequence[str], *, limit: int) -> tuple[list[Node], int]:
        """Return nodes that contain all of the lower-case words, those that say least first, and how many there are.

        When none does, those that contain most of them count, if that is half or more.

        Cheap with thousands of nodes: what they say is kept here, and read again only when nodes were added or revised.
        """
        rows = await self._texts_of(episode)
        found = rows
        for word in words:
            found = [row for row in found if word in row.text]
        found = found or _with_most(rows, words)
        return await self.nodes_by_id(episode, [row.node for row in found[:limit]]), len(found)

    async def nodes_by_id(self, episode: str, ids: Sequence[str]) -> list[Node]:
        """Return nodes in the order of the ids, all of which exist."""
        return list(map(node_of, *await self._store.read(episode, *node_columns(ids))))

    async def target(self, episode: str) -> Node:
        """Return the node that is the theorem."""
        (found,) = await self.nodes_by_id(episode, [ROOT])
        return found

    async def _texts_of(self, episode: str) -> list[_Text]:
        known = self._texts.setdefault(episode, _Texts())
        (found,) = await self._store.read(episode, ("HMGET", "meta", "nodes", "revisions"))
        nodes, revisions = (int(number or 0) for number in found)
        if revisions != known.revisions:
            known = self._texts[episode] = _Texts(revisions=revisions)
        first = len(known.rows)
        missing = [f"n{number}" for number in range(first, nodes)]
        if missing:
            (rows,) = await self._store.read(episode, ("HMGET", "nodes", *missing))
            known.add(map(fixed_part, rows[len(known.rows) - first :]))  # another call may have added some meanwhile
            while len(self._texts) > _EPISODES_KEPT:
                del self._texts[next(iter(self._texts))]
        return known.rows

    async def node(self, episode: str, id_or_name: str) -> Node:
        """Return one node.

        Raises:
            UnknownId: nothing has the id or name (facts: nearest).
        """
        reply = await self._store.ask("node", episode=episode, args={"node": id_or_name})
        return msgspec.json.decode(reply, type=Node)

    async def frontier(self, episode: str, agent: str = "", *, limit: int = FRONTIER_MAX) -> list[Candidate]:
        """Return the open nodes nearest to the theorem, then oldest, as `agent` sees them."""
        found = openings(*await self._store.read(episode, *first_look(limit)))
        return candidates(found, await self._store.read(episode, *second_look(found, agent)))

    async def same_statement(self, episode: str, statement_hash: str) -> Same:
        """Tell which node and which lemma have the statement, if any."""
        lookups = [("HGET", name, statement_hash) for name in ("statements", "proofs")]
        node, lemma = await self._store.read(episode, *lookups)
        return Same(node=node and node.decode(), lemma=lemma and lemma.decode())

    async def reordered(self, episode: str, order_free_hash: str) -> Node | None:
        """Return the first node that says the same with its hypotheses in any order."""
        if not order_free_hash:
            return None
        (found,) = await self._store.read(episode, ("HGET", "statements", f"any order {order_free_hash}"))
        return None if found is None else await self.node(episode, found.decode())

    async def alternatives(self, episode: str) -> list[Alternative]:
        """Return all alternatives, oldest first."""
        (rows,) = await self._store.read(episode, ("HVALS", "alternatives"))
        return sorted(_alternatives(rows), key=lambda alternative: alternative.at_seq)

    async def ready_alternatives(self, episode: str) -> list[Alternative]:
        """Return those whose children are all closed while the parent is open, oldest first."""
        (ready,) = await self._store.read(episode, ("SMEMBERS", "ready"))
        if not ready:
            return []
        (rows,) = await self._store.read(episode, ("HMGET", "alternatives", *ready))
        return sorted(_alternatives(rows), key=lambda alternative: alternative.at_seq)

    async def lemmas(self, episode: str, *, limit: int | None = None) -> list[LemmaNote]:
        """Return the accepted lemmas, or the last ones, oldest first."""
        (ids,) = await self._store.read(episode, ("LRANGE", "lemma_order", -(limit or 0), -1))
        if not ids:
            return []
        (rows,) = await self._store.read(episode, ("HMGET", "lemmas", *ids))
        return [msgspec.json.decode(row, type=LemmaNote) for row in rows]


def _with_most(rows: Sequence[_Text], words: Sequence[str]) -> list[_Text]:
    """Those that lack fewest of the words, and no more than half; none when there is one word."""
    counted = [(sum(word not in row.text for word in words), row) for row in rows]
    fewest = min((missing for missing, _ in counted), default=0)
    return [row for missing, row in counted if missing == fewest <= len(words) // 2] if len(words) > 1 else []


def _refuse_id(name: str) -> None:
    if not name or _NODE_ID.fullmatch(name):
        raise BadArguments(f"{name!r} cannot be a part's name", hint="take a word that says what it is about")


def _alternatives(rows: Sequence[bytes]) -> list[Alternative]:
    return [msgspec.json.decode(row, type=Alternative) for row in rows]
