"""A library too large to be replayed: Lean imports it, and everything else is judged as it is otherwise."""

import json
from pathlib import Path

import anyio
import pytest

from adapter_server.cli.main import run_command
from bus.errors import BadProblem, LeanUnavailable
from lemma_store.judge import start_judge
from lemma_store.lean.core_library import CoreLibrary, CoreModule
from lemma_store.lean.olean import read_parts
from lemma_store.lean.project import Project, open_project
from lemma_store.tasks import Admit, Answer
from lemma_store.terms import Terms
from tests.lemma_store.forge import VERSION, Forge
from tests.project.assembled import Assembled, compile_module, copy_project
from tests.project.test_parts import BUILD, PROOF, certificate_of_a_team

pytestmark = pytest.mark.timeout(400)

CHEAT = """module
prelude
public import MiniCore
public section
axiom cheat : False
private theorem hidden : False := cheat
theorem cheated (p : Prop) : p := False.elim hidden
theorem honest (p q : Prop) (h : p ↔ q) : p = q := propext h
end
"""
NOTHING = "module\nprelude\npublic section\ninductive Nothing : Prop\nend\n"


@pytest.fixture(autouse=True)
def _everything_is_too_large(in_parts: Assembled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", in_parts.path)
    monkeypatch.setenv("ADAPTER_REPLAY_MB", "0")


@pytest.fixture
def twin(in_parts: Assembled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A copy of the project with two more modules."""
    copy = copy_project(in_parts, tmp_path)
    monkeypatch.setenv("PATH", copy.path)
    for name, text in (("Proj/Cheat", CHEAT), ("Proj/Nothing", NOTHING)):
        compile_module(name, text, folder=copy.folder, into=copy.folder / BUILD, prefix=copy.prefix)
    return open_project(copy.folder)


def verified(path: Path, text: str, project: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    path.write_text(text)
    code = run_command(["verify", str(path), "--project", str(project)])
    return code, capsys.readouterr().out


def admitted(project: Project, core: CoreLibrary, path: Path) -> Answer:
    async def ask() -> Answer:
        async with start_judge(project.toolchain, core) as judge:
            return await judge.ask(Admit(module="L.forged", path=str(path)))

    return anyio.run(ask)


def test_a_file_on_an_imported_library_is_verified_and_it_is_said_that_it_was_imported(
    in_parts: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    code, out = verified(tmp_path / "Mine.lean", PROOF, in_parts.folder, capsys)

    assert code == 0, out
    assert "proved: mirror_mirror : ∀ (t : Proj.Tree), Proj.Tree.mirror (Proj.Tree.mirror t) = t" in out
    assert "Lean imported it, unchecked" in out


def test_axioms_are_found_behind_theorems_of_the_library(
    twin: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    head = "prelude\nimport Proj.Cheat\n"
    code, out = verified(tmp_path / "One.lean", f"{head}theorem t : 1 = 2 := cheated _\n", twin.folder, capsys)
    assert (code, "the proof rests on cheat" in out) == (1, True), out

    code, out = verified(tmp_path / "Two.lean", f"{head}theorem t (h : True ↔ True) : True = True := honest _ _ h\n",
                         twin.folder, capsys)  # fmt: skip
    assert (code, "axioms: propext" in out) == (0, True), out


def test_every_constant_of_an_imported_library_is_what_a_replay_finds(
    in_parts: Assembled, monkeypatch: pytest.MonkeyPatch
):
    """Its kind, its statement and the axioms that it rests on."""
    project = open_project(in_parts.folder)
    imported = project.library(["Proj"])
    monkeypatch.delenv("ADAPTER_REPLAY_MB")
    replayed = project.library(["Proj"])
    names = [name for module in imported.modules for name in constants_of(module)]

    async def look_up(core: CoreLibrary) -> list[tuple[object, ...]]:
        async with start_judge(project.toolchain, core) as judge:
            found = [(await judge.look_up(name)).judged for name in names]
        return [(item.statement_hash, item.pretty, item.is_theorem, item.axioms) for (item,) in filter(None, found)]

    one, two = anyio.run(look_up, imported), anyio.run(look_up, replayed)
    assert one == two
    assert len(one) > len(names) * 3 // 4


def constants_of(module: CoreModule) -> list[str]:
    parts = [path.read_bytes() for path in (module.artifact, *module.more)]
    return [item.text for item in read_parts(parts, Terms(), version=VERSION).declarations.values()]


@pytest.mark.parametrize("name", ["t", "False.elim", "Proj.Tree.mirror"])
def test_a_forged_proof_and_a_second_declaration_of_a_name_are_refused(name: str, twin: Project, tmp_path: Path):
    """The kernel checks what comes after the library as it does otherwise."""
    forge = Forge()
    is_true = name != "t"
    claim = forge.constant("True" if is_true else "False")
    forged = forge.theorem(name.split("."), claim, forge.constant("True", "intro"))
    path = tmp_path / "forged.olean"
    path.write_bytes(forge.module([forged], imports=["Proj.Basic"]))

    found = admitted(twin, twin.library(["Proj.Basic"]), path)

    assert found.status == "refused"
    assert ("declared already" if is_true else "the kernel refuses t") in found.reason


def test_a_library_without_the_quotient_of_the_core_is_not_imported(twin: Project, tmp_path: Path):
    with pytest.raises(LeanUnavailable, match="does not have Quot of Lean's core"):
        admitted(twin, twin.library(["Proj.Nothing"]), tmp_path)


@pytest.mark.slow
def test_a_team_proves_an_open_theorem_on_an_imported_library(
    in_parts: Assembled, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    out, project = tmp_path / "run", ["--project", str(in_parts.folder)]
    certificate = certificate_of_a_team(in_parts, out, capsys)

    assert json.loads(certificate.read_text())["basis"] == "imported"
    code = run_command(["verify", str(out), *project])
    said = capsys.readouterr().out
    assert code == 0, said
    assert "Lean imported it, unchecked" in said

    monkeypatch.delenv("ADAPTER_REPLAY_MB")
    code = run_command(["verify", str(out), *project])
    said = capsys.readouterr().out
    assert code == 0, said
    assert "unchecked" not in said

    certificate.write_text(certificate.read_text().replace('"imported"', '"replayed"'))
    monkeypatch.setenv("ADAPTER_REPLAY_MB", "0")
    assert run_command(["verify", str(out), *project]) == 1
    assert "the certificate says basis replayed, not imported" in capsys.readouterr().out


def test_a_limit_that_is_no_number_is_said_to_be_so(in_parts: Assembled, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ADAPTER_REPLAY_MB", "much")

    with pytest.raises(BadProblem, match="ADAPTER_REPLAY_MB is 'much'"):
        open_project(in_parts.folder).library(["Proj"])
