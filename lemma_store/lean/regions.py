"""The object layer of a Lean 4.35 `.olean` file: bounds-checked views of untrusted bytes.

A file is a compacted region: `olean`, format 2, version string at byte 7, git hash at 40, base address at 80, root
pointer at 88, objects from 96. An object is a header of 8 bytes (reference count i32, size u16, fields u8, tag u8)
and its fields; a pointer with its lowest bit set is a small number. The writer puts children before parents, and
the reader insists on it: so there are no cycles, whatever the bytes are.

A module in parts is several such files whose base addresses follow each other in steps of 64 KiB; later parts point
into earlier ones too. They are read as one region in which headers and gaps hold nothing.
"""

import array
import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from lemma_store.refusals import Refused

MAX_BYTES = 64 << 20
"""Largest file that is read, unless it is trusted."""

HEADER_BYTES = 96
_SAME_BYTES = 80
"""What the headers of a module's parts have in common: format, version and build."""
_STEP_BYTES = 1 << 16
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


def part_starts(heads: Sequence[bytes], sizes: Sequence[int]) -> list[int]:
    """Return where the parts of a module lie, counted from the first, by their headers and sizes in bytes.

    Raises:
        Refused: they are not parts of one module as one build wrote it.
    """
    starts = [0]
    for part, (head, size) in enumerate(zip(heads, sizes, strict=True)):
        if len(head) < HEADER_BYTES or head[:_SAME_BYTES] != heads[0][:_SAME_BYTES]:
            raise Refused(f"part {part + 1} of the module is of another build than the first")
        if _base(head) - _base(heads[0]) != starts[part]:
            raise Refused(f"part {part + 1} of the module does not lie where the part before it ends")
        starts.append(-(-(starts[part] + size) // _STEP_BYTES) * _STEP_BYTES)
    return starts[:-1]


def _base(head: bytes) -> int:
    return int.from_bytes(head[80:88], "little")


def _check_header(data: bytes, version: str) -> None:
    if len(data) < HEADER_BYTES or data[:5] != b"olean" or data[5] != 2:
        raise Refused("the artifact is no .olean file of format 2")
    if data[7:40].split(b"\0")[0] != version.encode():
        raise Refused(f"the artifact was not written by Lean {version}")


class Region:
    """Objects of one module's files. Every method raises `Refused` when the bytes are not what it expects."""

    def __init__(self, data: bytes, *more: bytes, version: str, most: int = MAX_BYTES) -> None:
        parts = (data, *more)
        if (size := sum(map(len, parts))) > most:
            raise Refused(f"the artifact has {size} bytes, more than {most}")
        for part in parts:
            _check_header(part, version)
        self._starts = part_starts(parts, [len(part) for part in parts])
        self.ends = [start + len(part) for start, part in zip(self._starts, parts, strict=True)]
        """Where the parts end."""
        self.data: bytes | memoryview = _joined(parts, self._starts) if more else data
        self.base = _base(data)
        self.roots = [int.from_bytes(part[88:96], "little") for part in parts]
        """A root per part."""
        self.words: Sequence[int] = array.array("Q", self.data[: len(self.data) & ~7])
        """All of it as words: an object at offset `o` begins with word `o / 8`."""

    def _end(self, offset: int) -> int:
        """Return where the part ends that `offset` lies in; 0 for an offset between parts or in a header."""
        part = bisect_right(self._starts, offset) - 1
        return self.ends[part] if offset >= self._starts[part] + HEADER_BYTES else 0

    def _at(self, pointer: int, below: int) -> int:
        offset = pointer - self.base
        if offset % 8 or not HEADER_BYTES <= offset <= min(below, self._end(offset)) - 8:
            raise Refused("a pointer leaves its region or points forward")
        return offset

    def _word(self, offset: int) -> int:
        if offset + 8 > self._end(offset):
            raise Refused("an object ends after the file")
        return int.from_bytes(self.data[offset : offset + 8], "little")

    def reach(self, pointer: int, parent: int, shapes: Shapes, results: dict[int, int]) -> list[int]:
        """Return the pointers of `pointer` and the constructor objects below it in ascending order: children first.

        Each must be of one of the `shapes`. Those with a result already are left out; the others get one of 0, which is
        for the caller to replace.
        """
        base, words, size, is_whole = self.base, self.words, len(self.data), len(self._starts) == 1
        if pointer - base >= parent:
            raise Refused(_FORWARD)
        if pointer in results:
            return []
        results[pointer] = 0
        found = [pointer]
        for place in found:  # it grows meanwhile
            offset = place - base
            end = size if is_whole else self._end(offset)
            if offset & 7 or not HEADER_BYTES <= offset <= end - 8:
                raise Refused("a pointer leaves its region")
            at = offset >> 3
            found_shape = shapes.get(words[at] >> 32)
            if found_shape is None:
                raise Refused("a term is malformed, or holds a free variable or a metavariable")
            extent, begin, child_end = found_shape
            if offset + extent > end:
                raise Refused("an object ends after the file")
            for child in words[at + begin : at + child_end]:
                if child >= place:
                    raise Refused(_FORWARD)
                if child not in results:
                    results[child] = 0
                    found.append(child)
        found.sort()
        return found

    def constructor(
        self, pointer: int, parent: int | None = None
    ) -> tuple[int, int, tuple[int, ...], bytes | memoryview]:
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
        if tag > _LAST_CONSTRUCTOR or end < start or end > self._end(offset):
            raise Refused("a constructor object is malformed")
        return offset, tag, _POINTERS[fields].unpack_from(data, offset + 8), data[start:end]

    def array(self, pointer: int, parent: int) -> tuple[int, tuple[int, ...]]:
        """Return `(offset, element pointers)` of an array object."""
        offset, count = self._sized(pointer, parent, _ARRAY)
        if offset + 24 + 8 * count > self._end(offset):
            raise Refused("an array ends after the file")
        return offset, struct.unpack_from(f"<{count}Q", self.data, offset + 24)

    def string(self, pointer: int, parent: int) -> str:
        """Return the text of a string object."""
        offset, count = self._sized(pointer, parent, _STRING)
        if count < 1 or offset + 32 + count > self._end(offset):
            raise Refused("a string ends after the file")
        try:
            return str(self.data[offset + 32 : offset + 31 + count], "utf-8")
        except UnicodeDecodeError:
            raise Refused("a string is not UTF-8") from None

    def number(self, pointer: int, parent: int) -> int:
        """Return a natural number, small or big."""
        if pointer & 1:
            return pointer >> 1
        offset = self._at(pointer, parent)
        if self.data[offset + 7] != _BIG or offset + 24 > self._end(offset):
            raise Refused("a number is malformed")
        _, limbs, start = struct.unpack_from("<iiQ", self.data, offset + 8)
        end = offset + 24 + 8 * limbs
        if not 0 < limbs <= _MAX_LIMBS or end > self._end(offset) or start - self.base != offset + 24:
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


def _joined(parts: Sequence[bytes], starts: Sequence[int]) -> bytes:
    whole = bytearray(parts[0])
    for part, start in zip(parts[1:], starts[1:], strict=True):
        whole += bytes(start + HEADER_BYTES - len(whole)) + part[HEADER_BYTES:]
    return bytes(whole)
