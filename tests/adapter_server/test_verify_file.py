"""`adapter-server verify FILE.lean`: what a theorem of a bare file is worth, through the command."""

import json
from pathlib import Path

import pytest

from adapter_server.cli.main import run_command

pytestmark = pytest.mark.timeout(200)

HONEST = """/- Lists of our own. -/
import MiniCore

inductive lst (a : Type) where
  | nil
  | cons (x : a) (xs : lst a)
def app {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => .cons x (app xs ys)
namespace Deep
theorem app_nil {a : Type} (xs : lst a) : app xs .nil = xs := by induction xs <;> simp_all [app]
end Deep
theorem other : True := True.intro
"""
HIJACKED = """instance (priority := 2000) other : HAdd Nat Nat Nat := ⟨fun a _ => a⟩
theorem add_is_first (a b : Nat) : a + b = a := rfl
"""


def verified(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> tuple[int, str]:
    code = run_command(["verify", str(path), *options])
    return code, capsys.readouterr().out


def test_a_proved_theorem_is_told_with_statement_axioms_and_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "honest.lean"
    path.write_text(HONEST)

    code, out = verified(capsys, path, "--theorem", "Deep.app_nil", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["is_proved"] is True
    assert found["statement"] == "∀ {a : Type} (xs : lst a), app xs lst.nil = xs"
    assert set(found["axioms"]) <= {"propext", "Quot.sound"}
    assert found["kernels"][0].startswith("lean 4.35.0 (")


def test_a_hijacked_statement_is_printed_as_the_kernel_sees_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "hijacked.lean"
    path.write_text(HIJACKED)

    code, out = verified(capsys, path)

    assert code == 0
    assert out.startswith("proved: add_is_first : ∀ (a b : Nat), @HAdd.hAdd Nat Nat Nat other a b = a\naxioms: none\n")
    assert "\nkernels: lean 4.35.0 (" in out


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"theorem t : 1 = 2 := by sorry", "the proof uses sorry"),
        (b"set_option debug.skipKernelTC true in\ntheorem t : 1 = 2 := by decide +kernel", "the kernel refuses t"),
        (b"\n\ntheorem t : 1 = 2 := rfl", "line 3: "),
        (b"def t := 1", "the file has no theorem"),
        (b"import Mathlib\ntheorem t : 1 = 1 := rfl", "the file imports Mathlib"),
        (b"theorem t : 1 = 1 := rfl\n-- \xff", "is not UTF-8"),
    ],
)
def test_what_is_no_proof_is_not_proved_and_says_why(
    source: bytes, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "bad.lean"
    path.write_bytes(source)

    code, out = verified(capsys, path)

    assert code == 1
    assert out.startswith("not proved")
    assert reason in out
