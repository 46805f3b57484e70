"""What a suite came to: counts for programs, tables for people."""

import statistics
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bus.records import EpisodeRecord

from .suite_folder import SuiteFolder, SuiteOrder

OUTCOMES = ("solved", "refuted", "unsolved", "invalid")
_MIB = 2**20


class SuiteSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over the episodes that are done.

    Attributes:
        episodes: all, done or not.
        done: those with a record.
        solved, refuted, unsolved, invalid: how they ended; invalid ones say nothing about the team.
        seconds: time of the teams, all episodes together.
        checks: Lean checks.
        median_proof_s: from the opening until the theorem was closed; the assembly comes after it.
        median_checks_to_proof: Lean checks until then, by the whole team.
        reused: how often one agent's lemma was used by another's.
        duplicates: lemmas and attempts made a second time by somebody else.
        disk_mib: size of the suite's folder.
        families: family → how many ended how.
    """

    episodes: int
    done: int
    solved: int
    refuted: int
    unsolved: int
    invalid: int
    seconds: float
    checks: int
    median_proof_s: float | None
    median_checks_to_proof: float | None
    reused: int
    duplicates: int
    disk_mib: float
    families: dict[str, dict[str, int]]


def summary_of(order: SuiteOrder, records: dict[str, EpisodeRecord], folder: SuiteFolder) -> SuiteSummary:
    """Count what is done."""
    done = list(records.values())
    counts = outcome_counts(done)
    families: dict[str, dict[str, int]] = {}
    for family in dict.fromkeys(task.family for task in order.tasks):
        members = [records[task.id] for task in order.tasks if task.family == family and task.id in records]
        families[family] = {"done": len(members), **outcome_counts(members)}
    return SuiteSummary(
        episodes=len(order.tasks),
        done=len(done),
        solved=counts["solved"],
        refuted=counts["refuted"],
        unsolved=counts["unsolved"],
        invalid=counts["invalid"],
        seconds=round(sum(record.spent.seconds for record in done), 1),
        checks=sum(record.spent.checks for record in done),
        median_proof_s=median_counter(done, "proved_s"),
        median_checks_to_proof=median_counter(done, "checks_to_proof"),
        reused=int(sum(record.counters.get("reused", 0) for record in done)),
        duplicates=int(sum(record.counters.get("duplicates", 0) for record in done)),
        disk_mib=round(folder.disk_bytes() / _MIB, 2),
        families=families,
    )


def outcome_counts(records: Sequence[EpisodeRecord]) -> dict[str, int]:
    """How many ended how."""
    return {name: sum(record.outcome == name for record in records) for name in OUTCOMES}


def median_counter(records: Sequence[EpisodeRecord], name: str) -> float | None:
    """Median of a counter over the solved episodes that have it."""
    values = [record.counters[name] for record in records if record.outcome == "solved" and name in record.counters]
    return round(statistics.median(values), 2) if values else None


def print_summary(summary: SuiteSummary, records: dict[str, EpisodeRecord], console: Console) -> None:
    """The counts by family and what was not solved."""
    table = Table(title="how the episodes ended", title_justify="left")
    table.add_column("family", overflow="fold")
    for name in ("done", *OUTCOMES):
        table.add_column(name, justify="right")
    for family, counts in summary.families.items():
        table.add_row(Text(family), *(str(counts[name]) for name in ("done", *OUTCOMES)))
    if len(summary.families) > 1:
        table.add_row("all", *(str(getattr(summary, name)) for name in ("done", *OUTCOMES)))
    console.print(table)
    for outcome in ("unsolved", "invalid"):
        names = [record.task for record in records.values() if record.outcome == outcome]
        if names:
            console.print(Text(f"{outcome}: {', '.join(names)}"), soft_wrap=True)
    console.print(Text(_sentence(summary)), soft_wrap=True)


def _sentence(summary: SuiteSummary) -> str:
    words = [f"{summary.done} of {summary.episodes} episodes in {summary.seconds:.0f} s of the teams' time"]
    words.append(f"{summary.checks} checks, {summary.reused} uses of others' lemmas, {summary.disk_mib} MiB on disk")
    if summary.median_proof_s is not None:
        words.append(f"median proof after {summary.median_proof_s:g} s and {summary.median_checks_to_proof:g} checks")
    return "; ".join(words)


def summary_json(summary: SuiteSummary, records: dict[str, EpisodeRecord]) -> dict[str, Any]:
    """What `--json` prints: the counts and the outcome of each task."""
    return {**msgspec.to_builtins(summary), "outcomes": {task: one.outcome for task, one in records.items()}}
