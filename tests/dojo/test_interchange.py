"""Interchange with the real package lean-dojo, without a network and without Lean's own tools."""

import importlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from adapter_server.cli.main import run_command
from scenarios.lean.problem_files import load_problem

pytestmark = pytest.mark.filterwarnings("ignore")


MINE = """prelude
import MiniCore
namespace Mine
theorem easy (n : Nat) : n = n := by sorry
theorem done : True := trivial
end Mine
"""


@pytest.fixture(scope="module")
def dojo(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The package, with a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("DISABLE_REMOTE_CACHE", "1")
        patch.delenv("GITHUB_ACCESS_TOKEN", raising=False)
        yield importlib.import_module("lean_dojo")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lemmas of a team's run."""
    place = tmp_path_factory.mktemp("run")
    run = ["run", "rev_rev", "--team", "tactician:2", "--time", "60", "--out", str(place / "run")]
    assert run_command(run) == 0
    (episode,) = (folder.name for folder in (place / "run" / "server" / "episodes").iterdir() if folder.is_dir())
    assert run_command(["lemma", "export", episode, str(place / "out"), "--data", str(place / "run" / "server")]) == 0
    return place / "out"


def test_positions_of_premises_are_those_of_lean_dojo(dojo: Any, exported: Path):
    root = exported / "repository"
    for line in (exported / "corpus.jsonl").read_text().splitlines():
        row = json.loads(line)
        file = dojo.LeanFile(root, Path(row["path"]))
        assert row["premises"]
        for premise in row["premises"]:
            text = file[dojo.Pos(*premise["start"]) : dojo.Pos(*premise["end"])]
            assert premise["full_name"].rpartition(".")[2] in text
            assert "".join(premise["code"].split())[:30] in "".join(text.split())


def test_every_theorem_of_a_split_is_one_of_the_repository(dojo: Any, exported: Path):
    repo = dojo.LeanGitRepo.from_path(exported / "repository")
    rows = [
        row
        for name in ("train", "val", "test")
        for row in json.loads((exported / "random" / f"{name}.json").read_text())
    ]

    assert repo.exists()
    assert repo.lean_version == "v4.35.0"
    assert rows
    for row in rows:
        assert dojo.LeanGitRepo(row["url"], row["commit"]) == repo
        assert dojo.Theorem(repo, row["file_path"], row["full_name"]).uid.endswith(row["full_name"])
        assert dojo.Pos(*row["start"]) < dojo.Pos(*row["end"])


def test_open_theorems_of_a_repository_become_problems(dojo: Any, tmp_path: Path):
    repository = tmp_path / "mine"
    (repository / "Mine").mkdir(parents=True)
    (repository / "lean-toolchain").write_text("leanprover/lean4:v4.35.0\n")
    (repository / "lakefile.toml").write_text('name = "mine"\n')
    (repository / "Mine" / "Basic.lean").write_text(MINE)
    identity = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "Mine"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    assert run_command(["lemma", "problems", str(repository), str(tmp_path / "out")]) == 0

    (row,) = json.loads((tmp_path / "out" / "theorems.json").read_text())
    assert row["full_name"] == "Mine.easy"
    repo = dojo.LeanGitRepo(row["url"], row["commit"])
    assert dojo.Theorem(repo, row["file_path"], row["full_name"]).uid == row["uid"]
    assert load_problem(str(tmp_path / "out" / row["file"])).theorem == "easy"
    assert (tmp_path / "out" / "problems.txt").read_text() == f"{row['file']}\n"
