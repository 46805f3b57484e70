"""Writes `.olean` files by hand: well-formed ones that no Lean would write, and broken ones."""

import struct
from collections.abc import Sequence

VERSION = "4.35.0"
BASE = 0x10_0000_0000
ARRAY, STRING, BIG = 246, 249, 250
NIL = 1
"""The pointer of an empty list, the anonymous name and the number 0."""


class Forge:
    """Objects in the order in which they are made; children come first, as Lean has it."""

    def __init__(self, base: int = BASE) -> None:
        self._base = base
        header = b"olean\x02\x00" + VERSION.encode().ljust(33, b"\0") + b"0" * 40 + struct.pack("<QQ", base, 0)
        self._data = bytearray(header)

    @property
    def next(self) -> int:
        """Pointer of the object that is made next."""
        return self._base + len(self._data)

    def _add(self, data: bytes) -> int:
        pointer = self._base + len(self._data)
        self._data += data + b"\0" * (-len(data) % 8)
        return pointer

    def object(self, tag: int, fields: Sequence[int], scalars: bytes = b"") -> int:
        size = 8 + 8 * len(fields) + len(scalars)
        head = struct.pack("<iHBB", 0, (size + 7) & ~7, len(fields), tag)
        return self._add(head + struct.pack(f"<{len(fields)}Q", *fields) + scalars)

    def array(self, items: Sequence[int], *, count: int | None = None) -> int:
        size = len(items) if count is None else count
        head = struct.pack("<iHBBQQ", 0, 0, 0, ARRAY, size, size)
        return self._add(head + struct.pack(f"<{len(items)}Q", *items))

    def list(self, items: Sequence[int]) -> int:
        found = NIL
        for item in reversed(items):
            found = self.object(1, [item, found])
        return found

    def string(self, text: str) -> int:
        data = text.encode("utf-8", "surrogatepass")
        return self._add(
            struct.pack("<iHBBQQQ", 0, 0, 0, STRING, len(data) + 1, len(data) + 1, len(text)) + data + b"\0"
        )

    def number(self, value: int) -> int:
        if value < 1 << 62:
            return value << 1 | 1
        limbs = (value.bit_length() + 63) // 64
        where = self._base + len(self._data) + 24
        head = struct.pack("<iHBBiiQ", 0, 0, 0, BIG, limbs, limbs, where)
        return self._add(head + value.to_bytes(8 * limbs, "little"))

    def name(self, *parts: str | int) -> int:
        found = NIL
        for part in parts:
            inner = self.string(part) if isinstance(part, str) else self.number(part)
            found = self.object(1 if isinstance(part, str) else 2, [found, inner], b"\0" * 8)
        return found

    def constant(self, *parts: str, levels: Sequence[int] = ()) -> int:
        return self.object(4, [self.name(*parts), self.list(levels)], b"\0" * 8)

    def bound(self, index: int) -> int:
        return self.object(0, [self.number(index)], b"\0" * 8)

    def application(self, function: int, *arguments: int) -> int:
        for argument in arguments:
            function = self.object(5, [function, argument], b"\0" * 8)
        return function

    def binder(self, type_: int, body: int, *, is_pi: bool = True, name: str = "x") -> int:
        return self.object(7 if is_pi else 6, [self.name(name), type_, body], b"\0" * 9)

    def sort(self, level: int = NIL) -> int:
        return self.object(3, [level], b"\0" * 8)

    def literal(self, value: int | str) -> int:
        inner = self.number(value) if isinstance(value, int) else self.string(value)
        return self.object(9, [self.object(0 if isinstance(value, int) else 1, [inner])], b"\0" * 8)

    def head(self, name: Sequence[str | int], type_: int, params: Sequence[str] = ()) -> int:
        return self.object(0, [self.name(*name), self.list([self.name(param) for param in params]), type_])

    def theorem(self, name: Sequence[str | int], type_: int, value: int, params: Sequence[str] = ()) -> int:
        made = self.object(0, [self.head(name, type_, params), value, self.list([self.name(*name)])])
        return self.object(2, [made])

    def definition(self, name: Sequence[str | int], type_: int, value: int, *, safety: int = 1) -> int:
        hints = self.object(2, [], struct.pack("<II", 1, 0))
        made = [self.head(name, type_), value, hints, self.list([self.name(*name)])]
        return self.object(1, [self.object(0, made, bytes([safety]))])

    def axiom(self, name: Sequence[str | int], type_: int) -> int:
        return self.object(0, [self.object(0, [self.head(name, type_)], b"\0")])

    def inductive(self, name: Sequence[str], type_: int, *, group: Sequence[int], constructors: Sequence[int]) -> int:
        made = [self.head(name, type_), NIL, NIL, self.list(group), self.list(constructors), NIL]
        return self.object(5, [self.object(0, made, b"\0" * 8)])

    def recursor(self, name: Sequence[str], type_: int, *, group: Sequence[int]) -> int:
        made = [self.head(name, type_), self.list(group), NIL, NIL, self.number(1), NIL, NIL]
        return self.object(7, [self.object(0, made, b"\0" * 8)])

    def module(
        self,
        constants: Sequence[int],
        *,
        imports: Sequence[str] = ("MiniCore", "Problem"),
        extensions: Sequence[str] = (),
        is_part: bool = False,
    ) -> bytes:
        wanted = [self.object(0, [self.name(*item.split("."))], b"\0\x01\0") for item in imports]
        entries = [self.object(0, [self.name(*item.split(".")), self.array([NIL])]) for item in extensions]
        parts = [wanted, [], constants, [], entries]
        return self.finish(self.object(0, [self.array(part) for part in parts], bytes([is_part])))

    def finish(self, root: int) -> bytes:
        self._data[88:96] = struct.pack("<Q", root)
        return bytes(self._data)
