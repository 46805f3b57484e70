"""A Lake project with a toolchain of its own: found, checked, used, or refused with a reason."""

from pathlib import Path

import pytest

from adapter_server.cli.main import run_command
from bus.errors import BadProblem, LeanUnavailable
from lemma_store.lean.project import open_project
from tests.project.assembled import Assembled

pytestmark = pytest.mark.timeout(240)

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


def test_a_folder_without_a_lakefile_or_a_build_is_said_to_be_so(assembled: Assembled, tmp_path: Path):
    with pytest.raises(BadProblem, match="no lakefile"):
        open_project(tmp_path)
    with pytest.raises(BadProblem, match=r"no compiled module Proj\.Missing"):
        open_project(assembled.folder).library(["Proj.Missing"])
