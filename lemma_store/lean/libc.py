"""System calls that Python 3.11 does not offer, by way of the C library."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

_MMAP, _MPROTECT, _MUNMAP, _MREMAP, _MADVISE = 9, 10, 11, 25, 28
_READ, _WRITE, _EXECUTE = 1, 2, 4
_MAP_PRIVATE, _MAP_ANONYMOUS = 2, 32
_MREMAP_MAYMOVE, _MREMAP_FIXED = 1, 2
_MADV_HUGEPAGE, _MADV_POPULATE_WRITE, _MADV_COLLAPSE = 14, 23, 25
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38


def syscall(number: int, *arguments: int | bytes | None) -> int:
    """Call the kernel by number. Raises OSError."""
    result = _libc.syscall(ctypes.c_long(number), *(_argument(value) for value in arguments))
    return _checked(result, f"system call {number}")


def prctl(option: int, *arguments: int) -> None:
    """Set an attribute of this process. Raises OSError."""
    values = [*arguments, 0, 0, 0, 0][:4]
    _checked(_libc.prctl(ctypes.c_int(option), *(ctypes.c_ulong(value) for value in values)), f"prctl {option}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by the flags for new ones. Raises OSError."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, *, kind: str = "none", flags: int = 0, data: str = "") -> None:
    """Mount a file system. Raises OSError."""
    texts = [os.fsencode(source), os.fsencode(target), os.fsencode(kind)]
    result = _libc.mount(*texts, ctypes.c_ulong(flags), os.fsencode(data) if data else None)
    _checked(result, f"mount {target}")


def unmount(target: str, *, flags: int) -> None:
    """Take a mounted file system away. Raises OSError."""
    _checked(_libc.umount2(os.fsencode(target), ctypes.c_int(flags)), f"umount {target}")


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel to send this process a signal when the thread that made it ends."""
    prctl(_PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent has died."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Make set-user-id programs powerless from here on; Landlock and seccomp need it."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def leave_at_once() -> None:
    """Let `exit` write out what is buffered, and end this process without clearing up."""
    # What was registered last comes first; it gets the exit code as its argument.
    for end in (_libc["_exit"], _libc["fcloseall"]):
        _libc.on_exit(end, None)


def reserve(size: int) -> int:
    """Return the address of new memory. Raises OSError."""
    return syscall(_MMAP, 0, size, _READ | _WRITE, _MAP_PRIVATE | _MAP_ANONYMOUS, -1, 0)


def release(address: int, size: int) -> None:
    """Give memory back. Raises OSError."""
    syscall(_MUNMAP, address, size)


def ask_for_large_pages(address: int, size: int) -> None:
    """Let memory that is not touched yet come in as large pages as there are. Raises OSError."""
    syscall(_MADVISE, address, size, _MADV_HUGEPAGE)


def collapse(address: int, size: int) -> None:
    """Put memory into as large pages as there are. Raises OSError when not all of it could be."""
    syscall(_MADVISE, address, size, _MADV_COLLAPSE)


def populate(address: int, size: int) -> None:
    """Bring in memory as if it had been written, as far as it is there and the kernel knows how."""
    _libc.madvise(address, size, _MADV_POPULATE_WRITE)


def make_executable(address: int, size: int) -> None:
    """Make memory code: it can be read and run, and not written any more. Raises OSError."""
    syscall(_MPROTECT, address, size, _READ | _EXECUTE)


def move(address: int, size: int, target: int) -> None:
    """Put memory in the place of other memory, at once. Raises OSError."""
    syscall(_MREMAP, address, size, size, _MREMAP_MAYMOVE | _MREMAP_FIXED, target)


def _argument(value: int | bytes | None) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
