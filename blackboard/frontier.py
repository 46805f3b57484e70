"""The open nodes as somebody sees them who looks for work: read in two looks, put together here."""

from collections.abc import Mapping, Sequence

import msgspec

from .connection import Reading
from .nodes import DEPTH_STEP, node_of
from .types import Candidate, Lease

FRONTIER_MAX = 200


class Openings(msgspec.Struct, frozen=True, kw_only=True):
    """What the first look found.

    Attributes:
        ids: open nodes, nearest to the theorem first, then oldest.
        depths: their steps from the theorem.
        leases: those that have not run out, of all agents.
    """

    ids: list[bytes]
    depths: list[int]
    leases: list[Lease]


def first_look(limit: int = FRONTIER_MAX) -> tuple[Reading, ...]:
    """What to read first; `openings` takes the answers."""
    return ("TIME", ""), ("ZRANGE", "open", 0, limit - 1, "WITHSCORES"), ("HVALS", "leases")


def openings(clock: Sequence[bytes], placed: list[bytes], rows: Sequence[bytes]) -> Openings:
    """Put the answers to the first look together. A lease that has run out is none, although nobody ended it yet."""
    now_ms = int(clock[0]) * 1000 + int(clock[1]) // 1000
    leases = [_lease(row) for row in rows]
    return Openings(
        ids=placed[::2],
        depths=[int(score) // DEPTH_STEP for score in placed[1::2]],
        leases=[lease for lease in leases if lease.expires_at_ms > now_ms],
    )


def second_look(found: Openings, agent: str) -> tuple[Reading, ...]:
    """What to read then; `candidates` takes the answers."""
    own = [b"%b|%b" % (node, agent.encode()) for node in found.ids]
    columns = [("HMGET", name, *found.ids) for name in ("nodes", "status", "down", "up")]
    return (*columns, ("HMGET", "tries", *found.ids, *own))


def candidates(found: Openings, columns: Sequence[Sequence[bytes | None]]) -> list[Candidate]:
    """Put the answers to the second look together, without nodes that were settled meanwhile."""
    *fixed, tries = columns
    around = _around(found)
    own = tries[len(found.ids) :]
    rows = zip(found.ids, *fixed, found.depths, tries[: len(found.ids)], own, strict=True)
    return [_candidate(around, *row) for row in rows if row[2] not in (b"closed", b"refuted")]


class _Around(msgspec.Struct, frozen=True):
    """What a candidate is seen against: who holds what, and which nodes are open."""

    held: Mapping[bytes, list[Lease]]
    open_ids: frozenset[str]


def _around(found: Openings) -> _Around:
    held: dict[bytes, list[Lease]] = {}
    for lease in found.leases:
        held.setdefault(lease.node.encode(), []).append(lease)
    return _Around(held, frozenset([name.decode() for name in found.ids]))


def _candidate(
    around: _Around,
    name: bytes,
    fixed: bytes,
    status: bytes,
    down: bytes | None,
    up: bytes | None,
    depth: int,
    tries: bytes | None,
    own: bytes | None,
) -> Candidate:
    above = [edge.partition(":")[2] for edge in up.decode().split()] if up else None
    leases = around.held.get(name)
    return Candidate(
        node=node_of(fixed, status, None, down),
        depth=depth,
        parents=tuple([one for one in dict.fromkeys(above) if one in around.open_ids]) if above else (),
        is_linked=above is not None,
        holders=tuple([lease.agent for lease in leases]) if leases else (),
        approaches=tuple([lease.approach for lease in leases]) if leases else (),
        attempts=int(tries) if tries else 0,
        own_attempts=int(own) if own else 0,
    )


_lease = msgspec.json.Decoder(Lease).decode
