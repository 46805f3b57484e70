"""The object layer of a Lean 4.35 `.olean` file: bounds-checked views of untrusted bytes.

A file is a compacted region: `olean`, format 2, version string at byte 7, git hash at 40, base address at 80, root
pointer at 88, objects from 96. An object is a header of 8 bytes (reference count i32, size u16, fields u8, tag u8)
and its fields; a pointer with its lowest bit set is a small number. The writer puts children before parents, and
the reader insists on it: so there are no cycles, whatever the bytes are.
"""

import array
import struct
from collections.abc import Mapping

from lemma_store.refusals import Refused

MAX_BYTES = 64 << 20
"""Largest file that is read at all."""

_HEADER_BYTES = 96
_ARRAY, _STRING, _BIG = 246, 249, 250
_LAST_CONSTRUCTOR = 244
_MAX_LIMBS = 1 << 12
_FORWARD = "a pointer points forward"
_HEAD = struct.Struct("<HBB")
_POINTERS = {count: struct.Struct(f"<{count}Q") for count in range(256)}

Shapes = Mapping[int, tuple[int, int, int]]
"""What may stand where terms are due: by the upper half of its head, the object's size in bytes, and where the child
terms begin and end, in words from the head."""


def shape(tag: int, fields: int, scalar_bytes: int, begin: int, end: int) -> Shapes:
    """Return the shape of a constructor, whose child terms are fields `begin` to `end` of all."""
    size = 8 + 8 * fields + (scalar_bytes + 7 & ~7)
    return {tag << 24 | fields << 16 | size: (size, 1 + begin, 1 + end)}


class Region:
    """Objects of one file. Every method raises `Refused` when the bytes are not what it expects."""

    def __init__(self, data: bytes, *, version: str) -> None:
        if len(data) > MAX_BYTES:
            raise Refused(f"the artifact has {len(data)} bytes, more than {MAX_BYTES}")
        if len(data) < _HEADER_BYTES or data[:5] != b"olean" or data[5] != 2:
            raise Refused("the artifact is no .olean file of format 2")
        if data[7:40].split(b"\0")[0] != version.encode():
            raise Refused(f"the artifact was not written by Lean {version}")
        self.data = data
        self.base, self.root = struct.unpack_from("<QQ", data, 80)
        self.words = array.array("Q", data[: len(data) & ~7])
        """The whole file as words: an object at offset `o` begins with word `o / 8`."""

    def _at(self, pointer: int, below: int) -> int:
        offset = pointer - self.base
        if offset % 8 or not _HEADER_BYTES <= offset <= min(below, len(self.data)) - 8:
            raise Refused("a pointer leaves its region or points forward")
        return offset

    def _word(self, offset: int) -> int:
        if offset + 8 > len(self.data):
            raise Refused("an object ends after the file")
        return int.from_bytes(self.data[offset : offset + 8], "little")

    def reach(self, pointer: int, parent: int, shapes: Shapes, results: dict[int, int]) -> list[int]:
        """Return the pointers of `pointer` and the constructor objects below it in ascending order: children first.

        Each must be of one of the `shapes`. Those with a result already are left out; the others get one of 0, which is
        for the caller to replace.
        """
        base, words, size = self.base, self.words, len(self.data)
        if pointer - base >= parent:
            raise Refused(_FORWARD)
        if pointer in results:
            return []
        results[pointer] = 0
        found = [pointer]
        for place in found:  # it grows meanwhile
            offset = place - base
            if offset & 7 or not _HEADER_BYTES <= offset <= size - 8:
                raise Refused("a pointer leaves its region")
            at = offset >> 3
            found_shape = shapes.get(words[at] >> 32)
            if found_shape is None:
                raise Refused("a term is malformed, or holds a free variable or a metavariable")
            extent, begin, end = found_shape
            if offset + extent > size:
                raise Refused("an object ends after the file")
            for child in words[at + begin : at + end]:
                if child >= place:
                    raise Refused(_FORWARD)
                if child not in results:
                    results[child] = 0
                    found.append(child)
        found.sort()
        return found

    def constructor(self, pointer: int, parent: int | None = None) -> tuple[int, int, tuple[int, ...], bytes]:
        """Return `(offset, tag, field pointers, scalar bytes)` of a constructor object.

        A small number is a constructor without fields, at offset -1. `parent` is the offset of the object that
        holds the pointer; its children lie below it.
        """
        if pointer & 1:
            return -1, pointer >> 1, (), b""
        data = self.data
        offset = self._at(pointer, len(data) if parent is None else parent)
        size, fields, tag = _HEAD.unpack_from(data, offset + 4)
        start, end = offset + 8 + 8 * fields, offset + size
        if tag > _LAST_CONSTRUCTOR or end < start or end > len(data):
            raise Refused("a constructor object is malformed")
        return offset, tag, _POINTERS[fields].unpack_from(data, offset + 8), data[start:end]

    def array(self, pointer: int, parent: int) -> tuple[int, tuple[int, ...]]:
        """Return `(offset, element pointers)` of an array object."""
        offset, count = self._sized(pointer, parent, _ARRAY)
        if offset + 24 + 8 * count > len(self.data):
            raise Refused("an array ends after the file")
        return offset, struct.unpack_from(f"<{count}Q", self.data, offset + 24)

    def string(self, pointer: int, parent: int) -> str:
        """Return the text of a string object."""
        offset, count = self._sized(pointer, parent, _STRING)
        if count < 1 or offset + 32 + count > len(self.data):
            raise Refused("a string ends after the file")
        try:
            return self.data[offset + 32 : offset + 31 + count].decode()
        except UnicodeDecodeError:
            raise Refused("a string is not UTF-8") from None

    def number(self, pointer: int, parent: int) -> int:
        """Return a natural number, small or big."""
        if pointer & 1:
            return pointer >> 1
        offset = self._at(pointer, parent)
        if self.data[offset + 7] != _BIG or offset + 24 > len(self.data):
            raise Refused("a number is malformed")
        _, limbs, start = struct.unpack_from("<iiQ", self.data, offset + 8)
        end = offset + 24 + 8 * limbs
        if not 0 < limbs <= _MAX_LIMBS or end > len(self.data) or start - self.base != offset + 24:
            raise Refused("a big number is malformed or negative")
        return int.from_bytes(self.data[offset + 24 : end], "little")

    def _sized(self, pointer: int, parent: int, tag: int) -> tuple[int, int]:
        if pointer & 1:
            raise Refused("a number stands where an object is due")
        offset = self._at(pointer, parent)
        if self.data[offset + 7] != tag:
            raise Refused("an object has the wrong tag")
        count = self._word(offset + 8)
        if count > len(self.data):
            raise Refused("an object claims more elements than the file has bytes")
        return offset, count
