"""Open theorems in a person's own Lean files."""

from pathlib import Path

import pytest

from bus.errors import BadProblem
from scenarios.lean.open_theorems import find_theorem, open_theorems

TEXT = """import Proj.Basic
-- theorem hidden : True := by sorry
namespace Proj
noncomputable section
mutual
end
variable (n : Nat)
theorem done : n = n := rfl
@[simp] theorem first : n = n := by
  sorry
end
namespace Deep.Er
theorem first (m : Nat) : m + 0 = m := sorry
end Deep.Er
def after : Nat := 1
theorem last : after = 1 := by sorry
end Proj
lemma outside : 1 = 1 := by sorry
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Proj.lean").write_text(TEXT)
    built = tmp_path / ".lake" / "packages"
    built.mkdir(parents=True)
    (built / "Other.lean").write_text("theorem last : 1 = 1 := by sorry\n")
    return tmp_path


def test_open_theorems_are_known_by_their_namespaces(project: Path):
    names = [found.name for found in open_theorems(project / "Proj.lean")]

    assert names == ["Proj.first", "Proj.Deep.Er.first", "Proj.last", "outside"]


def test_a_theorem_is_posed_with_what_stands_above_it_and_nothing_below(project: Path):
    found = find_theorem(project, "Er.first")

    assert found.theorem == "Proj.Deep.Er.first"
    assert found.source.startswith("import Proj.Basic\n")
    assert found.source.endswith("theorem first (m : Nat) : m + 0 = m := sorry\n")
    assert found.origin == str(project / "Proj.lean")


def test_other_open_theorems_above_are_left_out_with_all_that_belongs_to_them(tmp_path: Path):
    path = tmp_path / "Many.lean"
    path.write_text(
        "def one : Nat := 1 -- kept or not\n\n/-- It says\nmuch. -/\nset_option maxRecDepth 9 in\nopen Nat in\n"
        "@[simp] theorem above : one = 1 := by\n  sorry\ntheorem proved : 1 = 1 := rfl\n/-- Mine. -/\n"
        "theorem below : one = 1 := by sorry\n"
    )
    source = find_theorem(path, "below").source
    assert source.startswith("def one : Nat := 1")
    assert source.endswith("\ntheorem proved : 1 = 1 := rfl\n/-- Mine. -/\ntheorem below : one = 1 := by sorry\n")
    assert not any(word in source for word in ("much", "maxRecDepth", "open", "above"))


def test_what_lake_has_fetched_is_not_searched(project: Path):
    assert find_theorem(project, "last").theorem == "Proj.last"


@pytest.mark.parametrize(
    ("name", "message"),
    [("first", "has 2 such open theorems: Proj.first"), ("done", "no open theorem done"), (None, "has 4 such open")],
)
def test_a_name_that_names_no_single_open_theorem_is_refused(name: str | None, message: str, project: Path):
    with pytest.raises(BadProblem, match=message):
        find_theorem(project, name)


def test_a_folder_that_is_not_there_is_said_to_be_so(tmp_path: Path):
    with pytest.raises(BadProblem, match="is no folder"):
        find_theorem(tmp_path / "missing", "t")
