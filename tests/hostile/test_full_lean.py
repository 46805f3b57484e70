"""Loopholes that need a full Lean distribution, with honest twins: run where `lean` and `lake` of a known build are.

The core library that ships here has no `IO`, no code generator and no `run_cmd`, so these texts mean nothing in it.
"""

import json
import shutil
from pathlib import Path

import pytest

from adapter_server.cli.main import run_command
from bus.errors import AdapterError
from lemma_store.lean.project import open_project

IN_PARTS = "compiled in parts"
"""What the judge says of official toolchains until it reads the parts of a module; never a proof."""

HOSTILE = {
    "15 the kernel is skipped by meta code": """import Lean
open Lean Elab Command
set_option debug.skipKernelTC true
run_cmd liftCoreM <| addDecl <| .thmDecl
  { name := `trick, levelParams := [], type := mkConst ``False, value := mkConst ``True.intro }
theorem t : 1 = 2 := trick.elim
""",
    "16 a declaration is added without a check": """import Lean
open Lean Elab Command
run_cmd do
  let value : Declaration := .thmDecl
    { name := `trick, levelParams := [], type := mkConst ``False, value := mkConst ``True.intro }
  match (← getEnv).addDeclCore 0 value none (doCheck := false) with
  | .ok env => setEnv env
  | .error _ => pure ()
theorem t : 1 = 2 := trick.elim
""",
    "12 the compiler is lied to": """def five : Nat := 5
@[implemented_by five] def four : Nat := 4
theorem t : four = 5 := by native_decide
""",
    "11 the compiler is trusted": "theorem t : (List.range 700).length = 700 := by native_decide\n",
    "67 code runs at elaboration": """import Lean
run_cmd do IO.FS.writeFile "PLACE/written" "outside"
theorem t : 1 = 2 := by exact sorryAx _ true
""",
    "73 a file is written by #eval": '#eval IO.FS.writeFile "PLACE/written" "outside"\ntheorem t : 1 = 2 := by sorry\n',
}
TWINS = {
    "decide": "theorem t : (List.range 7).length = 7 := by decide\n",
    "omega": "theorem t (a b : Nat) (h : a < b) : a + 1 ≤ b := by omega\n",
    "grind": "theorem t (a b c : Nat) (h : a = b) (k : b = c) : a = c := by grind\n",
    "meta code that proves nothing": 'import Lean\nrun_cmd Lean.logInfo "hello"\ntheorem t : 1 = 1 := rfl\n',
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty Lake project that uses the system's toolchain."""
    if shutil.which("lake") is None:
        pytest.skip("no Lean distribution is installed")
    folder = tmp_path_factory.mktemp("project")
    (folder / "lakefile.toml").write_text('name = "empty"\n')
    try:
        open_project(folder)
    except AdapterError as error:
        pytest.skip(error.message)
    return folder


def verified(text: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    path = tmp_path / "Text.lean"
    path.write_text(text.replace("PLACE", str(tmp_path)))
    code = run_command(["verify", str(path), "--project", str(project), "--json"])
    return code, " ".join(json.loads(capsys.readouterr().out)["reasons"])


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_only_a_full_lean_can_try_proves_nothing(
    text: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    code, reasons = verified(text, project, tmp_path, capsys)

    assert code == 1
    assert reasons
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize("text", TWINS.values(), ids=TWINS.keys())
def test_honest_texts_of_a_full_lean_are_proved(
    text: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    code, reasons = verified(text, project, tmp_path, capsys)

    if IN_PARTS in reasons:
        pytest.skip(reasons)
    assert code == 0, reasons
