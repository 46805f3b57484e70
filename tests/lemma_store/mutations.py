"""Random damage to artifacts, the same for the same seed."""

import random
import struct
from collections.abc import Callable, Sequence

_HEADER = 96

Mutation = Callable[[random.Random, bytearray, Sequence[bytes]], None]


def _word(rng: random.Random, data: bytearray) -> int:
    return rng.randrange(10, max(11, len(data) // 8)) * 8


def _put(data: bytearray, at: int, value: int) -> None:
    if at + 8 <= len(data):
        struct.pack_into("<Q", data, at, value % (1 << 64))


def truncate(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[rng.randrange(len(data)) :]


def extend(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    data += rng.randbytes(rng.randrange(1, 64))


def flip_bits(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    for _count in range(rng.choice((1, 1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def flip_in_header(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    data[rng.randrange(min(_HEADER, len(data)))] ^= 1 << rng.randrange(8)


def redirect(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    """Let a pointer lead somewhere else: into a cycle, between objects, out of the file."""
    (base,) = struct.unpack_from("<Q", data, 80)
    target = rng.choice((_word(rng, data), _word(rng, data), rng.randrange(len(data)), len(data) + 8, -8))
    _put(data, _word(rng, data), base + target)


def repoint(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    """Exchange two pointers that both lead to objects, so that much stays well-formed."""
    (base,) = struct.unpack_from("<Q", data, 80)
    spots = [
        at
        for at in range(_HEADER, len(data) - 7, 8)
        if base < int.from_bytes(data[at : at + 8], "little") < base + len(data)
    ]
    if len(spots) > 1:
        one, two = rng.sample(spots, 2)
        data[one : one + 8] = data[two : two + 8]


def huge(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    """Write a number that could be a count."""
    _put(data, _word(rng, data), rng.choice((1 << 63, (1 << 64) - 1, 1 << 32, 1 << 31, 0x7FFF_FFFF_FFFF_FFFF, 0)))


def swap(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    one, two = _word(rng, data), _word(rng, data)
    data[one : one + 8], data[two : two + 8] = data[two : two + 8], data[one : one + 8]


def retag(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    """Change the tag or the number of fields of what may be an object."""
    at = _word(rng, data) + rng.choice((6, 7))
    if at < len(data):
        data[at] = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 244, 245, 246, 249, 250, 255))


def splice(rng: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    other = rng.choice(others)
    at, start = _word(rng, data), rng.randrange(10, max(11, len(other) // 8)) * 8
    data[at : at + 64] = other[start : start + 64]


MUTATIONS: tuple[Mutation, ...] = (
    truncate, extend, flip_bits, flip_bits, flip_bits, flip_in_header, redirect, redirect, repoint, repoint, huge, swap,
    retag, splice,
)  # fmt: skip


def mutate(seed: int, artifacts: Sequence[bytes]) -> tuple[int, bytes]:
    """Return the index of an artifact and the bytes that became of it."""
    rng = random.Random(seed)
    which = rng.randrange(len(artifacts))
    data = bytearray(artifacts[which])
    for mutation in rng.choices(MUTATIONS, k=rng.choice((1, 1, 1, 2, 3))):
        if len(data) > _HEADER:
            mutation(rng, data, artifacts)
    return which, bytes(data)
