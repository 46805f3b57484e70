"""Nodes as they are stored: what never changes about one, and beside it what does."""

from collections.abc import Sequence

import msgspec

from .in_redis import Reading
from .types import Node

ROOT = "n0"
"""The node that is the theorem."""


def node_columns(ids: Sequence[str | bytes]) -> tuple[Reading, ...]:
    """What to read of nodes; row by row the answers are arguments of `node_of`."""
    return tuple(("HMGET", name, *ids) for name in ("nodes", "status", "closed_by", "down"))


def node_of(fixed: bytes, status: bytes, lemma: bytes | None, down: bytes | None) -> Node:
    """A node from what never changes about it, as JSON, and what does; put together as text it is decoded once."""
    parts = [fixed[:-1], b',"status":"', status, b'"']
    if lemma:
        parts += [b',"lemma":"', lemma, b'"']
    if down:
        parts += [b',"alternatives":["', b'","'.join(down.split()), b'"]']
    return fixed_part(b"".join([*parts, b"}"]))


fixed_part = msgspec.json.Decoder(Node).decode
"""A node as it was added."""
