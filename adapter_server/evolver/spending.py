"""Episodes run for a campaign: paid from the budget, each one in the ledger before it starts and after it ends."""

import hashlib
import random
from collections.abc import Sequence
from typing import cast

from bus.errors import BadArguments, BudgetExhausted, InfraPause, Internal
from bus.records import EpisodeRecord

from .budget import bound, costs_of, reservation_gate
from .comparison import collect, pair_id
from .events import BudgetReserved, BudgetSpent, EpisodeClosed, EpisodeStarted, InfraPaused, Refused
from .gate_result import GateResult
from .journal import Journal
from .measuring import Arm, Measure, PlannedEpisode
from .plan import SPLIT_OF
from .state import Comparison


async def run_pairs(journal: Journal, measure: Measure, comparison: Comparison, indices: Sequence[int]) -> None:
    """Run pairs of a comparison, both arms of each.

    Raises:
        BudgetExhausted: they cannot be paid, or what they cost is not known.
        InfraPause: nothing can be run now; nothing was scored.
    """
    attempts = collect(comparison).started
    plan = [
        planned for index in indices for planned in _pair(journal, comparison, index, attempt=attempts.get(index, 0))
    ]
    await run_paid(journal, measure, plan, comparison=comparison.opened.comparison)


async def run_paid(
    journal: Journal, measure: Measure, plan: Sequence[PlannedEpisode], *, comparison: str
) -> list[EpisodeRecord]:
    """Reserve, write, run, write, settle.

    Raises:
        BadArguments: a task is of a split that its purpose may not use; that is written down too.
        BudgetExhausted, InfraPause: as `run_pairs`.
    """
    _check_splits(journal, plan)
    amounts = bound(journal.state.started.plan, len(plan))
    paid = reservation_gate(journal.state, amounts)
    if not paid.is_passed:
        raise BudgetExhausted("the budget is used up: " + "; ".join(paid.reasons), hint="add to it: evolve run --add")
    reservation = plan[0].pair
    journal.write(BudgetReserved(reservation=reservation, amounts=amounts))
    records: list[EpisodeRecord] = []
    for one in plan:
        journal.write(_started(one, comparison))
        key = measure.key
        try:
            found = await measure.run([one])
        except InfraPause as pause:
            _settle_paused(journal, reservation, records, pause)
            raise
        _check_records([one], found)
        journal.write(EpisodeClosed(comparison=comparison, key=key, record=found[0]))
        records += found
    _settle(journal, reservation, records)
    return records


def settle_lost(journal: Journal) -> None:
    """What was running when the process died is charged in full."""
    for reservation, amounts in list(journal.state.reserved.items()):
        journal.write(BudgetSpent(reservation=reservation, amounts=amounts, is_lost=True))


class MeteredMeasure:
    """The measure as proposers get it: search tasks only, paid from the campaign's budget."""

    def __init__(self, journal: Journal, measure: Measure) -> None:
        self._journal = journal
        self._measure = measure

    @property
    def key(self) -> str:
        """What results depend on beside the version."""
        return self._measure.key

    async def run(self, plan: Sequence[PlannedEpisode]) -> list[EpisodeRecord]:
        """Run episodes on search tasks.

        Raises:
            BadArguments: another purpose than `search`, or a task of another split.
            BudgetExhausted, InfraPause: as `run_pairs`.
        """
        if any(one.purpose != "search" for one in plan):
            raise BadArguments("a proposer measures with the purpose `search` only")
        if not plan:
            return []
        number = len(self._journal.state.searches)
        named = [
            PlannedEpisode(
                task=one.task, bundle=one.bundle, purpose="search", seed=one.seed, pair=f"search/{number + k}"
            )
            for k, one in enumerate(plan)
        ]
        return await run_paid(self._journal, self._measure, named, comparison="")


def seed_of(*parts: object) -> int:
    """A seed that depends on all parts and on nothing else."""
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1


def _pair(journal: Journal, comparison: Comparison, index: int, *, attempt: int) -> list[PlannedEpisode]:
    """Both arms in random order. They share a seed, but not in a calibration, where only chance may differ."""
    opened = comparison.opened
    seed = seed_of(opened.seed, opened.comparison, index)
    order: list[Arm] = ["champion", "challenger"]
    random.Random(seed).shuffle(order)
    task = journal.state.tasks[opened.tasks[index]]
    return [
        PlannedEpisode(
            task=task,
            bundle=opened.champion if arm == "champion" else opened.challenger,
            purpose=opened.stage,
            seed=seed_of(seed, arm) if opened.stage == "aa" else seed,
            pair=pair_id(opened.comparison, index, attempt),
            arm=arm,
            order=place,
        )
        for place, arm in enumerate(order)
    ]


def _check_splits(journal: Journal, plan: Sequence[PlannedEpisode]) -> None:
    for one in plan:
        split = journal.state.splits.get(one.task.id)
        if split != SPLIT_OF.get(one.purpose) or (split == "sealed" and not journal.state.sealed):
            reason = f"{one.task.id} is {'a task of ' + split if split else 'no task of this campaign'}"
            result = GateResult(gate="splits", is_passed=False, reasons=[f"{reason}, the purpose is {one.purpose}"])
            journal.write(Refused(what=f"an episode on {one.task.id}", result=result))
            raise BadArguments(f"{reason}; it may not be used for {one.purpose}")


def _started(one: PlannedEpisode, comparison: str) -> EpisodeStarted:
    return EpisodeStarted(
        comparison=comparison, pair=one.pair, task=one.task.id, bundle=one.bundle, seed=one.seed, arm=one.arm,
        order=one.order,
    )  # fmt: skip


def _check_records(plan: Sequence[PlannedEpisode], records: Sequence[EpisodeRecord]) -> None:
    """The laboratory has to have served what was asked for, or its results are about something else."""
    wanted = [(one.task.id, one.bundle, one.purpose, one.pair, one.arm) for one in plan]
    got = [(record.task, record.bundle, record.purpose, record.pair, record.arm) for record in records]
    if wanted != got:
        raise Internal("the laboratory returned other episodes than it was asked for", wanted=wanted, got=got)


def _settle_paused(journal: Journal, reservation: str, records: list[EpisodeRecord], pause: InfraPause) -> None:
    """Charge the episodes that ended and what the last one used; nothing for those that were never begun."""
    plan = journal.state.started.plan
    amounts, _ = costs_of(records, plan)
    used = cast("dict[str, float]", pause.facts.get("spent", {}))
    for unit, most in bound(plan, 1).items():
        amounts[unit] += min(most, used.get(unit, most))
    journal.write(BudgetSpent(reservation=reservation, amounts=amounts, is_lost=True))
    journal.write(InfraPaused(reason=pause.message))


def _settle(journal: Journal, reservation: str, records: list[EpisodeRecord]) -> None:
    amounts, unknown = costs_of(records, journal.state.started.plan)
    journal.write(BudgetSpent(reservation=reservation, amounts=amounts))
    if unknown:
        raise BudgetExhausted(
            f"what an episode cost in {', '.join(unknown)} is not known; it was charged at its bound",
            hint="name a budget in units that this laboratory measures",
        )
