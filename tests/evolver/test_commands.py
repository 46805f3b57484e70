"""The commands on a real data folder with its real store; no episode is run here."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapter_server.cli.main import run_command
from adapter_server.evolver.ledger import open_ledger, read_ledger

PROBLEMS = Path(__file__).parents[2] / "scenarios" / "lean" / "problems"
PLAN = {"aa_pairs": 4, "screen_pairs": 4, "gate_pairs": 10, "confirm_pairs": 6}


class Evolve:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.data = folder / "data"
        self._folder = folder
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str]:
        self._capsys.readouterr()
        code = run_command(["evolve", *words, "--data", str(self.data)])
        said = self._capsys.readouterr()
        return code, said.out or said.err

    def facts(self, *words: str) -> Any:
        code, text = self(*words, "--json")
        assert code == 0, text
        return json.loads(text)

    def begin(self, *more: str, plan: dict[str, Any] = PLAN) -> tuple[int, str]:
        file = self._folder / "plan.json"
        file.write_text(json.dumps(plan))
        sizes = ("--shares", "45,30,10,15", "--checks", "60", "--plan", str(file))
        return self("init", str(PROBLEMS), *(more or ("--budget", "checks=9000")), *sizes)

    @property
    def ledger(self) -> Path:
        return self.data / "evolver" / "ledger.jsonl"


@pytest.fixture
def evolve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Evolve:
    return Evolve(tmp_path, capsys)


def test_before_anything_is_spent_it_says_what_the_budget_buys_and_what_can_be_seen(evolve: Evolve) -> None:
    assert evolve.begin()[0] == 0
    found = evolve.facts("check")
    assert (found["shortest"], found["longest"]) == (8, 46)
    assert found["at_least"] == (9000 // 60 - 8) // 46
    assert found["finds"]["60"] > found["finds"]["30"] > found["finds"]["10"]
    assert "smallest gain" in evolve("check")[1]
    assert evolve.facts("status")["spent"] == {}


@pytest.mark.parametrize(
    ("more", "plan", "words"),
    [
        (("--budget", "lemons=3"), PLAN, "lemons=3"),
        (("--budget", "usd=3"), PLAN, "bound in episode_cost"),
        (("--budget", "checks=9"), {"confirm_pairs": 40}, "fresh tasks"),
        (("--budget", "checks=9"), PLAN | {"gate_evidence": 3}, "out of bounds"),
        (("--budget", "checks=9"), PLAN | {"confirm_level": 0.2}, "out of bounds"),
        (("--budget", "checks=9"), PLAN | {"max_challengers": 50}, "out of bounds"),
        (("--budget", "checks=9"), PLAN | {"is_generous": True}, "out of bounds"),
        (("--budget", "checks=9", "--team", "wizards:3"), PLAN, "wizards"),
    ],
)
def test_a_plan_that_would_measure_nothing_is_refused(
    evolve: Evolve, more: tuple[str, ...], plan: dict[str, Any], words: str
) -> None:
    code, text = evolve.begin(*more, plan=plan)
    assert (code, words in text) == (2, True), text
    assert not evolve.ledger.is_file() or not read_ledger(evolve.ledger)


def test_a_campaign_is_set_up_once_and_only_what_won_is_promoted(evolve: Evolve) -> None:
    assert evolve.begin()[0] == 0
    assert evolve.begin()[0] == 2
    for words, reason in (
        (("promote", "p1", "--by", "me"), "no proposal p1"),
        (("rollback", "--by", "me"), "no earlier version"),
        (("rollback", "--to", "ab1-0", "--by", "me"), "never in use"),
        (("seal", "open", "--by", "me"), "nothing to release"),
        (("show", "p1"), "no proposal"),
        (("gate", "p1.gate"), "no comparison"),
        (("run", "--proposer", "oracle"), "no proposer"),
    ):
        code, text = evolve(*words)
        assert (code, reason in text) == (2, True), text
    refused = [entry.event for entry in read_ledger(evolve.ledger)][1:]
    assert [type(event).__name__ for event in refused] == ["Refused"] * 3


def test_a_freeze_holds_until_a_rollback(evolve: Evolve) -> None:
    evolve.begin()
    assert evolve("freeze", "looks odd")[0] == 0
    assert evolve.facts("status")["frozen"] == "looks odd"
    assert "stopped: frozen" in evolve("run", "--proposer", "command:false")[1]
    before = evolve.facts("status")["champion"]
    assert evolve.facts("rollback", "--by", "me") == before
    assert evolve.facts("status")["frozen"] == ""
    assert evolve.facts("verify")["findings"] == []


def test_a_champion_that_somebody_else_moved_freezes_the_campaign(evolve: Evolve) -> None:
    evolve.begin()
    other = evolve.data.parent / "other"
    assert run_command(["adapter", "export", "built-in", str(other), "--data", str(evolve.data)]) == 0
    (other / "prompts" / "team.md").write_text((other / "prompts" / "team.md").read_text() + "\nBe brief.\n")
    assert run_command(["adapter", "stage", str(other), "--data", str(evolve.data), "--json"]) == 0
    staged = sorted(path.name for path in (evolve.data / "adapters").glob("ab1-*"))
    built_in = evolve.facts("status")["champion"]["bundle"]
    moved = next(name for name in staged if name != built_in)
    assert run_command(["adapter", "activate", moved, "--data", str(evolve.data)]) == 0
    assert "unknown origin" in evolve("run", "--proposer", "command:false")[1]
    assert evolve.facts("rollback", "--by", "me")["bundle"] == built_in


def test_a_changed_ledger_is_refused_by_every_command(evolve: Evolve) -> None:
    evolve.begin()
    evolve("freeze", "looks odd")
    evolve.ledger.write_bytes(evolve.ledger.read_bytes().replace(b"looks odd", b"looks fine"))
    for words in (("status",), ("verify",), ("freeze", "again"), ("run", "--proposer", "command:false")):
        code, text = evolve(*words)
        assert code == 2
        assert "line 2 of" in text


def test_a_second_evolver_is_refused_while_status_works(evolve: Evolve) -> None:
    evolve.begin()
    with open_ledger(evolve.ledger):
        code, text = evolve("freeze", "too")
        assert (code, "another evolver" in text) == (2, True)
        assert evolve.facts("status")["promoted"] == 0
