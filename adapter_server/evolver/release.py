"""G10, at a release: the sealed tasks, opened once, with what the same budget brings without evolution beside it."""

import math
from typing import Any

import msgspec

from bus.errors import BadArguments
from bus.records import EpisodeRecord

from .budget import cost_of
from .comparing import Stages, conclude
from .comparison import is_solved
from .events import Refused, SealedOpened
from .gate_result import GateResult
from .gates import Ruling, judge
from .journal import Journal
from .measuring import Measure, PlannedEpisode
from .plan import Unit
from .spending import run_paid, run_pairs
from .state import Comparison, State
from .statistics import wilson

NAME = "release"
MOST_RUNS = 5
"""Runs of the starting version per sealed task at most, whatever the new one costs."""


async def release(journal: Journal, measure: Measure, *, by: str, alone: Measure | None = None) -> Comparison:
    """Open the sealed tasks, or go on with what was begun: the champion against the version at the start.

    Args:
        journal: of the campaign.
        measure: the laboratory.
        by: who opens them.
        alone: the same laboratory with agents that work by themselves, for the baseline.

    Raises:
        BadArguments: they were used, there are none, or nothing was promoted; that is written down too.
        BudgetExhausted, InfraPause: as `run_pairs`; the next call goes on.
    """
    check_release(journal)
    state = journal.state
    if NAME not in state.comparisons:
        Stages(journal, measure).open_release(NAME, start=state.reigns[0].bundle)
    if not state.sealed:
        journal.write(SealedOpened(comparison=NAME, by=by))
    comparison = state.comparisons[NAME]
    while not isinstance(step := judge(comparison, state.started.plan), Ruling):
        await run_pairs(journal, measure, comparison, step)
    await _run_baseline(journal, measure, comparison, alone)
    step = judge(comparison, state.started.plan)
    assert isinstance(step, Ruling)
    conclude(journal, comparison, step)
    return comparison


def check_release(journal: Journal) -> None:
    """Refuse to open the sealed tasks when that makes no sense; the refusal is written down.

    Raises:
        BadArguments: see `release`.
    """
    if reason := _why_not(journal.state):
        journal.write(Refused(what="sealed tasks", result=GateResult(gate="G10", is_passed=False, reasons=[reason])))
        raise BadArguments(f"the sealed tasks stay closed: {reason}")


def release_facts(state: State) -> dict[str, Any] | None:
    """Shares with intervals of the new version, the start, the start with as much budget, and agents by themselves."""
    comparison = state.comparisons.get(NAME)
    if comparison is None:
        return None
    unit = state.started.plan.cost_unit
    arms: dict[str, list[list[EpisodeRecord]]] = {"champion": [], "start": [], "start, same budget": [], "alone": []}
    for task in range(comparison.opened.pairs):
        runs = _runs(comparison, task)
        first = [record for name, record in runs if name.isdigit()]
        more = [record for name, record in runs if name.startswith("more")]
        arms["champion"].append(_valid(comparison, task, "challenger"))
        arms["start"].append(first)
        arms["start, same budget"].append([*first, *more] if more else [])
        arms["alone"].append([record for name, record in runs if name == "alone"])
    return {name: _share(tasks, unit) for name, tasks in arms.items() if any(tasks)}


def _why_not(state: State) -> str:
    if not state.started.tasks.sealed:
        return "the campaign has none"
    if state.sealed and state.comparisons[state.sealed].closed:
        return "they were opened before and are of no use any more"
    if not state.sealed and state.champion.bundle == state.reigns[0].bundle:
        return "the champion is the version of the start, there is nothing to release"
    return ""


async def _run_baseline(journal: Journal, measure: Measure, comparison: Comparison, alone: Measure | None) -> None:
    """The starting version again until it has cost as much as the champion; then agents without each other."""
    unit, opened = journal.state.started.plan.cost_unit, comparison.opened
    spent = {"champion": 0.0, "challenger": 0.0}
    for task in range(opened.pairs):
        for arm in ("champion", "challenger"):
            spent[arm] += sum(cost_of(record, unit) or 0.0 for record in _valid(comparison, task, arm))
    runs = min(MOST_RUNS, max(2, math.ceil(spent["challenger"] / spent["champion"] if spent["champion"] else 2)))
    for task in range(opened.pairs):
        for number in range(1, runs):
            await _run_one(journal, measure, comparison, task, f"more-{number}")
        if alone is not None:
            await _run_one(journal, alone, comparison, task, "alone")


async def _run_one(journal: Journal, measure: Measure, comparison: Comparison, index: int, name: str) -> None:
    pair = f"{comparison.opened.comparison}/{index}/{name}"
    if comparison.records.get(pair):
        return
    task = journal.state.tasks[comparison.opened.tasks[index]]
    seed = comparison.opened.seed + index + int.from_bytes(name.encode()[-1:])
    one = PlannedEpisode(
        task=task, bundle=comparison.opened.champion, purpose="sealed", seed=seed, pair=pair, arm="champion"
    )
    await run_paid(journal, measure, [one], comparison=comparison.opened.comparison)


def _runs(comparison: Comparison, task: int) -> list[tuple[str, EpisodeRecord]]:
    """Episodes of the starting version on one task, by the last part of their pair."""
    found: list[tuple[str, EpisodeRecord]] = []
    for pair, arms in comparison.records.items():
        _, index, name = pair.rsplit("/", 2)
        if int(index) == task and (record := arms.get("champion")) and record.outcome not in ("invalid", "censored"):
            found.append((name, record))
    return found


def _valid(comparison: Comparison, task: int, arm: str) -> list[EpisodeRecord]:
    prefix = f"{comparison.opened.comparison}/{task}/"
    records = [
        arms[arm]
        for pair, arms in comparison.records.items()
        if pair.startswith(prefix) and pair.rsplit("/", 1)[1].isdigit() and arm in arms
    ]
    return [record for record in records if record.outcome not in ("invalid", "censored")][:1]


def _share(tasks: list[list[EpisodeRecord]], unit: Unit) -> dict[str, Any]:
    tried = [runs for runs in tasks if runs]
    solved = sum(any(is_solved(record) for record in runs) for runs in tried)
    costs = [cost_of(record, unit) or 0.0 for runs in tried for record in runs]
    share = msgspec.to_builtins(wilson(solved, len(tried)))
    return {"tasks": len(tried), "solved": solved, "share": share, "runs": len(costs), unit: sum(costs)}
