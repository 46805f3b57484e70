"""A comparison's pairs, from its records alone: which count, which must run again, and what they say."""

import math
from collections.abc import Iterable, Sequence

import msgspec

from bus.records import EpisodeRecord

from .budget import cost_of
from .plan import Unit
from .state import Comparison
from .statistics import sign_flip

UNKNOWN = ("invalid", "censored")
"""Outcomes that say nothing about a version; their pair runs again."""

MIN_SHARED_SUCCESSES = 6
CHEAPER_LEVEL = 0.05


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Both arms on one task."""

    index: int
    task: str
    champion: EpisodeRecord
    challenger: EpisodeRecord

    @property
    def gain(self) -> int:
        """1 when only the challenger solved it, -1 when only the champion did, else 0."""
        return int(is_solved(self.challenger)) - int(is_solved(self.champion))

    @property
    def progress(self) -> float:
        """The difference in the share of subgoals reached."""
        return progress_of(self.challenger) - progress_of(self.champion)


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What there is of a comparison.

    Attributes:
        pairs: index → the pair that counts: the first attempt whose arms are both valid.
        invalid: index → attempts with an invalid arm.
        started: index → attempts, those that were never finished among them.
        champion: its episodes: (invalid, valid).
        challenger: the same.
    """

    pairs: dict[int, Pair]
    invalid: dict[int, int]
    started: dict[int, int]
    champion: tuple[int, int]
    challenger: tuple[int, int]

    def prefix(self) -> list[Pair]:
        """The pairs in order, up to the first that is missing."""
        found: list[Pair] = []
        while (pair := self.pairs.get(len(found))) is not None:
            found.append(pair)
        return found


def pair_id(comparison: str, index: int, attempt: int) -> str:
    """The id of one attempt at a pair."""
    return f"{comparison}/{index}/{attempt}"


def is_solved(record: EpisodeRecord) -> bool:
    """A false statement that was refuted is done as well as a true one that was proved."""
    return record.outcome in ("solved", "refuted")


def progress_of(record: EpisodeRecord) -> float:
    """Share of the subgoals; all of them when solved, none when it is not known."""
    return 1.0 if is_solved(record) else record.subgoals or 0.0


def collect(comparison: Comparison) -> Collected:
    """Sort the records into pairs. Attempts that a crash cut off count for nothing."""
    pairs: dict[int, Pair] = {}
    invalid: dict[int, int] = {}
    started: dict[int, int] = {}
    counts = {"champion": [0, 0], "challenger": [0, 0]}
    for name, arms in comparison.records.items():
        _, index_text, attempt = name.rsplit("/", 2)
        if not attempt.isdigit():
            continue
        index = int(index_text)
        started[index] = started.get(index, 0) + 1
        if len(arms) < len(counts):
            continue
        for arm, record in arms.items():
            counts[arm][record.outcome not in UNKNOWN] += 1
        if any(record.outcome in UNKNOWN for record in arms.values()):
            invalid[index] = invalid.get(index, 0) + 1
        elif index not in pairs:
            task = comparison.opened.tasks[index]
            pairs[index] = Pair(index=index, task=task, champion=arms["champion"], challenger=arms["challenger"])
    return Collected(
        pairs=pairs,
        invalid=invalid,
        started=started,
        champion=(counts["champion"][0], counts["champion"][1]),
        challenger=(counts["challenger"][0], counts["challenger"][1]),
    )


def wins_and_losses(pairs: Iterable[Pair]) -> tuple[int, int]:
    """Discordant pairs for and against the challenger."""
    gains = [pair.gain for pair in pairs]
    return gains.count(1), gains.count(-1)


class CostComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of the challenger against the champion, where both solved the task.

    Attributes:
        unit: of the cost.
        shared: tasks that both solved and whose cost is known.
        ratio: geometric mean of challenger ÷ champion; None without shared tasks.
        p: that the challenger is cheaper by chance only.
        failed_champion: mean cost of the champion's failures; None without any.
        failed_challenger: the same of the challenger.
    """

    unit: Unit
    shared: int
    ratio: float | None
    p: float
    failed_champion: float | None
    failed_challenger: float | None

    @property
    def is_cheaper(self) -> bool:
        """Enough tasks, and not by chance."""
        return self.shared >= MIN_SHARED_SUCCESSES and self.p <= CHEAPER_LEVEL


def compare_cost(pairs: Sequence[Pair], unit: Unit) -> CostComparison:
    """Cost is compared on shared successes only; failures stand beside it."""
    logs: list[float] = []
    for pair in pairs:
        if is_solved(pair.champion) and is_solved(pair.challenger):
            before, after = cost_of(pair.champion, unit), cost_of(pair.challenger, unit)
            if before and after:
                logs.append(math.log(after / before))
    return CostComparison(
        unit=unit,
        shared=len(logs),
        ratio=math.exp(sum(logs) / len(logs)) if logs else None,
        p=sign_flip([-value for value in logs]),
        failed_champion=_mean_of_failures((pair.champion for pair in pairs), unit),
        failed_challenger=_mean_of_failures((pair.challenger for pair in pairs), unit),
    )


def _mean_of_failures(records: Iterable[EpisodeRecord], unit: Unit) -> float | None:
    costs = [cost for record in records if not is_solved(record) and (cost := cost_of(record, unit)) is not None]
    return sum(costs) / len(costs) if costs else None


def score(pairs: Sequence[Pair]) -> float | None:
    """Mean difference in the share solved, as proposers learn it."""
    return sum(pair.gain for pair in pairs) / len(pairs) if pairs else None
