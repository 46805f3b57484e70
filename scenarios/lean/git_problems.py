"""Problems from a Git repository of Lean files, by way of LeanDojo. Needs the extra `dojo`."""

import importlib
import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from bus.errors import BadArguments

from .open_theorems import lean_files, open_theorems, posed
from .problem import LeanProblem

_OFFLINE = {"DISABLE_REMOTE_CACHE": "1"}
"""LeanDojo asks a server of its own for traced repositories unless it is told not to."""


class GitProblem(msgspec.Struct, frozen=True, kw_only=True):
    """An open theorem, as LeanDojo names it, and the problem that it is."""

    url: str
    commit: str
    file_path: str
    full_name: str
    uid: str
    """LeanDojo's name of it."""
    lean_version: str
    problem: LeanProblem


def git_problems(repository: str, *, commit: str | None = None) -> list[GitProblem]:
    """The open theorems of a commit, file by file.

    Raises:
        BadArguments: `lean-dojo` is not installed, or does not take the repository.
        BadProblem: a file cannot be read.
    """
    dojo = _lean_dojo()
    try:
        is_here = commit is None and Path(repository).is_dir()
        place = str(Path(repository).absolute()) if Path(repository).is_dir() else repository
        repo = dojo.LeanGitRepo.from_path(place) if is_here else dojo.LeanGitRepo(place, commit or "HEAD")
        with _checked_out(repo) as folder:
            return [found for path in sorted(lean_files(folder)) for found in _in_file(dojo, repo, folder, path)]
    except (ValueError, AssertionError, OSError, importlib.import_module("git").GitError) as error:
        raise BadArguments(f"lean-dojo does not take {repository}: {error or type(error).__name__}") from error


def _in_file(dojo: Any, repo: Any, folder: Path, path: Path) -> Iterator[GitProblem]:
    relative = path.relative_to(folder)
    for theorem in open_theorems(path):
        named = dojo.Theorem(repo, relative, theorem.name)
        yield GitProblem(
            url=repo.url,
            commit=repo.commit,
            file_path=str(named.file_path),
            full_name=named.full_name,
            uid=named.uid,
            lean_version=repo.lean_version,
            problem=msgspec.structs.replace(posed(theorem), origin=f"{repo.url}@{repo.commit}:{relative}"),
        )


def write_problems(problems: list[GitProblem], out: Path) -> list[dict[str, str]]:
    """Write a file for each problem, `problems.txt` for `bench`, and `theorems.json` in LeanDojo's words.

    Raises:
        BadArguments: the folder is there already.
    """
    try:
        out.mkdir(parents=True)
    except FileExistsError:
        raise BadArguments(f"{out} is there already", hint="name a new folder") from None
    rows: list[dict[str, str]] = []
    for item in problems:
        name = f"{item.problem.name}.lean"
        (out / name).write_text(item.problem.source, encoding="utf-8")
        facts = msgspec.to_builtins(item)
        del facts["problem"]
        rows.append({"file": name, **facts})
    (out / "problems.txt").write_text("".join(f"{row['file']}\n" for row in rows), encoding="utf-8")
    (out / "theorems.json").write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=1))
    return rows


def _lean_dojo() -> Any:
    for name, value in _OFFLINE.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module("lean_dojo")
    except ImportError as error:
        hint = "pip install 'adapter-server[dojo]' (Python 3.11 or 3.12)"
        raise BadArguments(f"this needs the package lean-dojo: {error}", hint=hint) from None


@contextmanager
def _checked_out(repo: Any) -> Generator[Path]:
    """A copy of the commit; LeanDojo makes it in the working folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="repository-") as work:
        os.chdir(work)
        try:
            repo.clone_and_checkout()
            yield Path(work, repo.name)
        finally:
            os.chdir(before)
