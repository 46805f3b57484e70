"""Modules compiled in parts: a project on them is served like any other, and parts that do not fit are refused."""

import json
import struct
from pathlib import Path

import anyio
import pytest

from adapter_server.cli.main import run_command
from bus.errors import BadProblem, LeanUnavailable
from lemma_store.judge import start_judge
from lemma_store.lean.olean import read_parts
from lemma_store.lean.project import open_project
from lemma_store.refusals import Refused
from lemma_store.terms import Terms
from tests.lemma_store.forge import VERSION
from tests.lemma_store.mutations import mutate
from tests.project.assembled import Assembled, compile_module, copy_project
from tests.project.in_parts import BASIC

pytestmark = pytest.mark.timeout(400)

PROOF = """prelude
import Proj.Left
import Proj.Right
open Proj
theorem two_leaves : Tree.size (.node .leaf .leaf) = 2 := by rw [Tree.size, size_leaf]
theorem mirror_mirror (t : Tree) : t.mirror.mirror = t := by
  induction t with
  | leaf => rfl
  | node l r hl hr => rw [left, right, hl, hr]
"""
BUILD = ".lake/build/lib/lean"
PARTS = ("Basic.olean", "Basic.olean.server", "Basic.olean.private")
DAMAGED = 300


@pytest.fixture(autouse=True)
def _on_path(in_parts: Assembled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", in_parts.path)


@pytest.fixture
def twin(in_parts: Assembled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project; its folder of the compiled modules `Proj.…`."""
    copy = copy_project(in_parts, tmp_path)
    monkeypatch.setenv("PATH", copy.path)
    return copy.folder / BUILD / "Proj"


def refused_start(twin: Path) -> str:
    """Why no judge starts on `Proj.Basic` of a copy."""
    project = open_project(twin.parents[4])

    async def start() -> None:
        async with start_judge(project.toolchain, project.library(["Proj.Basic"])):
            raise AssertionError("it started")

    with pytest.raises(LeanUnavailable, match=r"did not start: .*Proj/Basic\.olean: ") as caught:
        anyio.run(start)
    return caught.value.message


def test_a_file_that_imports_modules_in_parts_is_verified(
    in_parts: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """It uses what is private to its module, and left and right each prove the equation of `mirror` that they use."""
    path = tmp_path / "Mine.lean"
    path.write_text(PROOF)

    for theorem in ("two_leaves", "mirror_mirror"):
        code = run_command(["verify", str(path), "--theorem", theorem, "--project", str(in_parts.folder)])
        out = capsys.readouterr().out
        assert code == 0, out
        assert f"proved: {theorem}" in out


def certificate_of_a_team(project: Assembled, out: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The certificate of the project's `mirror_mirror`, which a team proves from the command line."""
    options = ["--team", "tactician:2", "--time", "60", "--out", str(out), "--json"]
    code = run_command(["run", "--project", str(project.folder), "--theorem", "mirror_mirror", *options])
    said = capsys.readouterr()
    assert code == 0, said.err + said.out
    (certificate,) = out.rglob("certificate.json")
    return certificate


@pytest.mark.slow
def test_a_team_proves_an_open_theorem_on_modules_in_parts(
    in_parts: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out, project = tmp_path / "run", ["--project", str(in_parts.folder)]
    certificate = certificate_of_a_team(in_parts, out, capsys)

    assert json.loads(certificate.read_text())["library"].startswith("project-")
    assert run_command(["verify", str(out), *project]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("part", PARTS[1:])
def test_a_missing_part_is_named(part: str, twin: Path):
    (twin / part).unlink()

    with pytest.raises(BadProblem, match=rf"{part} is missing"):
        open_project(twin.parents[4]).library(["Proj"])


def test_parts_that_a_module_left_behind_are_not_read(twin: Path, in_parts: Assembled):
    """It is compiled as a whole now; Lean does not look at them either."""
    text = BASIC.replace("module\n", "", 1).replace("public ", "").replace("section\n", "").replace("@[expose] ", "")
    folder, build = twin.parents[4], twin.parent
    compile_module("Proj/Basic", text, folder=folder, into=build, prefix=in_parts.prefix)
    assert (twin / PARTS[2]).is_file()

    modules = open_project(folder).library(["Proj.Basic"]).modules
    assert modules[-1].more == ()
    assert len(modules[0].more) == 2


@pytest.mark.parametrize("place", ["before the parts", "between two parts", "behind the parts"])
def test_a_private_part_whose_pointers_leave_its_regions_is_refused(place: str, twin: Path):
    first, private = (twin / PARTS[0]).read_bytes(), bytearray((twin / PARTS[2]).read_bytes())
    base, root = struct.unpack_from("<QQ", private, 80)
    (constants,) = struct.unpack_from("<Q", private, root - base + 24)
    lowest = int.from_bytes(first[80:88], "little")
    target = {"before the parts": lowest - 8, "between two parts": lowest + len(first) + 8}.get(place, base + (1 << 30))
    struct.pack_into("<Q", private, constants - base + 24, target)
    (twin / PARTS[2]).write_bytes(private)

    assert "leaves its region" in refused_start(twin)


def test_a_part_of_another_build_is_refused(twin: Path, in_parts: Assembled):
    """It is of the same module with another constant; and of the same with so much more that it lies elsewhere."""
    old = (twin / PARTS[2]).read_bytes()
    folder, build = twin.parents[4], twin.parent
    compile_module("Proj/Basic", BASIC.replace("mirror", "turned"), folder=folder, into=build, prefix=in_parts.prefix)
    (twin / PARTS[2]).write_bytes(old)
    assert refused_start(twin)

    (twin / PARTS[0]).write_bytes((twin / PARTS[0]).read_bytes() + bytes(1 << 16))
    with pytest.raises(BadProblem, match="does not lie where the part before it ends"):
        open_project(folder).library(["Proj"])


def test_a_change_of_any_part_is_another_library(twin: Path):
    project = open_project(twin.parents[4])
    found = [project.library(["Proj"]).id]
    for part in PARTS:
        (twin / part).write_bytes((twin / part).read_bytes() + bytes(8))
        found.append(project.library(["Proj"]).id)

    assert len(set(found)) == 4


def test_damaged_parts_are_refused_or_read_as_well_formed_terms(twin: Path):
    parts = [(twin / part).read_bytes() for part in PARTS]
    refused = 0
    for seed in range(DAMAGED):
        which, data = mutate(seed, parts)
        terms = Terms()
        try:
            found = read_parts([*parts[:which], data, *parts[which + 1 :]], terms, version=VERSION)
        except Refused:
            refused += 1
        else:
            assert not any(terms.loose(item.type) for item in found.declarations.values())
    assert refused > DAMAGED // 4
