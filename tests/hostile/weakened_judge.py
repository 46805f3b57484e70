"""A judge with one step switched off, for tests only: `python -m tests.hostile.weakened_judge STEP`.

The product has no such switch: the step is replaced in this process before the judge starts to serve.
"""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false
import ctypes
import sys
from collections.abc import Callable
from typing import Any

from lemma_store import harvest, judge_process, judgement, session
from lemma_store.lean import objects, reader
from lemma_store.lean.kernel import Kernel


def _skip_kernel(
    self: objects.Objects, environment: int, declaration: int, *, heartbeats: int = 0, depth: int = 0
) -> tuple[int | None, int]:
    lean: Any = self._lean
    add = lean.lean_add_decl_without_checking
    add.restype, add.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_void_p)
    result = objects._keep(add(objects._keep(environment), objects._keep(declaration)))
    return None, objects._keep(objects._field(result, 0))


def _open_too(self: Any, pointer: int, parent: int) -> int:
    return self._expr(pointer, parent)


def _replace(owner: object, name: str, new: object) -> Callable[[], None]:
    return lambda: setattr(owner, name, new)


STEPS: dict[str, Callable[[], None]] = {
    "none": lambda: None,
    "kernel": _replace(objects.Objects, "add_declaration", _skip_kernel),
    "derived": _replace(Kernel, "holds", lambda *_: True),
    "axioms": _replace(judgement._Bench, "_refuse_axioms", lambda *_: None),
    "extensions": _replace(judgement, "is_allowed_extension", lambda _: True),
    "imports": _replace(judgement, "refuse_imports", lambda *_: None),
    "names": _replace(judgement, "refuse_taken", lambda *_: None),
    "safety": _replace(harvest, "refuse_unsafe", lambda *_: None),
    "odd names": _replace(harvest, "refuse_odd_name", lambda *_: None),
    "closed": _replace(reader.Reader, "_closed", _open_too),
    "allowed axioms": _replace(session.Session, "forbidden", lambda *_: []),
}


if __name__ == "__main__":
    STEPS[sys.argv[1]]()
    judge_process.main()
