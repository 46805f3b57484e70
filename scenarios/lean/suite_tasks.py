"""Tasks of a suite: problem files from folders, lists and single names, or the open theorems of a Lake project."""

import hashlib
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from bus.errors import BadArguments, BadProblem
from bus.records import Task

from .open_theorems import OpenTheorem, find_theorem, lean_files, open_theorems
from .problem import LeanProblem
from .problem_files import load_problem

SUFFIXES = (".smt2", ".lean")
FALSE_FAMILY = "false"
"""Name of the folder whose properties are known not to hold."""


def find_tasks(paths: Sequence[Path], *, only: str = "", limit: int | None = None) -> list[Task]:
    """The problems below the given paths, by name; a `.txt` file lists paths, one a line.

    Args:
        paths: folders, problem files and lists.
        only: take those whose id or name matches, such as `lemma_*` or `prod/*`; several with commas.
        limit: take so many at most, evenly spread.

    Raises:
        BadArguments: nothing is there, or two problems have one id.
    """
    tasks = [_task(file) for path in paths for file in _files(path)]
    return _chosen(tasks, only=only, limit=limit, hint="name a folder with .smt2 or .lean files")


def find_open_theorems(project: Path, paths: Sequence[Path], *, only: str = "", limit: int | None = None) -> list[Task]:
    """The open theorems of a Lake project's files, or of the named ones, in their order; see `find_tasks`.

    Args:
        project: its folder.
        paths: Lean files and folders of them, also relative to the project.
        only: take those whose id or name matches; the name may be without its namespaces.
        limit: take so many at most, evenly spread.

    Raises:
        BadArguments: there is none, or two have one id.
        BadProblem: a file or folder cannot be read.
    """
    project = project.expanduser().absolute()
    tasks: list[Task] = []
    for path in paths or [project]:
        place = path.expanduser() if path.expanduser().exists() else project / path
        for file in sorted(lean_files(place)) if place.is_dir() else [place.absolute()]:
            tasks += [_theorem_task(theorem, project) for theorem in open_theorems(file)]
    hint = "a theorem can be posed when its proof is `sorry` or `by sorry`"
    return _chosen(tasks, only=only, limit=limit, hint=hint)


def task_problem(task: Task) -> LeanProblem:
    """The problem that a task is.

    Raises:
        BadProblem: it cannot be read.
    """
    return find_theorem(Path(task.path), task.theorem) if task.theorem else load_problem(task.path)


def _chosen(tasks: list[Task], *, only: str, limit: int | None, hint: str) -> list[Task]:
    if only:
        wanted = [pattern.strip() for pattern in only.split(",")]
        tasks = [task for task in tasks if any(_matches(task, pattern) for pattern in wanted)]
    if not tasks:
        raise BadArguments("there is no problem to work on", hint=hint)
    if len({task.id for task in tasks}) < len(tasks):
        twice = next(task.id for task in tasks if sum(one.id == task.id for one in tasks) > 1)
        raise BadArguments(f"two problems are called {twice}", hint="rename a file or its folder")
    return spread(tasks, limit) if limit is not None else tasks


def spread(tasks: Sequence[Task], count: int) -> list[Task]:
    """So many of the tasks, evenly spread over their order."""
    if count >= len(tasks):
        return list(tasks)
    return [tasks[(2 * index + 1) * len(tasks) // (2 * count)] for index in range(count)]


def statement_hash(path: str) -> str:
    """What a problem says, whatever it is called; empty when it cannot be read."""
    try:
        problem = load_problem(path)
    except BadProblem:
        return ""
    text = re.sub(rf"\b{re.escape(problem.theorem)}(?=\b|_case)", "theorem", problem.source)
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        if not found:
            raise BadArguments(f"{path} holds no problem", hint="problems are .smt2 and .lean files")
        return found
    if not path.exists():
        raise BadArguments(f"{path} does not exist")
    if path.suffix == ".txt":
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        return [file for line in lines if line and not line.startswith("#") for file in _files(path.parent / line)]
    if path.suffix not in SUFFIXES:
        raise BadArguments(f"{path} is neither a problem (.smt2, .lean) nor a list of problems (.txt)")
    return [path]


def _task(file: Path) -> Task:
    file = file.expanduser().absolute()
    family = file.parent.name
    return Task(
        id=f"{family}/{file.stem}",
        family=family,
        path=str(file),
        expected="false" if family == FALSE_FAMILY else "unknown",
    )


def _theorem_task(theorem: OpenTheorem, project: Path) -> Task:
    path = theorem.path.absolute()
    place = path.relative_to(project) if path.is_relative_to(project) else Path(path.name)
    family = ".".join(place.with_suffix("").parts)
    return Task(id=f"{family}/{theorem.name}", family=family, path=str(path), theorem=theorem.name)


def _matches(task: Task, pattern: str) -> bool:
    names = (task.id, task.id.partition("/")[2], task.theorem.rpartition(".")[2])
    return any(fnmatchcase(name, pattern) for name in names if name)
