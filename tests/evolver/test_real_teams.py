"""An evolution from the command line, with real teams: a technique that helps is measured, kept and released."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.cli.main import run_command
from adapter_server.staging import load_bundle
from scenarios.lean.problem_files import shipped_text

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PLAN = {"aa_pairs": 2, "screen_pairs": 0, "gate_pairs": 8, "confirm_pairs": 6, "guard_trials": 3}
NEED_A_LEMMA = (
    "even_plus_self", "length_append_comm", "mirror_size", "plus_comm", "rev_append", "rev_rev", "sort_length",
    "rev_onto", "sum_rev", "flatten_onto", "flatten_mirror",
)  # fmt: skip
"""Shipped problems that simplification alone leaves open."""

HELPS = {
    "component": "policy.json#/portfolio",
    "value": ["simp_all", "rewrite", "generalise", "explore"],
    "hypothesis": "lemmas close what simplification leaves open",
    "predictions": [{"metric": "solved", "relation": "at_least", "amount": 0.3}],
}


class Evolution:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def __call__(self, *words: object) -> Any:
        self._capsys.readouterr()
        code = run_command([*map(str, words), "--data", str(self._folder / "data"), "--json"])
        said = self._capsys.readouterr()
        assert code == 0, said
        return json.loads(said.out)

    def file(self, name: str, content: object) -> Path:
        file = self._folder / name
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return file

    def plain_version(self) -> Path:
        """The built-in version with one technique."""
        folder = self._folder / "plain"
        shutil.copytree(default_bundle_folder(), folder)
        policy = json.loads((folder / "policy.json").read_text(encoding="utf-8"))
        (folder / "policy.json").write_text(json.dumps(policy | {"portfolio": ["simp_all"]}), encoding="utf-8")
        return folder


def test_a_technique_that_helps_is_promoted_on_evidence_and_holds_on_sealed_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evolution = Evolution(tmp_path, capsys)
    plain = load_bundle(evolution.plain_version()).id
    evolution("adapter", "stage", tmp_path / "plain")
    evolution("adapter", "activate", plain)
    problems = [evolution.file(f"{name}.lean", shipped_text(name)) for name in NEED_A_LEMMA]
    evolution(
        "evolve", "init", *problems, "--team", "tactician:1", "--time", 8, "--checks", 25, "--auto",
        "--budget", "checks=3000", "--plan", evolution.file("plan.json", PLAN), "--shares", "36,55,0,9",
    )  # fmt: skip
    proposals = evolution.file("proposals.jsonl", json.dumps(HELPS))
    evolution("evolve", "run", "--proposer", f"scripted:{proposals}", "--rounds", 1)

    status = evolution("evolve", "status")
    assert (status["start"]["bundle"], status["promoted"]) == (plain, 1)
    assert status["proposals"]["p1"]["fate"] == "promoted"
    gate, _, confirm = (stage["result"]["facts"] for stage in status["proposals"]["p1"]["stages"])
    assert gate["e"] >= 10
    assert confirm["p"] <= 0.05
    assert 0 < confirm["gain"]["low"] <= confirm["gain"]["estimate"]
    assert evolution("adapter", "list")["in_use"] == status["champion"]
    changed = evolution("adapter", "diff", plain, status["champion"]["bundle"])["files"]
    assert [file["path"] for file in changed] == ["policy.json"]

    sealed = evolution("evolve", "seal", "open", "--by", "release")
    assert sealed["champion"]["checks"] > 0
    assert sealed["start"]["solved"] == 0
    assert evolution("evolve", "verify")["findings"] == []
