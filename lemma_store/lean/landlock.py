"""Landlock: a process gives up the file system and the network for good, without any privilege."""

import contextlib
import os
import struct
from collections.abc import Iterable

from . import libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_QUERY = 1
_PATH_BENEATH = 1

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_FILE, _TRUNCATE = 1 << 5, 1 << 8, 1 << 14
_READ = _READ_FILE | _READ_DIR
_SCRATCH = _READ | _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE | _TRUNCATE

_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many file rights each level knows; later levels know as many as the last."""
NETWORK_LEVEL = 4
SCOPE_LEVEL = 6
_BIND_AND_CONNECT = 0b11
_SIGNALS_AND_ABSTRACT_SOCKETS = 0b11


def supported_level() -> int:
    """Return the level of Landlock that this kernel offers; 0 when it has none."""
    with contextlib.suppress(OSError):
        return libc.syscall(_CREATE_RULESET, None, 0, _VERSION_QUERY)
    return 0


def restrict(level: int, *, readable: Iterable[str], scratch: str) -> None:
    """Leave this process some folders to read and one to write files in. Needs no_new_privs. Raises OSError."""
    rights = (1 << _FILE_RIGHTS[min(level, max(_FILE_RIGHTS))]) - 1
    described = struct.pack("=Q", rights)
    if level >= NETWORK_LEVEL:
        described += struct.pack("=Q", _BIND_AND_CONNECT)
    if level >= SCOPE_LEVEL:
        described += struct.pack("=Q", _SIGNALS_AND_ABSTRACT_SOCKETS)
    rules = libc.syscall(_CREATE_RULESET, described, len(described), 0)
    try:
        for folder in readable:
            _allow(rules, folder, rights=_READ)
        _allow(rules, scratch, rights=_SCRATCH & rights)
        libc.syscall(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, folder: str, *, rights: int) -> None:
    opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, opened), 0)
    finally:
        os.close(opened)
