"""The AND/OR graph of parts and the lemmas that close them."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from bus.errors import BadArguments

from .in_redis import EpisodeStore
from .types import Alternative, Candidate, Lease, LemmaNote, Node, NodeDraft, Recorded, Same

_NODE_ID = re.compile(r"n\d+")
_EPISODES_KEPT = 8


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
        found = [_node(fixed[name], status[name], closed_by.get(name), down.get(name)) for name in fixed]
        return sorted(found, key=lambda node: node.at_seq)

    async def nodes_with(self, episode: str, words: Sequence[str], *, limit: int) -> tuple[list[Node], int]:
        """Return the oldest nodes that contain all of the lower-case words, and how many there are.

        Cheap with thousands of nodes: what they say is kept here, and read again only when nodes were added or revised.
        """
        texts = await self._texts_of(episode)
        ids = [node for node, text in texts.items() if all(word in text for word in words)]
        return await self.nodes_by_id(episode, ids[:limit]), len(ids)

    async def nodes_by_id(self, episode: str, ids: Sequence[str]) -> list[Node]:
        """Return nodes in the order of the ids, all of which exist."""
        if not ids:
            return []
        columns = [("HMGET", name, *ids) for name in ("nodes", "status", "closed_by", "down")]
        return list(map(_node, *await self._store.read(episode, *columns)))

    async def _texts_of(self, episode: str) -> dict[str, str]:
        known = self._texts.setdefault(episode, _Texts())
        (found,) = await self._store.read(episode, ("HMGET", "meta", "nodes", "revisions"))
        nodes, revisions = (int(number or 0) for number in found)
        if revisions != known.revisions:
            known = self._texts[episode] = _Texts(revisions=revisions)
        missing = [f"n{number}" for number in range(len(known.by_node), nodes)]
        if missing:
            (rows,) = await self._store.read(episode, ("HMGET", "nodes", *missing))
            for node in map(_decoded, rows):
                known.by_node[node.id] = f"{node.id} {node.name} {node.statement} {node.note}".lower()
            while len(self._texts) > _EPISODES_KEPT:
                del self._texts[next(iter(self._texts))]
        return known.by_node

    async def node(self, episode: str, id_or_name: str) -> Node:
        """Return one node.

        Raises:
            UnknownId: nothing has the id or name (facts: nearest).
        """
        reply = await self._store.ask("node", episode=episode, args={"node": id_or_name})
        return msgspec.json.decode(reply, type=Node)

    async def frontier(self, episode: str, agent: str = "", *, limit: int = 200) -> list[Candidate]:
        """Return the open nodes nearest to the theorem, then oldest, as `agent` sees them."""
        placed, leases = await self._store.ask("frontier", episode=episode, args={"limit": limit})
        ids: list[bytes] = placed[::2]
        if not ids:
            return []
        own = [b"%b|%b" % (node, agent.encode()) for node in ids]
        columns = [("HMGET", name, *ids) for name in ("nodes", "status", "down", "up", "tries")]
        fixed, status, *rest = await self._store.read(episode, *columns, ("HMGET", "tries", *own))
        rows = zip(fixed, status, placed[1::2], *rest, strict=True)
        around = _around([msgspec.json.decode(lease, type=Lease) for lease in leases], ids)
        return [_candidate(around, *row) for row in rows if row[1] not in (b"closed", b"refuted")]

    async def same_statement(self, episode: str, statement_hash: str) -> Same:
        """Tell which node and which lemma have the statement, if any."""
        lookups = [("HGET", name, statement_hash) for name in ("statements", "proofs")]
        node, lemma = await self._store.read(episode, *lookups)
        return Same(node=node and node.decode(), lemma=lemma and lemma.decode())

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


class _Texts:
    """What the nodes of an episode say, in lower case, oldest first, as of so many revisions."""

    def __init__(self, *, revisions: int = 0) -> None:
        self.revisions = revisions
        self.by_node: dict[str, str] = {}


def _refuse_id(name: str) -> None:
    if not name or _NODE_ID.fullmatch(name):
        raise BadArguments(f"{name!r} cannot be a part's name", hint="take a word that says what it is about")


def _alternatives(rows: Sequence[bytes]) -> list[Alternative]:
    return [msgspec.json.decode(row, type=Alternative) for row in rows]


def _words(line: bytes | None) -> tuple[str, ...]:
    return tuple(line.decode().split()) if line else ()


def _node(fixed: bytes, status: bytes, lemma: bytes | None, down: bytes | None) -> Node:
    """A node from what never changes about it, as JSON, and what does; put together as text it is decoded once."""
    alternatives = b'","'.join((down or b"").split())
    parts = [fixed[:-1], b',"status":"', status, b'"']
    if lemma:
        parts += [b',"lemma":"', lemma, b'"']
    if alternatives:
        parts += [b',"alternatives":["', alternatives, b'"]']
    return _decoded(b"".join([*parts, b"}"]))


_decoded = msgspec.json.Decoder(Node).decode


class _Around(msgspec.Struct, frozen=True, kw_only=True):
    """What a candidate is seen against: who holds what, and which nodes are open."""

    held: Mapping[str, list[Lease]]
    open_ids: frozenset[str]


def _around(leases: Sequence[Lease], ids: Sequence[bytes]) -> _Around:
    held: dict[str, list[Lease]] = {}
    for lease in leases:
        held.setdefault(lease.node, []).append(lease)
    return _Around(held=held, open_ids=frozenset(name.decode() for name in ids))


def _candidate(
    around: _Around,
    fixed: bytes,
    status: bytes,
    depth: int,
    down: bytes | None,
    up: bytes | None,
    tries: bytes | None,
    own: bytes | None,
) -> Candidate:
    node = _node(fixed, status, None, down)
    above = [edge.partition(":")[2] for edge in _words(up)]
    held = around.held.get(node.id, ())
    return Candidate(
        node=node,
        depth=depth,
        parents=tuple(dict.fromkeys(parent for parent in above if parent in around.open_ids)),
        is_linked=bool(above),
        holders=tuple(lease.agent for lease in held),
        approaches=tuple(lease.approach for lease in held),
        attempts=int(tries or 0),
        own_attempts=int(own or 0),
    )
