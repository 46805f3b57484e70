"""How a judge's process begins: its limits, its session with the trusted library, the modules that it holds."""

import resource
import sys
from collections.abc import Sequence
from pathlib import Path

from .declarations import Module
from .lean.core_library import LIBRARY
from .refusals import Refused
from .session import Session
from .tasks import Start

_STACK_BYTES = 120 << 20
_ADDRESS_SPACE_BYTES = 12 << 30
_RECURSION = 20_000


def limit_process() -> None:
    """Set this process's limits, but for memory, which depends on the library."""
    # Lean derives its stack guard from this limit when it initialises.
    _limit(resource.RLIMIT_STACK, _STACK_BYTES, is_final=False)
    _limit(resource.RLIMIT_CORE, 0)
    sys.setrecursionlimit(_RECURSION)
    sys.set_int_max_str_digits(0)  # the reader bounds numbers


def _limit(what: int, size: int, *, is_final: bool = True) -> None:
    _, hard = resource.getrlimit(what)
    size = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(what, (size, size if is_final else hard))


def open_session(task: Start) -> Session:
    """Return a session whose kernel is empty, or has the imported library.

    Raises:
        Refused, OSError: see `Session.import_library`.
    """
    _limit(resource.RLIMIT_AS, _ADDRESS_SPACE_BYTES + task.library_bytes)
    session = Session(Path(task.library), version=task.version, imports=task.imports)
    if task.library_path:
        session.import_library(task.library_path)
    return session


def admit(session: Session, name: str, paths: Sequence[str]) -> Module:
    """Have `session` replay the module in these files.

    Raises:
        Refused, KernelLimit: see `Session.admit`.
    """
    try:
        return session.admit(*(Path(path).read_bytes() for path in paths), module=name)
    except Refused as refusal:
        # Of a library's modules nobody else can say which one it is.
        raise Refused(f"{paths[0]}: {refusal.reason}" if name == LIBRARY else refusal.reason) from refusal
