"""The tests that decide about changes, against scipy and statsmodels, and against simulation where neither has them."""

import itertools
import random
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_server.evolver.statistics import (
    e_value,
    fisher,
    gate_power,
    holm,
    mcnemar,
    mcnemar_power,
    paired_gain,
    sign_flip,
    wilson,
)

integrate: Any = import_module("scipy.integrate")
stats: Any = import_module("scipy.stats")
tables: Any = import_module("statsmodels.stats.contingency_tables")
proportion: Any = import_module("statsmodels.stats.proportion")
multitest: Any = import_module("statsmodels.stats.multitest")

counts = st.integers(0, 30)
quick = settings(max_examples=40, deadline=None)


@quick
@given(counts, counts)
def test_the_evidence_is_the_integral_that_defines_it(wins: int, losses: int) -> None:
    def ratio(p: float) -> float:
        return 2 * (2 * p) ** wins * (2 - 2 * p) ** losses

    expected = integrate.quad(ratio, 0.5, 1, points=[max(0.5, wins / max(1, wins + losses))])
    assert e_value(wins, losses) == pytest.approx(expected[0], rel=1e-6)


def test_five_straight_wins_reach_ten_and_seven_reach_twenty() -> None:
    assert e_value(4, 0) < 10 <= e_value(5, 0)
    assert e_value(6, 0) < 20 <= e_value(7, 0)
    assert round(e_value(9, 1), 1) == 18.5


def test_looking_after_every_pair_errs_no_more_often_than_the_threshold_allows() -> None:
    assert gate_power(0.0, pairs=80, discordance=0.4, threshold=10) <= 0.10
    assert gate_power(-0.1, pairs=80, discordance=0.4, threshold=10) <= 0.02


@quick
@given(counts, counts)
def test_mcnemar_is_the_exact_binomial_test(wins: int, losses: int) -> None:
    if wins + losses:
        expected = stats.binomtest(wins, wins + losses, 0.5, alternative="greater")
        assert mcnemar(wins, losses) == pytest.approx(expected.pvalue, rel=1e-9)
        both = tables.mcnemar([[0, wins], [losses, 0]], exact=True)
        assert min(1.0, 2 * min(mcnemar(wins, losses), mcnemar(losses, wins))) == pytest.approx(both.pvalue)


@quick
@given(st.lists(st.integers(-8, 8), min_size=1, max_size=9))
def test_sign_flips_are_all_counted(eighths: list[int]) -> None:
    differences = [eighth / 8 for eighth in eighths]
    sums = [
        sum(sign * difference for sign, difference in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    expected = sum(total >= sum(differences) - 1e-9 for total in sums) / len(sums)
    assert sign_flip(differences) == pytest.approx(expected)


def test_sign_flips_agree_with_scipy() -> None:
    chance = random.Random(3)
    differences = [round(chance.gauss(0.15, 0.3), 2) for _ in range(12)]
    expected = stats.permutation_test(
        (differences,),
        import_module("numpy").sum,
        permutation_type="samples",
        alternative="greater",
        n_resamples=2**12,
        vectorized=True,
    )
    assert sign_flip(differences) == pytest.approx(expected.pvalue)


@quick
@given(counts, counts, counts, counts)
def test_fisher_agrees_with_scipy(a: int, b: int, c: int, d: int) -> None:
    expected = stats.fisher_exact([[a, b], [c, d]])
    assert fisher((a, b), (c, d)) == pytest.approx(expected.pvalue, rel=1e-6)


@quick
@given(counts, st.integers(1, 40))
def test_wilson_agrees_with_statsmodels(successes: int, trials: int) -> None:
    successes = min(successes, trials)
    interval = wilson(successes, trials)
    expected = proportion.proportion_confint(successes, trials, method="wilson")
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("p_values", [[0.04, 0.2], [0.06, 0.01], [0.06, 0.07], [0.03, 0.049, 0.5], [0.02, 0.051, 0.1]])
def test_holm_agrees_with_statsmodels(p_values: list[float]) -> None:
    rejected = holm({str(place): p for place, p in enumerate(p_values)}, level=0.1)
    expected = multitest.multipletests(p_values, alpha=0.1, method="holm")
    assert list(rejected.values()) == list(expected[0])


def test_power_is_what_simulated_comparisons_find() -> None:
    chance = random.Random(5)
    found = passed = 0
    for _ in range(1000):
        wins = losses = 0
        is_passed = False
        for _ in range(40):
            draw = chance.random()
            wins, losses = wins + (draw < 0.3), losses + (0.3 <= draw < 0.4)
            is_passed = is_passed or e_value(wins, losses) >= 10
        passed += is_passed
        found += mcnemar(wins, losses) <= 0.05
    assert gate_power(0.2, pairs=40, discordance=0.4, threshold=10) == pytest.approx(passed / 1000, abs=0.04)
    assert mcnemar_power(0.2, pairs=40, discordance=0.4, level=0.05) == pytest.approx(found / 1000, abs=0.04)


def test_the_interval_of_a_gain_covers_it() -> None:
    chance = random.Random(7)
    covered = 0
    for _ in range(400):
        draws = [chance.random() for _ in range(40)]
        interval = paired_gain(sum(d < 0.3 for d in draws), sum(0.3 <= d < 0.4 for d in draws), 40)
        covered += interval.low <= 0.2 <= interval.high
    assert covered / 400 >= 0.9


def test_nothing_seen_says_nothing() -> None:
    assert (e_value(0, 0), mcnemar(0, 0), sign_flip([]), fisher((0, 0), (0, 0))) == (1, 1, 1, 1)
    assert (wilson(0, 0).low, wilson(0, 0).high, paired_gain(0, 0, 0).low) == (0, 1, -1)
