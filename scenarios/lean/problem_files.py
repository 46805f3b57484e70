"""Problems from files and from the collection that ships with the program."""

import importlib.resources
import re
from pathlib import Path

from bus.errors import BadProblem

from .lean_file import read_lean
from .problem import LeanProblem
from .tip_lean import import_tip

SIZE_CAP_BYTES = 1_000_000


def load_problem(name: str) -> LeanProblem:
    """The problem in a `.smt2` or `.lean` file, or the shipped one of this name.

    Raises:
        BadProblem: it cannot be read, is neither format, or does not state a problem; the message begins with the name.
    """
    path = Path(name)
    if not path.exists() and name in shipped_problems():
        return _parsed(shipped_text(name), f"{name}.lean", origin="shipped")
    return _parsed(read_text(path), path.name, origin=str(path), shown=name)


def shipped_problems() -> tuple[str, ...]:
    """Names of the shipped problems, sorted."""
    folder = importlib.resources.files(__package__ or "") / "problems"
    if not folder.is_dir():
        return ()
    return tuple(sorted(item.name.removesuffix(".lean") for item in folder.iterdir() if item.name.endswith(".lean")))


def shipped_text(name: str) -> str:
    """Lean text of a shipped problem."""
    return (importlib.resources.files(__package__ or "") / "problems" / f"{name}.lean").read_text(encoding="utf-8")


def problem_name(text: str) -> str:
    """A name for folders and tables."""
    return re.sub(r"[^A-Za-z0-9_']+", "_", text).strip("_'") or "problem"


def read_text(path: Path) -> str:
    """The text of a problem's file.

    Raises:
        BadProblem: it cannot be read, or is too large.
    """
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise BadProblem(f"{path} is a folder", hint="name one .smt2 or .lean file")
        if size > SIZE_CAP_BYTES:
            raise BadProblem(f"{path} has {size} bytes, more than {SIZE_CAP_BYTES}")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = f"shipped problems: {', '.join(shipped_problems())}" if shipped_problems() else ""
        raise BadProblem(f"{path} does not exist", hint=hint) from None
    except UnicodeDecodeError as error:
        raise BadProblem(f"{path} is not UTF-8 text: byte {error.start} is wrong") from None
    except OSError as error:
        raise BadProblem(f"{path} cannot be read: {error.strerror or error}") from None


def _parsed(text: str, file_name: str, *, origin: str, shown: str = "") -> LeanProblem:
    stem, _, suffix = file_name.rpartition(".")
    name = problem_name(stem)
    try:
        problem = _read(text, suffix, name=name)
    except BadProblem as error:
        raise BadProblem(f"{shown or file_name}: {error.message}", hint=error.hint, **error.facts) from None
    return LeanProblem(name=problem.name, source=problem.source, theorem=problem.theorem, origin=origin)


def _read(text: str, suffix: str, *, name: str) -> LeanProblem:
    match suffix:
        case "smt2":
            return import_tip(text, name=name)
        case "lean":
            return read_lean(text, name=name)
        case _:
            raise BadProblem("it is neither a TIP file (.smt2) nor a Lean file (.lean)")
