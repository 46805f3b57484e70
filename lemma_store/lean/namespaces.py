"""Namespaces: a process sees no other process, no network, and a file system made of a library and a scratch folder.

Works for an ordinary user wherever the kernel grants user namespaces.
"""

import os
import struct
from collections.abc import Sequence
from pathlib import Path

from . import libc

_NEW_MOUNTS, _NEW_HOST_NAME, _NEW_IPC = 0x20000, 0x4000000, 0x8000000
_NEW_USERS, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_ALL = _NEW_MOUNTS | _NEW_HOST_NAME | _NEW_IPC | _NEW_USERS | _NEW_PROCESSES | _NEW_NETWORK

_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8
_REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
_NO_TIMES, _NO_FOLDER_TIMES, _RELATIVE_TIMES = 0x400, 0x800, 0x200000
_DETACH = 2
_HARMLESS = _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS
_TIME_OPTIONS = {os.ST_NOATIME: _NO_TIMES, os.ST_NODIRATIME: _NO_FOLDER_TIMES, os.ST_RELATIME: _RELATIVE_TIMES}

_PIVOT_ROOT, _CAPSET = 155, 126
_CAPABILITY_VERSION_3 = 0x20080522

SCRATCH = "/scratch"
_MAX_FILES = 1024
_FIRST_PROCESS = 1


def isolate(mount_point: str, *, scratch_bytes: int, folders: Sequence[str]) -> tuple[str, ...]:
    """Move this process into namespaces of its own. Returns the folders' new paths. Raises OSError.

    The root becomes a small file system in memory with a limited size; the folders are in it, read-only. The next
    child of this process is the first one of the new process namespace: when it ends, so does all that it started.
    """
    user, group = os.getuid(), os.getgid()
    libc.unshare(_ALL)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    libc.mount("none", "/", flags=_RECURSIVE | _PRIVATE)
    size = f"size={scratch_bytes},nr_inodes={_MAX_FILES},mode=700"
    libc.mount("cell", mount_point, kind="tmpfs", flags=_HARMLESS, data=size)
    os.chdir(mount_point)
    _furnish()
    inside = [_show(folder, number=number) for number, folder in enumerate(folders)]
    libc.syscall(_PIVOT_ROOT, b".", b".")
    libc.unmount(".", flags=_DETACH)
    os.chdir("/")
    return tuple(inside)


def drop_capabilities() -> None:
    """Give up every privilege, those over the own namespaces included. Raises OSError."""
    libc.syscall(_CAPSET, struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), bytes(24))


def _furnish() -> None:
    """Make what Lean looks for: it asks where its program is, by a link that only needs to lead somewhere."""
    Path("scratch").mkdir(0o700)
    Path("bin").mkdir(0o500)
    Path("bin/lean").touch()
    Path(f"proc/{_FIRST_PROCESS}").mkdir(0o500, parents=True)
    Path(f"proc/{_FIRST_PROCESS}/exe").symlink_to("/bin/lean")


def _show(folder: str, *, number: int) -> str:
    """Make a folder of the outside visible, read-only. Options that the outside has set cannot be dropped."""
    name = f"library{number}"
    Path(name).mkdir(0o500)
    libc.mount(folder, name, flags=_BIND)
    outside = os.statvfs(name).f_flag
    times = sum(option for bit, option in _TIME_OPTIONS.items() if outside & bit)
    libc.mount("none", name, flags=_REMOUNT | _BIND | _READ_ONLY | _HARMLESS | times)
    return f"/{name}"
