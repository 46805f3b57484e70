"""What an agent should know before it decides what to do: read in two looks, however much there is."""

from collections.abc import Mapping

import msgspec

from .doubts import Refutation, refutations_of
from .frontier import candidates, first_look, openings, second_look
from .in_redis import EpisodeStore
from .mail import MESSAGES_MAX, mailboxes, message_ids, messages_of
from .nodes import ROOT, node_columns, node_of
from .types import Attempt, Candidate, EpisodeMeta, Lease, LemmaNote, Message, Node


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """An episode as one agent sees it.

    Attributes:
        meta: the episode at a glance.
        target: the node that is the theorem.
        leases: the agent's own.
        frontier: open nodes, nearest to the theorem first, then oldest.
        lemmas: the last accepted ones, oldest first.
        refuted: nodes that are known to be false and why, oldest first.
        messages: the last that the agent may see, its own among them, oldest first.
    """

    meta: EpisodeMeta
    target: Node
    leases: list[Lease]
    frontier: list[Candidate]
    lemmas: list[LemmaNote]
    refuted: list[tuple[Node, Refutation]]
    messages: list[Message]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A node as somebody sees it who is about to work on it.

    Attributes:
        node: the node.
        leases: the valid ones on it, of all agents.
        attempts: the last ones, oldest first.
    """

    node: Node
    leases: tuple[Lease, ...]
    attempts: tuple[Attempt, ...]


class Overviews:
    """Episodes as their agents see them."""

    def __init__(self, store: EpisodeStore) -> None:
        self._store = store

    async def overview(self, episode: str, agent: str, *, lemmas: int) -> Overview:
        """Return the episode as `agent` sees it, with so many `lemmas`."""
        clock, ids, rows, meta, lemma_ids, doubts, *boxes = await self._store.read(
            episode,
            *first_look(),
            ("HGETALL", "meta"),
            ("LRANGE", "lemma_order", -lemmas, -1),
            ("HVALS", "refutations"),
            *mailboxes(agent, MESSAGES_MAX),
        )
        opened, refuted = openings(clock, ids, rows), refutations_of(doubts)
        notes, messages, *columns = await self._store.read(
            episode,
            ("HMGET", "lemmas", *lemma_ids),
            ("HMGET", "messages", *message_ids(boxes, MESSAGES_MAX)),
            *node_columns([ROOT, *(one.node for one in refuted)]),
            *second_look(opened, agent),
        )
        target, *false = map(node_of, *columns[:4])
        return Overview(
            meta=meta_of(episode, meta),
            target=target,
            leases=sorted(
                (lease for lease in opened.leases if lease.agent == agent), key=lambda one: (one.node, one.fence)
            ),
            frontier=candidates(opened, columns[4:]),
            lemmas=[_note(row) for row in notes if row is not None],
            refuted=list(zip(false, refuted, strict=True)),
            messages=messages_of(messages),
        )

    async def part(self, episode: str, id_or_name: str, *, attempts: int) -> Part:
        """Return a node with who works on it and so many of the last `attempts`.

        Raises:
            UnknownId: nothing has the id or name (facts: nearest).
        """
        reply = await self._store.ask("part", episode=episode, args={"node": id_or_name, "attempts": attempts})
        return msgspec.json.decode(reply, type=Part)


def meta_of(episode: str, fields: Mapping[bytes, bytes]) -> EpisodeMeta:
    """Return the episode at a glance, from the stored hash."""
    facts: dict[str, object] = {name.decode(): value.decode() for name, value in fields.items()}
    facts |= {"episode": episode, "details": msgspec.json.decode(fields[b"details"])}
    return msgspec.convert(facts, EpisodeMeta, strict=False)


_note = msgspec.json.Decoder(LemmaNote).decode
