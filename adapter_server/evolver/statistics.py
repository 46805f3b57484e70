"""The tests that decide about changes: exact, from the standard library, and each a pure function of counts."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist

import msgspec

GRID = 1000
"""Differences of progress are compared in steps of 1/GRID, which keeps the sign-flip test exact."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate with the bounds of its confidence interval."""

    estimate: float
    low: float
    high: float


@lru_cache(maxsize=65536)
def e_value(wins: int, losses: int) -> float:
    """Evidence that the challenger wins more than half of the discordant pairs.

    The mixture of the likelihood ratios of p against 1/2 with p uniform on (1/2, 1) (Robbins 1970; Ramdas et al.,
    "Game-theoretic statistics and safe anytime-valid inference", 2023). Where no version is better it is a
    supermartingale, so the chance that it ever reaches 1/α is at most α, however often one looks.

    2 ∫ (2p)^w (2 - 2p)^l dp over (1/2, 1) is Σ_{k≤w} C(n+1, k) / ((n+1) C(n, w)), by the tail of the beta integral.
    """
    pairs = wins + losses
    tail = sum(math.comb(pairs + 1, k) for k in range(wins + 1))
    return tail / ((pairs + 1) * math.comb(pairs, wins))


@lru_cache(maxsize=65536)
def mcnemar(wins: int, losses: int) -> float:
    """The exact one-sided p-value of McNemar's test (1947): at least so many wins among fair coin flips."""
    pairs = wins + losses
    return sum(math.comb(pairs, k) for k in range(wins, pairs + 1)) / 2**pairs


def sign_flip(differences: Sequence[float]) -> float:
    """The exact one-sided p-value of Fisher's sign-flip test (1935) that paired differences are centred above zero.

    The share of the 2^n choices of signs whose sum is at least the sum seen. Values are rounded to 1/GRID, so that all
    choices can be counted: the product of 1 + x^step has at x^t the number of choices whose positive part is t. It is
    computed at x = 2^width, where no coefficient reaches its neighbour, and digits are summed by a remainder.
    """
    steps = [round(difference * GRID) for difference in differences if round(difference * GRID)]
    scale = math.gcd(*steps)
    width = len(steps) + 1
    product = 1
    for step in steps:
        product += product << (abs(step) // scale * width)
    positive = sum(step for step in steps if step > 0) // (scale or 1)
    return (product >> (positive * width)) % (2**width - 1) / 2 ** len(steps) if steps else 1.0


def holm(p_values: Mapping[str, float], *, level: float) -> dict[str, bool]:
    """Which hypotheses are rejected when all of them together may err with probability `level` (Holm 1979)."""
    rejected = dict.fromkeys(p_values, False)
    ordered = sorted(p_values, key=lambda name: (p_values[name], name))
    for place, name in enumerate(ordered):
        if p_values[name] > level / (len(ordered) - place):
            break
        rejected[name] = True
    return rejected


def wilson(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """A share with its score interval (Wilson 1927); without trials nothing is known."""
    if trials == 0:
        return Interval(estimate=0.0, low=0.0, high=1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == trials else min(1.0, middle + half)
    return Interval(estimate=share, low=low, high=high)


def paired_gain(wins: int, losses: int, pairs: int, *, confidence: float = 0.95) -> Interval:
    """The difference of two paired shares, with an interval that takes the number of discordant pairs as given.

    Of the discordant pairs the wins are binomial; the Wilson interval of their share is scaled by how many there are.
    """
    if pairs == 0:
        return Interval(estimate=0.0, low=-1.0, high=1.0)
    discordant = wins + losses
    if discordant == 0:
        unseen = wilson(0, pairs, confidence=confidence).high
        return Interval(estimate=0.0, low=-unseen, high=unseen)
    share = wilson(wins, discordant, confidence=confidence)
    scale = discordant / pairs
    low, high = scale * (2 * share.low - 1), scale * (2 * share.high - 1)
    return Interval(estimate=(wins - losses) / pairs, low=low, high=high)


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """The exact two-sided p-value of Fisher's test (1922) that two rates, each (events, others), are equal.

    The hypergeometric probabilities of all tables with the same margins that are no more likely than the one seen.
    """
    (a, b), (c, d) = first, second
    row, column, total = a + b, a + c, a + b + c + d
    ways = [
        math.comb(row, k) * math.comb(total - row, column - k)
        for k in range(max(0, column - (total - row)), min(row, column) + 1)
    ]
    seen = math.comb(row, a) * math.comb(total - row, column - a)
    return sum(way for way in ways if way <= seen) / sum(ways)


def gate_power(gain: float, *, pairs: int, discordance: float, threshold: float) -> float:
    """How often `e_value` reaches the threshold within so many pairs when the true gain is this large."""
    better, worse = (discordance + gain) / 2, (discordance - gain) / 2
    found = 0.0
    chances: dict[tuple[int, int], float] = {(0, 0): 1.0}
    for _ in range(pairs):
        after: dict[tuple[int, int], float] = defaultdict(float)
        for (wins, losses), chance in chances.items():
            after[wins + 1, losses] += chance * better
            after[wins, losses + 1] += chance * worse
            after[wins, losses] += chance * (1 - discordance)
        reached = [state for state in after if e_value(*state) >= threshold]
        found += sum(after.pop(state) for state in reached)
        chances = after
    return found


def mcnemar_power(gain: float, *, pairs: int, discordance: float, level: float) -> float:
    """How often `mcnemar` is at most `level` after so many pairs when the true gain is this large."""
    share = (1 + gain / discordance) / 2 if discordance else 0.5
    found = 0.0
    for number in range(pairs + 1):
        chance = _binomial(number, pairs, discordance)
        won = sum(_binomial(wins, number, share) for wins in range(number + 1) if mcnemar(wins, number - wins) <= level)
        found += chance * won
    return found


def _binomial(successes: int, trials: int, share: float) -> float:
    return math.comb(trials, successes) * share**successes * (1 - share) ** (trials - successes)
