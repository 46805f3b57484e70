"""Tasks of a suite: problem files from folders, lists and single names."""

import hashlib
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from bus.errors import BadArguments, BadProblem
from bus.records import Task

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
    files = [file for path in paths for file in _files(path)]
    tasks = [_task(file) for file in files]
    if only:
        wanted = [pattern.strip() for pattern in only.split(",")]
        tasks = [task for task in tasks if any(_matches(task.id, pattern) for pattern in wanted)]
    if not tasks:
        raise BadArguments("there is no problem to work on", hint="name a folder with .smt2 or .lean files")
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


def _matches(task: str, pattern: str) -> bool:
    return fnmatchcase(task, pattern) or fnmatchcase(task.partition("/")[2], pattern)
