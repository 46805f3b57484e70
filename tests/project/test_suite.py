"""A suite over the open theorems of a Lake project."""

import json
from pathlib import Path

import pytest

from adapter_server.cli.main import run_command
from scenarios.lean.suite_folder import SuiteFolder
from scenarios.lean.suite_tasks import find_open_theorems, task_problem
from tests.project.assembled import Assembled

pytestmark = pytest.mark.timeout(400)

MORE = """prelude
import Proj.Basic
namespace Proj
def Tree.twice (t : Tree) : Tree := t.mirror.mirror
theorem twice_leaf : Tree.twice .leaf = .leaf := by sorry
theorem twice_same (t : Tree) : t.twice = t := sorry
end Proj
"""


@pytest.fixture(autouse=True)
def _on_path(assembled: Assembled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", assembled.path)


@pytest.fixture
def more(tmp_path: Path) -> Path:
    path = tmp_path / "More.lean"
    path.write_text(MORE)
    return path


def test_every_open_theorem_of_the_project_or_of_the_named_files_is_a_task(assembled: Assembled, more: Path):
    project = assembled.folder
    whole = find_open_theorems(project, [])
    assert [(task.id, task.family) for task in whole] == [("Proj/Proj.mirror_mirror", "Proj")]
    named = find_open_theorems(project, [Path("Proj.lean"), more])
    assert [task.id for task in named] == [
        "Proj/Proj.mirror_mirror", "More/Proj.twice_leaf", "More/Proj.twice_same"
    ]  # fmt: skip
    assert find_open_theorems(project, [more], only="twice_s*") == [named[2]]
    assert task_problem(named[1]).source == MORE[: MORE.index("theorem twice_same")]


@pytest.mark.slow
def test_a_suite_proves_a_projects_theorems_and_verifies_them(
    assembled: Assembled, more: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = SuiteFolder(tmp_path / "suite")
    options = ["--team", "tactician:2", "--time", "60", "--out", str(folder.path), "--verify", "--json"]
    code = run_command(["bench", "--project", str(assembled.folder), str(more), *options])
    said = capsys.readouterr()
    assert code == 0, said.err
    found = json.loads(said.out)
    assert found["outcomes"] == {"More/Proj.twice_leaf": "solved", "More/Proj.twice_same": "solved"}, said.err
    assert (found["verified"], found["not_verified"]) == (2, {})
    folder.record_file("More/Proj.twice_leaf").unlink()

    assert run_command(["bench", "--resume", "--out", str(folder.path)]) == 0
    said = capsys.readouterr()
    assert "1 of 2 episodes were done before" in said.err
    assert ", project-" in folder.record("More/Proj.twice_leaf").lean


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--only", "nothing"), "there is no problem to work on"),
        (("missing",), "does not exist"),
        (("compare",), "bench compare takes no --project"),
        (("--resume", "--out", "suite"), "--resume knows its project"),
    ],
)
def test_what_a_project_does_not_hold_is_refused(
    args: tuple[str, ...],
    message: str,
    assembled: Assembled,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert run_command(["bench", "--project", str(assembled.folder), *args]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
