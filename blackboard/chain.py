"""The hash chain of the log: each entry seals the one before it."""

from collections.abc import Iterable
from hashlib import sha1

import msgspec

GENESIS = "0" * 40


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the log as stored.

    Attributes:
        seq: 1, 2, 3 … without holes.
        kind: what happened.
        actor: who caused it.
        at_ms: Unix time by the store's clock, as text.
        body: facts as JSON, byte for byte.
        prev: hash of the entry before.
        hash: hash of this one.
    """

    seq: int
    kind: str
    actor: str
    at_ms: str
    body: bytes
    prev: str
    hash: str


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """Where a verified part of the chain ends."""

    seq: int = 0
    hash: str = GENESIS


def seal(entry: Entry) -> str:
    """Return the hash that the entry must have. `append_event` in the scripts computes the same."""
    actor = entry.actor.encode()
    head = f"{entry.prev}\n{entry.seq}\n{entry.at_ms}\n{entry.kind}\n{len(actor)}:".encode()
    # SHA-1 is what scripts have. The chain shows accidents and edits in place; it is no signature.
    return sha1(head + actor + b"\n" + entry.body, usedforsecurity=False).hexdigest()


def follow(link: Link, entries: Iterable[Entry]) -> Link | int:
    """Verify entries that come right after `link`: the new end, or the number of the first bad or missing entry."""
    for entry in entries:
        expected = link.seq + 1
        if entry.seq != expected:
            return expected
        if entry.prev != link.hash or entry.hash != seal(entry):
            return entry.seq
        link = Link(seq=entry.seq, hash=entry.hash)
    return link
