"""The open nodes as somebody sees them who looks for work: read in two looks, put together here."""

from collections.abc import Mapping, Sequence

import msgspec

from .in_redis import Reading
from .nodes import node_columns, node_of
from .types import Candidate, Lease

FRONTIER_MAX = 200


class Openings(msgspec.Struct, frozen=True, kw_only=True):
    """What the first look found.

    Attributes:
        ids: open nodes, nearest to the theorem first, then oldest.
        leases: those that have not run out, of all agents.
    """

    ids: list[bytes]
    leases: list[Lease]


def first_look(limit: int = FRONTIER_MAX) -> tuple[Reading, ...]:
    """What to read first; `openings` takes the answers."""
    return ("TIME", ""), ("ZRANGE", "open", 0, limit - 1), ("HVALS", "leases")


def openings(clock: Sequence[bytes], ids: list[bytes], rows: Sequence[bytes]) -> Openings:
    """Put the answers to the first look together. A lease that has run out is none, although nobody ended it yet."""
    now_ms = int(clock[0]) * 1000 + int(clock[1]) // 1000
    leases = [_lease(row) for row in rows]
    return Openings(ids=ids, leases=[lease for lease in leases if lease.expires_at_ms > now_ms])


def second_look(found: Openings, agent: str) -> tuple[Reading, ...]:
    """What to read then; `candidates` takes the answers."""
    own = [b"%b|%b" % (node, agent.encode()) for node in found.ids]
    columns = [("HMGET", name, *found.ids) for name in ("depths", "up", "tries")]
    return (*node_columns(found.ids), *columns, ("HMGET", "tries", *own))


def candidates(found: Openings, columns: Sequence[Sequence[bytes | None]]) -> list[Candidate]:
    """Put the answers to the second look together, without nodes that were settled meanwhile."""
    held: dict[str, list[Lease]] = {}
    for lease in found.leases:
        held.setdefault(lease.node, []).append(lease)
    open_ids = frozenset(name.decode() for name in found.ids)
    return [
        _candidate(held, open_ids, *row) for row in zip(*columns, strict=True) if row[1] not in (b"closed", b"refuted")
    ]


_lease = msgspec.json.Decoder(Lease).decode


def _candidate(
    held: Mapping[str, list[Lease]],
    open_ids: frozenset[str],
    fixed: bytes,
    status: bytes,
    lemma: bytes | None,
    down: bytes | None,
    depth: bytes,
    up: bytes | None,
    tries: bytes | None,
    own: bytes | None,
) -> Candidate:
    node = node_of(fixed, status, lemma, down)
    above = [edge.partition(":")[2] for edge in up.decode().split()] if up else ()
    leases = held.get(node.id, ())
    return Candidate(
        node=node,
        depth=int(depth),
        parents=tuple(dict.fromkeys(parent for parent in above if parent in open_ids)) if above else (),
        is_linked=bool(above),
        holders=tuple([lease.agent for lease in leases]),
        approaches=tuple([lease.approach for lease in leases]),
        attempts=int(tries or 0),
        own_attempts=int(own or 0),
    )
