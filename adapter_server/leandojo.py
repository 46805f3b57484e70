"""The lemmas of an episode in LeanDojo's form: a Git repository of Lean files, `corpus.jsonl` and split files."""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from bus.errors import BadArguments
from lemma_store.blocks import Block, cut
from lemma_store.lean.core_library import CoreLibrary
from lemma_store.lean.project import ID_PREFIX
from lemma_store.lexing import Lines, words
from lemma_store.types import Lemma, Problem

REPOSITORY = "repository"
PROBLEM_FILE, LEMMAS_FILE = "Problem.lean", "Lemmas.lean"
SPLITS = ("random", "novel_premises")
_HELD_BACK = 0.2
"""Share of the theorems in `val`, and in `test`."""

_KIND = "commanddeclaration"
"""LeanDojo's word for every declaration."""

_COMMENT = re.compile(r"/-.*?-/|--[^\n]*", re.DOTALL)
_GIT = {
    "GIT_AUTHOR_NAME": "adapter-server", "GIT_AUTHOR_EMAIL": "adapter-server@localhost",
    "GIT_COMMITTER_NAME": "adapter-server", "GIT_COMMITTER_EMAIL": "adapter-server@localhost",
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    folder: str
    commit: str
    premises: int
    theorems: int


def export_leandojo(problem: Problem, units: Sequence[Lemma], target: Path, *, version: str) -> Exported:
    """Write lemmas, each after those it rests on, and the definitions of their problem.

    There are no tactic states: the store keeps proofs as terms and texts, so `traced_tactics` is empty.

    Raises:
        BadArguments: `target` is there already, or `git` does not run.
    """
    repository = target / REPOSITORY
    try:
        repository.mkdir(parents=True)
    except FileExistsError:
        raise BadArguments(f"{target} is there already", hint="name a new folder") from None
    texts = {PROBLEM_FILE: _problem_text(problem), LEMMAS_FILE: _lemmas_text(problem, units)}
    files = {"lakefile.toml": 'name = "lemmas"\n', "lean-toolchain": f"leanprover/lean4:v{version}\n", **texts}
    for name, text in files.items():
        (repository / name).write_text(text, encoding="utf-8")
    commit = _commit(repository)
    imports: dict[str, list[str]] = {PROBLEM_FILE: [], LEMMAS_FILE: [PROBLEM_FILE]}
    premises = {name: _premises(text) for name, text in texts.items()}
    corpus = [{"path": name, "imports": imports[name], "premises": found} for name, found in premises.items()]
    (target / "corpus.jsonl").write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in corpus))
    place = {"url": str(repository.absolute()), "commit": commit}
    theorems = _theorems(premises[LEMMAS_FILE], units, place)
    for name in SPLITS:
        _write_split(target / name, _in_order(name, units), theorems)
    metadata = {"from_repo": place, "episode": problem.episode, "library": problem.library}
    (target / "metadata.json").write_text(json.dumps(metadata))
    count = sum(map(len, premises.values()))
    return Exported(folder=str(target), commit=commit, premises=count, theorems=len(theorems))


def _problem_text(problem: Problem) -> str:
    is_embedded = not problem.library.startswith(ID_PREFIX)
    header = CoreLibrary(folder=Path(), id="", modules=(), imports=problem.imports, is_embedded=is_embedded).header()
    return f"{header}\n{problem.source.strip()}\n"


def _lemmas_text(problem: Problem, units: Sequence[Lemma]) -> str:
    # Mutual definitions share one text.
    texts = dict.fromkeys(unit.source.strip() for unit in units)
    return "\n\n".join(["prelude\nimport Problem\nset_option autoImplicit false", *texts]) + "\n"


def _premises(text: str) -> list[dict[str, Any]]:
    lines = Lines(text)
    return [
        {
            "full_name": name,
            "code": _code(text, block),
            "start": _position(lines, text, block.start),
            "end": _position(lines, text, block.start + len(text[block.start : block.end].rstrip())),
            "kind": _KIND,
        }
        for block in cut(words(text), len(text))
        for name in (*block.theorems, *block.definitions)
    ]


def _position(lines: Lines, text: str, offset: int) -> list[int]:
    return [lines.line(offset), offset - (text.rfind("\n", 0, offset) + 1) + 1]


def _code(text: str, block: Block) -> str:
    """A declaration without comments; a theorem without its proof."""
    code = _COMMENT.sub("", text[block.start : block.end]).strip()
    if not block.theorems:
        return code
    depth = 0
    for word in words(code):
        depth += (word.text in ("(", "[", "{", "⟨", "⦃")) - (word.text in (")", "]", "}", "⟩", "⦄"))
        if depth == 0 and code.startswith(":=", word.at):
            return code[: word.at].strip()
    return code


def _theorems(
    premises: Sequence[dict[str, Any]], units: Sequence[Lemma], place: dict[str, str]
) -> dict[str, dict[str, Any]]:
    names = {unit.name: unit.id for unit in units if unit.statement.hash}
    return {
        names[premise["full_name"]]: {
            **place,
            "file_path": LEMMAS_FILE,
            "full_name": premise["full_name"],
            "theorem_statement": premise["code"],
            "start": premise["start"],
            "end": premise["end"],
            "traced_tactics": [],
        }
        for premise in premises
        if premise["full_name"] in names
    }


def _in_order(split: str, units: Sequence[Lemma]) -> list[str]:
    """Ids of lemmas, those to be held back at the end: by chance, or those that use what few others use."""
    lemmas = sorted(
        (unit for unit in units if unit.statement.hash), key=lambda unit: hashlib.sha256(unit.id.encode()).digest()
    )
    if split == "novel_premises":
        users = [below for unit in lemmas for below in unit.uses]
        lemmas.sort(key=lambda unit: -min((users.count(below) for below in unit.uses), default=len(users)))
    return [unit.id for unit in lemmas]


def _write_split(folder: Path, order: Sequence[str], theorems: dict[str, dict[str, Any]]) -> None:
    folder.mkdir()
    rows = [theorems[ident] for ident in order if ident in theorems]
    held = int(len(rows) * _HELD_BACK)
    kept = len(rows) - 2 * held
    parts = {"train": rows[:kept], "val": rows[kept : kept + held], "test": rows[kept + held :]}
    for name, part in parts.items():
        (folder / f"{name}.json").write_text(json.dumps(part, ensure_ascii=False), encoding="utf-8")


def _commit(repository: Path) -> str:
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "Lemmas"]):
        _git(repository, command)
    return _git(repository, ["rev-parse", "HEAD"])


def _git(repository: Path, command: list[str]) -> str:
    try:
        done = subprocess.run(
            ["git", *command], cwd=repository, env={**os.environ, **_GIT}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise BadArguments(f"git {command[0]} does not work: {error}", hint="install git 2.25 or newer") from error
    return done.stdout.strip()
