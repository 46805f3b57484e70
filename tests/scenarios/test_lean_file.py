"""A Lean file is a problem when its last declaration is its only open theorem."""

from pathlib import Path

import pytest

from bus.errors import BadProblem
from scenarios.lean.lean_file import read_lean, without_comments
from scenarios.lean.problem_files import load_problem, shipped_problems

GOOD = """/- Two is two; a comment may say sorry /- even nested -/ . -/
def two : Nat := 2 -- sorry

theorem easy : two = 2 := rfl

theorem hard (n : Nat) :
    n + two = two + n := by
  sorry
"""


def test_definitions_and_one_open_theorem_are_a_problem() -> None:
    problem = read_lean(GOOD, name="sums")
    assert (problem.name, problem.theorem, problem.source) == ("sums", "hard", GOOD)


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm() -> None:
    assert read_lean("\ufeff" + GOOD.replace("\n", "\r\n"), name="sums").source == GOOD


def test_a_term_sorry_is_as_good() -> None:
    assert read_lean("theorem t : 1 = 1 := sorry", name="t").theorem == "t"


def test_the_core_library_may_be_imported_by_name() -> None:
    assert read_lean("prelude\nimport MiniCore\n" + GOOD, name="sums").theorem == "hard"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file states no theorem"),
        ("def x : Nat := 1", "the file states no theorem"),
        ("-- theorem t : 1 = 1 := by sorry", "the file states no theorem"),
        ("theorem t : 1 = 1 := rfl", "line 1, column 1: the theorem t is not open: its proof has no `sorry`"),
        ("theorem t : 1 = 1 := by sorry\ntheorem u : 1 = 1 := rfl", "line 2, column 1: the last theorem, u, is not"),
        ("theorem t : 1 = 1 := by sorry\n\ndef x := 1", "line 1, column 1: text follows the open theorem t in line 3"),
        ("theorem s : 1 = 2 := by sorry\ntheorem t : 1 = 1 := by sorry", "line 1, column 25: a second `sorry`"),
        ("def x : Nat := sorry\ntheorem t : x = x := by sorry", "line 1, column 16: a second `sorry`"),
        ("import Mathlib\ntheorem t : 1 = 1 := by sorry", "line 1, column 1: unsupported: import Mathlib"),
        ("private theorem t : 1 = 1 := by sorry", "line 1, column 1: the theorem to prove must be a plain `theorem`"),
        ("/- open\ntheorem t : 1 = 1 := by sorry", "line 1, column 1: this comment never ends"),
    ],
)  # fmt: skip
def test_any_other_shape_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BadProblem) as caught:
        read_lean(text, name="t")
    assert caught.value.message.startswith(message)


def test_blanking_comments_keeps_every_offset() -> None:
    blanked = without_comments(GOOD)
    assert len(blanked) == len(GOOD)
    assert blanked.count("\n") == GOOD.count("\n")
    assert blanked.count("sorry") == 1


def test_strings_hide_what_looks_like_a_comment() -> None:
    assert read_lean('def s := "/-"\ntheorem t : s = s := by sorry', name="t").theorem == "t"


def test_every_shipped_problem_is_one() -> None:
    assert len(shipped_problems()) >= 12
    for name in shipped_problems():
        assert load_problem(name).source.startswith("/-"), f"{name} names no source"


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "latin.lean").write_bytes(b"-- \xe9\n")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "huge.lean").write_text("-" * 1_000_001)
    (tmp_path / "broken.smt2").write_text("(prove")
    for name, complaint in [
        ("latin.lean", "not UTF-8 text: byte 3 is wrong"),
        ("notes.txt", "neither a TIP file (.smt2) nor a Lean file (.lean)"),
        ("huge.lean", "more than 1000000"),
        ("broken.smt2", "line 1, column 1: this parenthesis is never closed"),
        ("missing.lean", "does not exist"),
        (".", "is a folder"),
    ]:
        with pytest.raises(BadProblem) as caught:
            load_problem(str(tmp_path / name))
        assert complaint in caught.value.message
        assert str(tmp_path) in caught.value.message
