"""What the daemon and the fork server say to each other.

Each message is a frame: a length of four bytes, then MessagePack. This module is imported by the fork server and
inherited by every child, so it imports nothing heavy.
"""

import os
import struct

import msgspec

_LENGTH = struct.Struct("<I")
HEADER_BYTES = _LENGTH.size
_CHUNK_BYTES = 1 << 20

MIB = 1 << 20


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one child may use. Over a limit it is killed, and the outcome says which."""

    wall_ms: int = 20_000
    cpu_s: int = 30
    memory_bytes: int = 3 << 30
    """Resident memory, watched every few milliseconds."""
    address_bytes: int = 64 << 30
    """Address space. Lean reserves a large virtual stack for every theorem that it elaborates at the same time; with
    8 GiB, texts of four theorems ended by signal 11 in half of the runs. Real memory is what `memory_bytes` watches."""
    output_bytes: int = 4 * MIB
    artifact_bytes: int = 64 * MIB
    scratch_bytes: int = 128 * MIB
    threads: int = 64


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The layers to put around a child, as a probe found them on this machine."""

    is_isolated: bool = False
    """Namespaces of its own: user, process, mount, network, IPC; no file system but the library and a scratch."""
    landlock: int = 0
    """Level of Landlock's ABI to use; 0 means none."""
    is_filtered: bool = False
    """System calls filtered by seccomp."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What the place of a check is made from; the text comes later."""

    lean_path: tuple[str, ...]
    limits: Limits
    confinement: Confinement


class Job(msgspec.Struct, frozen=True, kw_only=True, tag="job"):
    """One file for one child."""

    id: int
    module: str
    source: bytes
    lean_path: tuple[str, ...]
    options: tuple[str, ...]
    """Lean options, each as `name=value`."""
    wants_artifact: bool
    limits: Limits
    confinement: Confinement

    @property
    def setting(self) -> Setting:
        """The place that it needs."""
        return Setting(lean_path=self.lean_path, limits=self.limits, confinement=self.confinement)


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag="cancel"):
    """Kill the child of a job; its report comes all the same."""

    id: int


class JobReport(msgspec.Struct, frozen=True, kw_only=True):
    """How a child ended."""

    id: int
    outcome: str
    """`finished`, `timeout`, `memory`, `crashed` or `flooded`."""
    exit_code: int | None = None
    """Only when finished; otherwise None, or minus the signal that ended it."""
    output: bytes = b""
    is_truncated: bool = False
    artifact: bytes | None = None
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    peak_bytes: int = 0
    reason: str = ""
    """Why a child never started, or what it exceeded."""


Request = Job | Cancel

encode = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(Request).decode
decode_report = msgspec.msgpack.Decoder(JobReport).decode


def frame(payload: bytes) -> bytes:
    """Put the length before a message."""
    return _LENGTH.pack(len(payload)) + payload


def frame_size(header: bytes) -> int:
    """Read the length from the first HEADER_BYTES bytes of a frame."""
    return _LENGTH.unpack(header)[0]


def take_frame(received: bytearray) -> bytes | None:
    """Take the first whole message out of what has come in; None when there is none yet."""
    if len(received) < HEADER_BYTES:
        return None
    end = HEADER_BYTES + frame_size(bytes(received[:HEADER_BYTES]))
    if len(received) < end:
        return None
    payload = bytes(received[HEADER_BYTES:end])
    del received[:end]
    return payload


def read_frame(descriptor: int) -> bytes | None:
    """Wait for the next message on a descriptor that carries one; None when its other end closes before."""
    received = bytearray()
    while (found := take_frame(received)) is None:
        if not (chunk := os.read(descriptor, _CHUNK_BYTES)):
            return None
        received += chunk
    return found
