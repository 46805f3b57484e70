"""Nodes as they are stored: what never changes about one, and beside it what does."""

from collections.abc import Sequence

import msgspec

from .connection import Reading
from .types import Node

ROOT = "n0"
"""The node that is the theorem."""

DEPTH_STEP = 10_000_000
"""The score of an open node is its depth times this, plus its number; the scripts say the same."""


def node_columns(ids: Sequence[str | bytes]) -> tuple[Reading, ...]:
    """What to read of nodes; row by row the answers are arguments of `node_of`."""
    return tuple(("HMGET", name, *ids) for name in ("nodes", "status", "closed_by", "down"))


def node_of(fixed: bytes, status: bytes, lemma: bytes | None, down: bytes | None) -> Node:
    """A node from what never changes about it, as JSON, and what does; put together as text it is decoded once."""
    more = b',"lemma":"%b"' % lemma if lemma else b""
    if down:
        more += b',"alternatives":["%b"]' % b'","'.join(down.split())
    return fixed_part(b'%b,"status":"%b"%b}' % (fixed[:-1], status, more))


fixed_part = msgspec.json.Decoder(Node).decode
"""A node as it was added."""
