"""The system calls that Lean needs, and none else.

The filter is a list of what is allowed: files by name, memory, threads, time, signals to itself. Everything else
answers EPERM: programs, processes, sockets, mounts, namespaces, tracing, kernel interfaces, and what later kernels add.
"""

import ctypes
import errno
import os
import platform
import struct

from . import libc

_INSTRUCTION = struct.Struct("=HBBI")
_LOAD_WORD, _JUMP_IF_EQUAL, _JUMP_IF_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_FIRST, _OFFSET_SECOND = 0, 4, 16, 24
_X86_64 = 0xC000003E
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_SECCOMP, _SET_FILTER = 317, 1

_CLONE, _CLONE3, _PRCTL, _TGKILL, _PRLIMIT = 56, 435, 157, 234, 302
_CLONE_THREAD = 0x10000
_PR_SET_NAME = 15
_FCNTL = 72
_SIGNALS_BY_DESCRIPTOR = (8, 10, 15)
"""Commands of fcntl that make the kernel send signals to a process of one's choice."""

_FILES = {
    *(
        0,
        1,
        3,
        4,
        5,
        6,
        8,
        17,
        18,
        19,
        20,
        21,
    ),  # read write close stat fstat lstat lseek pread pwrite readv writev access
    *(32, 33, 292, 73, 77),  # dup dup2 dup3 flock ftruncate
    *(78, 217, 79, 80, 82, 264, 316),  # getdents getdents64 getcwd chdir rename renameat renameat2
    *(2, 257, 83, 258, 87, 263, 89, 267, 95),  # open openat mkdir mkdirat unlink unlinkat readlink readlinkat umask
    *(262, 332, 269, 439),  # newfstatat statx faccessat faccessat2
}
_WAITING = {
    *(7, 271, 23, 270, 22, 293),  # poll ppoll select pselect6 pipe pipe2
    *(232, 281, 233, 291, 290),  # epoll_wait epoll_pwait epoll_ctl epoll_create1 eventfd2
    *(35, 230, 96, 228, 229, 100),  # nanosleep clock_nanosleep gettimeofday clock_gettime clock_getres times
}
_MEMORY = {9, 10, 11, 12, 25, 28}  # mmap mprotect munmap brk mremap madvise
_THREADS = {
    *(24, 202, 273, 334, 324, 218, 309),  # sched_yield futex set_robust_list rseq membarrier set_tid_address getcpu
    *(204, 143, 145, 60, 231),  # sched_getaffinity sched_getparam sched_getscheduler exit exit_group
}
_SIGNALS = {13, 14, 15, 131, 127, 128, 130}  # sigaction sigprocmask sigreturn sigaltstack sigpending timedwait suspend
_FACTS = {
    *(39, 110, 186, 102, 104, 107, 108),  # getpid getppid gettid getuid getgid geteuid getegid
    *(63, 97, 98, 99, 318),  # uname getrlimit getrusage sysinfo getrandom
}
_ALLOWED = sorted(_FILES | _WAITING | _MEMORY | _THREADS | _SIGNALS | _FACTS)


def is_known_machine() -> bool:
    """Return whether the numbers above are those of this machine."""
    return platform.machine() == "x86_64"


def filter_system_calls() -> None:
    """Allow this process the calls of the list from here on. Needs no_new_privs. Raises OSError."""
    program = _program(os.getpid())
    code = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("=H6xQ", len(program) // _INSTRUCTION.size, ctypes.addressof(code))
    libc.syscall(_SECCOMP, _SET_FILTER, 0, described)


def _program(process: int) -> bytes:
    """Assemble the filter. Calls that depend on an argument come first, each with its own short tail."""
    lines = [
        _line(_LOAD_WORD, _OFFSET_ARCHITECTURE),
        _line(_JUMP_IF_EQUAL, _X86_64, then=1),
        _line(_RETURN, _KILL),
        _line(_LOAD_WORD, _OFFSET_NUMBER),
        _line(_JUMP_IF_EQUAL, _CLONE3, otherwise=1),
        _line(_RETURN, _ERROR | errno.ENOSYS),  # so that the C library falls back to clone, whose flags can be read
        *_on_argument(_CLONE, test=_JUMP_IF_SET, value=_CLONE_THREAD),
        *_on_argument(_TGKILL, test=_JUMP_IF_EQUAL, value=process),
        *_on_argument(_PRCTL, test=_JUMP_IF_EQUAL, value=_PR_SET_NAME),
        *_on_argument(_PRLIMIT, test=_JUMP_IF_EQUAL, value=0),
        *_unless_second(_FCNTL, forbidden=_SIGNALS_BY_DESCRIPTOR),
    ]
    for position, number in enumerate(_ALLOWED):
        lines.append(_line(_JUMP_IF_EQUAL, number, then=len(_ALLOWED) - position))
    lines += [_line(_RETURN, _ERROR | errno.EPERM), _line(_RETURN, _ALLOW)]
    return b"".join(lines)


def _on_argument(number: int, *, test: int, value: int) -> list[bytes]:
    """Allow a call if its first argument passes the test."""
    return [
        _line(_JUMP_IF_EQUAL, number, otherwise=4),
        _line(_LOAD_WORD, _OFFSET_FIRST),
        _line(test, value, otherwise=1),
        _line(_RETURN, _ALLOW),
        _line(_RETURN, _ERROR | errno.EPERM),
    ]


def _unless_second(number: int, *, forbidden: tuple[int, ...]) -> list[bytes]:
    """Allow a call unless its second argument is one of some values."""
    count = len(forbidden)
    return [
        _line(_JUMP_IF_EQUAL, number, otherwise=count + 3),
        _line(_LOAD_WORD, _OFFSET_SECOND),
        *(_line(_JUMP_IF_EQUAL, value, then=count - position) for position, value in enumerate(forbidden)),
        _line(_RETURN, _ALLOW),
        _line(_RETURN, _ERROR | errno.EPERM),
    ]


def _line(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return _INSTRUCTION.pack(code, then, otherwise, value)
