"""A Lake project with a toolchain of its own: found, checked, used, or refused with a reason."""

import json
from pathlib import Path

import pytest

from adapter_server.cli.main import run_command
from bus.errors import BadProblem, LeanUnavailable
from lemma_store.lean.project import open_project
from tests.project.assembled import Assembled

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(autouse=True)
def _on_path(assembled: Assembled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", assembled.path)


PROOF = """prelude
import Proj.Basic
open Proj
theorem mirror_mirror (t : Tree) : t.mirror.mirror = t := by
  induction t with
  | leaf => rfl
  | node l r hl hr => simp [Tree.mirror, hl, hr]
"""


def test_the_toolchain_is_known_by_version_commit_and_bytes(assembled: Assembled):
    project = open_project(assembled.folder)

    assert project.toolchain.version == "4.35.0"
    assert project.toolchain.library == assembled.prefix / "lib/lean/libleanshared.so"
    assert project.search_path[-1] == assembled.prefix / "lib/lean"
    modules = [module.name for module in project.library(["Proj"]).modules]
    assert modules[-2:] == ["Proj.Basic", "Proj"]
    assert "MiniCore" in modules


def test_a_file_that_imports_the_project_is_verified(
    assembled: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "Mine.lean"
    path.write_text(PROOF)

    code = run_command(["verify", str(path), "--project", str(assembled.folder)])
    out = capsys.readouterr().out

    assert code == 0, out
    assert "proved: mirror_mirror : ∀ (t : Proj.Tree), Proj.Tree.mirror (Proj.Tree.mirror t) = t" in out
    assert "kernels: lean 4.35.0 (lean-4.35.0-" in out


def test_a_theorem_on_a_part_of_the_core_that_leaves_names_free_is_not_judged(
    assembled: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "Mine.lean"
    path.write_text("prelude\nimport MiniCore.Prim\ntheorem t : True := True.intro\n")

    assert run_command(["verify", str(path), "--project", str(assembled.folder)]) == 1
    assert "which the kernel computes specially" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("Lean (version 4.36.0, x86_64, commit eb6cafb7290e8bd5f2937522d8d804f58f02bafc, Release)", "its library is"),
        ("something else", "does not say its version"),
    ],
)
def test_another_or_an_unknown_version_is_refused(
    told: str, reason: str, assembled: Assembled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    other = tmp_path / "bin"
    other.mkdir()
    (other / "lake").write_text(
        f'#!/bin/sh\n[ "$3" = --version ] && echo "{told}" || exec {assembled.prefix}/bin/lake "$@"\n'
    )
    (other / "lake").chmod(0o755)
    monkeypatch.setenv("PATH", f"{other}:{assembled.path}")

    with pytest.raises(LeanUnavailable, match=reason):
        open_project(assembled.folder)


@pytest.fixture
def run_folder(assembled: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The folder of a solved run on the open theorem of the project."""
    out = tmp_path / "run"
    options = ["--team", "tactician:2", "--time", "60", "--out", str(out), "--json"]
    code = run_command(["run", "--project", str(assembled.folder), "--theorem", "mirror_mirror", *options])
    said = capsys.readouterr()
    assert code == 0, said.err + said.out
    return out


@pytest.mark.slow
def test_a_team_proves_an_open_theorem_of_the_project(
    run_folder: Path, assembled: Assembled, capsys: pytest.CaptureFixture[str]
):
    """Its type and its function are in a module that it imports; agents read that module's text."""
    (certificate,) = run_folder.rglob("certificate.json")
    facts = json.loads(certificate.read_text())
    assert facts["theorem"] == "Proj.mirror_mirror"
    assert facts["library"].startswith("project-")
    assert facts["axioms"] == ["propext"] or facts["axioms"] == []

    assert run_command(["verify", str(run_folder)]) == 1
    assert "rests on a Lake project; name it with --project" in capsys.readouterr().out
    code = run_command(["verify", str(run_folder), "--project", str(assembled.folder)])
    out = capsys.readouterr().out
    assert code == 0, out
    assert "proved: Proj.mirror_mirror : ∀ (t : Proj.Tree), Proj.Tree.mirror (Proj.Tree.mirror t) = t" in out


@pytest.mark.parametrize(("code", "is_proved"), [(0, True), (1, False)])
def test_a_leanchecker_of_the_toolchain_has_a_say(
    code: int, is_proved: bool, assembled: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A stand-in: there is no real one in the wheel. It is asked about the file's module, where Lean would find it."""
    checker = assembled.prefix / "bin" / "leanchecker"
    checker.write_text(
        f'#!/bin/sh\n[ -f "${{LEAN_PATH##*:}}/L/File.olean" ] || exit 9\necho said no $1 >&2; exit {code}\n'
    )
    checker.chmod(0o755)
    (tmp_path / "Mine.lean").write_text(PROOF)
    try:
        done = run_command(["verify", str(tmp_path / "Mine.lean"), "--project", str(assembled.folder)])
    finally:
        checker.unlink()
    out = capsys.readouterr().out

    assert (done == 0) is is_proved, out
    assert ("kernels: lean 4.35.0 (lean-4.35.0-" in out and ", leanchecker of lean 4.35.0" in out) is is_proved
    assert ("leanchecker refuses the proof: said no L.File" in out) is not is_proved


def test_the_embedded_lean_knows_no_module_of_a_project(
    assembled: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "run"
    path = str(assembled.folder / "Proj.lean")
    assert run_command(["run", path, "--theorem", "mirror_mirror", "--out", str(out)]) == 2
    assert "the file imports Proj.Basic" in capsys.readouterr().err
    assert not out.exists()


def test_a_folder_without_a_lakefile_or_a_build_is_said_to_be_so(assembled: Assembled, tmp_path: Path):
    with pytest.raises(BadProblem, match="no lakefile"):
        open_project(tmp_path)
    with pytest.raises(BadProblem, match=r"no compiled module Proj\.Missing"):
        open_project(assembled.folder).library(["Proj.Missing"])
