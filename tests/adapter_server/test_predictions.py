import pytest

from adapter_server.evolver.patch import Metric, Prediction
from adapter_server.evolver.predictions import check_predictions
from bus.records import EpisodeRecord, Spent


def record(*, solved: bool = False, checks: int = 0, tokens: int | None = None, duplicates: float = 0) -> EpisodeRecord:
    return EpisodeRecord(
        episode="e",
        task="t",
        bundle="ab1-0",
        purpose="gate",
        outcome="solved" if solved else "unsolved",
        spent=Spent(checks=checks, tokens_in=tokens, tokens_out=None if tokens is None else 0),
        counters={"duplicates": duplicates},
    )


CHAMPION = [record(solved=True, checks=10, duplicates=10), record(checks=30, duplicates=10)]
CHALLENGER = [record(solved=True, checks=10, duplicates=6), record(solved=True, checks=10, duplicates=6)]


@pytest.mark.parametrize(
    ("metric", "relation", "amount", "change", "is_met"),
    [
        ("duplicates", "at_most", -0.3, -0.4, True),
        ("duplicates", "at_most", -0.5, -0.4, False),
        ("checks", "at_most", 0.05, -0.5, True),
        ("solved", "at_least", 0.5, 0.5, True),
        ("solved", "at_least", 0.6, 0.5, False),
        ("tokens", "at_most", 0.05, None, None),
        ("idle_turns", "at_most", 0, None, None),
        ("lemmas", "at_most", 0, 0, True),
    ],
)
def test_a_prediction_is_checked_against_the_change_between_the_arms(
    metric: Metric, relation: str, amount: float, change: float | None, is_met: bool | None
) -> None:
    wanted = Prediction(metric=metric, relation="at_most" if relation == "at_most" else "at_least", amount=amount)
    [check] = check_predictions([wanted], CHAMPION, CHALLENGER)
    assert check.change == (None if change is None else pytest.approx(change))
    assert check.is_met is is_met


def test_a_rise_from_nothing_has_no_share_and_is_not_called_met() -> None:
    [check] = check_predictions(
        [Prediction(metric="tokens", relation="at_least", amount=0.1)], [record(tokens=0)], [record(tokens=5)]
    )
    assert (check.champion, check.challenger, check.change, check.is_met) == (0, 5, None, None)
