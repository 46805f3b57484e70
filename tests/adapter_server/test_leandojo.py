"""Lemmas in LeanDojo's form. `tests/dojo` reads them with the real package."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapter_server.leandojo import export_leandojo
from bus.errors import BadArguments
from lemma_store.types import Lemma, Problem, Statement

PROBLEM = Problem(
    episode="e",
    theorem="target",
    statement=Statement(text="dbl 0 = 0", pretty="dbl 0 = 0", hash="h"),
    source="/-- Doubles. -/\ndef dbl : Nat → Nat\n  | 0 => 0\n  | n + 1 => dbl n + 2  -- twice\n",
    names=("dbl",),
)


def lemma(number: int, *uses: str) -> Lemma:
    name = f"fact{number}_abcdef"
    statement = Statement(text="", pretty=f"dbl {number} = {2 * number}", hash=f"hash{number}")
    source = f"theorem {name} (h : (1 : Nat) = 1 := by rfl) : dbl {number} = {2 * number} := by\n  rfl -- so"
    return Lemma(
        id=f"l{number}", name=name, author_name="fact", author="ada", statement=statement, source=source, uses=uses
    )


UNITS = [lemma(1), *(lemma(number, "l1") for number in range(2, 10)), lemma(10, "l9")]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_declaration_is_a_premise_at_its_place(tmp_path: Path):
    done = export_leandojo(PROBLEM, UNITS, tmp_path / "out", version="4.35.0")

    problem, lemmas = rows(tmp_path / "out" / "corpus.jsonl")
    assert (problem["path"], problem["imports"]) == ("Problem.lean", [])
    assert (lemmas["path"], lemmas["imports"]) == ("Lemmas.lean", ["Problem.lean"])
    assert [one["full_name"] for one in problem["premises"]] == ["dbl"]
    assert "twice" not in problem["premises"][0]["code"]
    first: dict[str, Any] = lemmas["premises"][0]
    assert first["code"] == "theorem fact1_abcdef (h : (1 : Nat) = 1 := by rfl) : dbl 1 = 2"
    text = (tmp_path / "out" / "repository" / "Lemmas.lean").read_text().split("\n")
    assert text[first["start"][0] - 1][first["start"][1] - 1 :][:20] == "theorem fact1_abcdef"
    assert done.premises == 11


@pytest.mark.parametrize("split", ["random", "novel_premises"])
def test_a_split_holds_every_lemma_once(split: str, tmp_path: Path):
    done = export_leandojo(PROBLEM, UNITS, tmp_path / "out", version="4.35.0")

    parts = {
        name: json.loads((tmp_path / "out" / split / f"{name}.json").read_text()) for name in ("train", "val", "test")
    }
    assert {name: len(part) for name, part in parts.items()} == {"train": 6, "val": 2, "test": 2}
    names = [row["full_name"] for part in parts.values() for row in part]
    assert sorted(names) == sorted(unit.name for unit in UNITS)
    assert {row["commit"] for part in parts.values() for row in part} == {done.commit}
    if split == "novel_premises":
        assert "fact10_abcdef" in [row["full_name"] for row in parts["test"]]


def test_the_same_lemmas_make_the_same_commit(tmp_path: Path):
    commits = {export_leandojo(PROBLEM, UNITS, tmp_path / name, version="4.35.0").commit for name in ("a", "b")}

    assert len(commits) == 1
    with pytest.raises(BadArguments, match="is there already"):
        export_leandojo(PROBLEM, UNITS, tmp_path / "a", version="4.35.0")
