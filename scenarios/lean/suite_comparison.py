"""Does the team pay? Four ways to work on the same problems under the same limits, compared problem by problem."""

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from bus.errors import BadArguments
from bus.records import Caps, EpisodeRecord, Task

from .suite import Job
from .suite_folder import Mode, SuiteFolder, SuiteOrder, new_suite_folder
from .suite_summary import SuiteSummary, median_counter, summary_of
from .team import parse_team

PValue = Callable[[int, int], float]
"""Of McNemar's exact one-sided test: at least so many wins against so many losses."""

BASIS = "full"
ISOLATED_ROLES = ("splitter", "generaliser", "explorer", "tester", "prover")
"""What tacticians in a team of five are, each alone: so that best-of-five has the team's variety."""


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One way to work."""

    name: str
    title: str
    mode: Mode
    is_single: bool = False


ARMS = (
    Arm(name="single", title="one agent", mode="full", is_single=True),
    Arm(name="isolated", title="as many agents without the adapter, the best of them counts", mode="isolated"),
    Arm(name="unshared", title="the team with messages and plan, without others' lemmas", mode="unshared"),
    Arm(name="full", title="the team with everything", mode="full"),
)


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """The whole team against another arm, on the problems that both have a valid record of.

    Attributes:
        arm: the other arm.
        pairs: problems in common.
        wins: settled by the team only.
        losses: settled by the other arm only.
        p_value: of the exact one-sided McNemar test that the team settles more.
        check_ratio: median of checks to proof, team ÷ other, where both have a proof.
        time_ratio: the same of the time to proof.
    """

    arm: str
    pairs: int
    wins: int
    losses: int
    p_value: float
    check_ratio: float | None
    time_ratio: float | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison came to."""

    arms: dict[str, SuiteSummary]
    wake_ms: dict[str, float | None]
    """Arm → median time from an event until an agent that waited had it."""
    pairings: list[Pairing]


def comparison_orders(tasks: Sequence[Task], *, team: str, caps: Caps, seed: int, jobs: int) -> dict[str, SuiteOrder]:
    """What each arm is asked to do.

    Raises:
        BadArguments: agents of another kind than the tactician, or only one.
    """
    members = parse_team(team, seed=seed)
    if len(members) < 2 or any(member.kind != "tactician" for member in members):
        raise BadArguments("a comparison needs a team of at least two tacticians", hint="for example tactician:5")
    roles = tuple(ISOLATED_ROLES[index % len(ISOLATED_ROLES)] for index in range(len(members)))
    return {
        arm.name: SuiteOrder(
            arm=arm.name,
            tasks=list(tasks),
            team="tactician:1" if arm.is_single else team,
            mode=arm.mode,
            roles=roles if arm.mode == "isolated" else (),
            seed=seed,
            caps=caps,
            jobs=jobs,
        )
        for arm in ARMS
    }


def arm_folder(root: Path, arm: str) -> SuiteFolder:
    """The folder of one arm."""
    return SuiteFolder(root.expanduser().absolute() / arm)


def new_comparison(root: Path, orders: Mapping[str, SuiteOrder]) -> None:
    """Make the folders.

    Raises:
        BadArguments: they are there already.
    """
    for name, order in orders.items():
        new_suite_folder(root / name, order)


def read_orders(root: Path) -> dict[str, SuiteOrder]:
    """What a comparison was asked to do.

    Raises:
        BadArguments: the folder holds none.
    """
    return {arm.name: arm_folder(root, arm.name).order() for arm in ARMS}


def comparison_jobs(root: Path, orders: Mapping[str, SuiteOrder]) -> list[Job]:
    """All episodes: problem by problem, the arms of each in an order by chance, so that a slow hour hits all alike."""
    first = orders[BASIS]
    rng = random.Random(first.seed)
    jobs: list[Job] = []
    for task in first.tasks:
        names = list(orders)
        rng.shuffle(names)
        jobs += [Job(order=orders[name], folder=arm_folder(root, name), task=task) for name in names]
    return jobs


def comparison_of(root: Path, orders: Mapping[str, SuiteOrder], *, p_value: PValue) -> Comparison:
    """Count and test what is done."""
    records = {name: arm_folder(root, name).records(order.tasks) for name, order in orders.items()}
    return Comparison(
        arms={name: summary_of(order, records[name], arm_folder(root, name)) for name, order in orders.items()},
        wake_ms={name: _median_wake(list(found.values())) for name, found in records.items()},
        pairings=[pairing(name, records[BASIS], records[name], p_value=p_value) for name in orders if name != BASIS],
    )


def pairing(
    arm: str, team: Mapping[str, EpisodeRecord], other: Mapping[str, EpisodeRecord], *, p_value: PValue
) -> Pairing:
    """The team against one arm."""
    valid = [task for task in team if task in other and "invalid" not in (team[task].outcome, other[task].outcome)]
    pairs = [(team[task], other[task]) for task in valid]
    wins = sum(_is_settled(ours) and not _is_settled(theirs) for ours, theirs in pairs)
    losses = sum(_is_settled(theirs) and not _is_settled(ours) for ours, theirs in pairs)
    return Pairing(
        arm=arm,
        pairs=len(pairs),
        wins=wins,
        losses=losses,
        p_value=round(p_value(wins, losses), 6),
        check_ratio=_median_ratio(pairs, "checks_to_proof"),
        time_ratio=_median_ratio(pairs, "proved_s"),
    )


def _is_settled(record: EpisodeRecord) -> bool:
    return record.outcome in ("solved", "refuted")


def _median_ratio(pairs: Sequence[tuple[EpisodeRecord, EpisodeRecord]], counter: str) -> float | None:
    ratios = [
        ours.counters[counter] / theirs.counters[counter]
        for ours, theirs in pairs
        if counter in ours.counters and theirs.counters.get(counter)
    ]
    return round(statistics.median(ratios), 3) if ratios else None


def _median_wake(records: Sequence[EpisodeRecord]) -> float | None:
    found = [record.counters["wake_ms"] for record in records if "wake_ms" in record.counters]
    return round(statistics.median(found), 1) if found else None


def arm_numbers(comparison: Comparison, records: Mapping[str, Mapping[str, EpisodeRecord]]) -> list[tuple[str, ...]]:
    """A row of figures for each arm."""
    rows: list[tuple[str, ...]] = []
    for arm in ARMS:
        summary, done = comparison.arms[arm.name], list(records[arm.name].values())
        wake = comparison.wake_ms[arm.name]
        settled = summary.solved + summary.refuted
        seconds, checks = median_counter(done, "proved_s"), median_counter(done, "checks_to_proof")
        solved = (f"{settled} of {summary.done}", str(summary.checks), _shown(checks), _shown(seconds))
        rows.append((arm.name, arm.title, *solved, str(summary.duplicates), str(summary.reused), _shown(wake)))
    return rows


ARM_HEADINGS = (
    "arm", "what it is", "settled", "checks", "median checks to proof", "median s to proof", "done twice",
    "lemma reuse", "median ms to wake",
)  # fmt: skip
PAIRING_HEADINGS = ("team against", "pairs", "only team", "only other", "p", "checks to proof, ratio", "time, ratio")


def pairing_row(pairing: Pairing) -> tuple[str, ...]:
    """A row of figures for the team against one arm."""
    counts = (str(pairing.pairs), str(pairing.wins), str(pairing.losses), f"{pairing.p_value:.4g}")
    return (pairing.arm, *counts, _shown(pairing.check_ratio), _shown(pairing.time_ratio))


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
