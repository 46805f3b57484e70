"""Gates on given results: each letter is a pair. w: won, l: lost, b: both solved, n: neither, i: challenger invalid."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from adapter_server.evolver.comparison import Pair, pair_id
from adapter_server.evolver.events import ComparisonOpened
from adapter_server.evolver.gates import Ruling, judge
from adapter_server.evolver.patch import Prediction
from adapter_server.evolver.plan import Plan, Stage
from adapter_server.evolver.state import Comparison
from adapter_server.evolver.vetoes import safety_vetoes
from bus.records import EpisodeRecord, Outcome, Spent

RESULTS: dict[str, tuple[Outcome, Outcome]] = {
    "w": ("unsolved", "solved"),
    "l": ("solved", "unsolved"),
    "b": ("solved", "solved"),
    "n": ("unsolved", "unsolved"),
    "i": ("solved", "invalid"),
    "c": ("censored", "solved"),
}
STAGES: dict[Stage, tuple[int, float]] = {
    "screen": (10, 0.0), "gate": (60, 10.0), "guard": (20, 0.0), "confirm": (40, 0.05), "aa": (20, 0.0),
}  # fmt: skip


def plan(**changes: Any) -> Plan:
    return msgspec.convert({"budget": {"checks": 1e9}, "episode_cost": {"checks": 100.0}} | changes, Plan)


def episode(outcome: Outcome, **fields: Any) -> EpisodeRecord:
    checks = fields.pop("checks", 20)
    return EpisodeRecord(
        episode="ep", task="t", bundle="ab1-0", purpose="gate", outcome=outcome, spent=Spent(checks=checks), **fields
    )


def compared(
    stage: Stage,
    pairs: str,
    *,
    key: str = "k",
    cheaper: int = 0,
    predictions: Sequence[Prediction] = (),
    **plan_changes: Any,
) -> Ruling | list[int]:
    """The word of a gate; a pair that is invalid takes its place again with the next letter."""
    count, threshold = STAGES[stage]
    opened = ComparisonOpened(
        comparison="p1",
        stage=stage,
        champion="ab1-0",
        challenger="ab1-1",
        key="k",
        tasks=["t"] * count,
        pairs=count,
        test="",
        threshold=threshold * (2 if plan_changes.get("is_graded") else 1),
        seed=0,
        predictions=list(predictions),
    )
    comparison = Comparison(opened=opened, keys={"k", key})
    index = attempt = 0
    for letter in pairs:
        champion, challenger = RESULTS[letter]
        name = pair_id("p1", index, attempt)
        comparison.records[name] = {
            "champion": episode(champion, pair=name, arm="champion", subgoals=0.25),
            "challenger": episode(challenger, pair=name, arm="challenger", checks=20 - cheaper, subgoals=0.75),
        }
        index, attempt = (index, attempt + 1) if letter in "ic" else (index + 1, 0)
    return judge(comparison, plan(**plan_changes))


def word(ruling: Ruling | list[int]) -> str:
    assert isinstance(ruling, Ruling), ruling
    return ruling.verdict if ruling.verdict == "better" or not ruling.result.is_passed else "passed"


@pytest.mark.parametrize(
    ("stage", "pairs", "expected"),
    [
        ("screen", "w" + "n" * 9, "passed"),
        ("screen", "n" * 10, "passed"),
        ("screen", "nnnnnnnnnl", "undecided"),
        ("screen", "llllll", "worse"),
        ("gate", "wwwww", "passed"),
        ("gate", "bnwbnwbbwnwnw", "passed"),
        ("gate", "lllll", "worse"),
        ("gate", "bn" * 28, "undecided"),
        ("gate", "wl" * 30, "undecided"),
        ("confirm", "wwwww" + "b" * 35, "better"),
        ("confirm", "wwww" + "b" * 36, "undecided"),
        ("confirm", "lllll" + "b" * 35, "worse"),
        ("confirm", "b" * 36, "undecided"),
        ("aa", "wl" + "b" * 18, "passed"),
    ],
)
def test_what_gates_say(stage: Stage, pairs: str, expected: str) -> None:
    assert word(compared(stage, pairs)) == expected


@pytest.mark.parametrize(
    ("stage", "pairs", "wanted"),
    [("screen", "", [0]), ("gate", "wwww", [4]), ("gate", "wwi", [2]), ("confirm", "wwwww", [5]), ("aa", "c", [0])],
)
def test_what_gates_want_next(stage: Stage, pairs: str, wanted: list[int]) -> None:
    assert compared(stage, pairs) == wanted


def test_a_gate_may_be_asked_for_several_pairs_at_once() -> None:
    assert compared("gate", "wwww", batch=4) == [4, 5, 6, 7]
    assert compared("gate", "ww", batch=4) == [2, 3]  # the rest of what a crash cut off


def test_what_comes_after_the_decision_does_not_count() -> None:
    ruling = compared("gate", "wwwwwllllllllll")
    assert isinstance(ruling, Ruling)
    assert (word(ruling), ruling.result.facts["pairs"]) == ("passed", 5)


def test_a_pair_that_stays_invalid_voids() -> None:
    assert compared("gate", "wii") == [1]
    assert word(compared("gate", "wiii")) == "void"


def test_an_arm_with_more_invalid_episodes_voids_what_would_have_passed() -> None:
    assert word(compared("gate", "iwiwiwiwiw")) == "void"
    assert word(compared("gate", "iwwwww")) == "passed"


def test_another_key_voids() -> None:
    assert word(compared("gate", "wwwww", key="other model")) == "void"


def test_cheaper_is_not_better() -> None:
    assert word(compared("confirm", "b" * 36, cheaper=8)) == "cheaper-quality-unresolved"
    assert word(compared("confirm", "lb" + "b" * 38, cheaper=8)) == "undecided"


def test_progress_passes_the_gate_only_when_that_was_fixed_before() -> None:
    assert word(compared("gate", "n" * 60, is_graded=True)) == "passed"
    assert word(compared("gate", "n" * 60)) == "undecided"
    assert compared("gate", "wwwww", is_graded=True) == [5]
    assert word(compared("gate", "wwwwwww", is_graded=True)) == "passed"
    assert word(compared("confirm", "n" * 40, confirm_on="progress")) == "better"


def test_predictions_are_checked_beside_the_verdict() -> None:
    said = [
        Prediction(metric="checks", relation="at_most", amount=-0.3),
        Prediction(metric="solved", relation="at_most", amount=-0.5),
    ]
    ruling = compared("gate", "wwwww", cheaper=8, predictions=said)
    assert isinstance(ruling, Ruling)
    assert [check.is_met for check in ruling.predictions] == [True, False]


def test_the_guard_asks_again_about_a_task_that_was_lost_and_only_about_that() -> None:
    assert compared("guard", "", batch=8) == [0, 5, 10, 15]
    assert compared("guard", "l", batch=8) == [1, 5, 10, 15]
    assert compared("guard", "lb", batch=8) == [5, 10, 15]


def test_a_guard_task_lost_in_every_trial_is_a_veto() -> None:
    tail = "bnnnn" * 3
    assert word(compared("guard", "lllll" + tail)) == "worse"
    assert word(compared("guard", "llllb" + tail)) == "passed"


@pytest.mark.parametrize(("before", "after", "is_vetoed"), [(0, 3, True), (0, 2, False), (9, 10, False), (3, 0, False)])
def test_safety_events_may_not_rise(before: int, after: int, is_vetoed: bool) -> None:
    pair = Pair(
        index=0,
        task="t",
        champion=episode("solved", safety={"forbidden_axioms": before}),
        challenger=episode("solved", safety={"forbidden_axioms": after}),
    )
    assert bool(safety_vetoes([pair])) == is_vetoed
