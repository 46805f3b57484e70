"""The report of a comparison: a table on the terminal, and one HTML page that opens without a network."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bus.records import EpisodeRecord

from .suite_comparison import (
    ARM_HEADINGS,
    ARMS,
    PAIRING_HEADINGS,
    Comparison,
    arm_numbers,
    pairing_row,
)
from .suite_folder import SuiteOrder
from .suite_page import page, plot, table
from .suite_plots import solved_curves

Records = Mapping[str, Mapping[str, EpisodeRecord]]
LIMITS = """Every arm has the same time on the same machine and the same number of Lean checks for each problem, counted
over all its agents. Agents of the second arm never meet: each has an episode of its own, at the same time, and the
first success ends the others. Agents of the third arm share plan and messages but take up no lemma of another agent."""
P_VALUE = """p is that of McNemar's exact one-sided test: how likely at least so many of the problems that only one of
both settles would fall to the team if both were equally good."""


def comparison_page(order: SuiteOrder, comparison: Comparison, records: Records) -> str:
    """The page."""
    arms = {arm.name: list(records[arm.name].values()) for arm in ARMS}
    limits = f"{order.caps.seconds:g} s" + (f" and {order.caps.checks} checks" if order.caps.checks else "")
    tasks = [task.id for task in order.tasks]
    outcomes = [(task, *(_outcome(records[arm.name].get(task)) for arm in ARMS)) for task in tasks]
    parts = [
        f"<p>{len(tasks)} problems, at most {limits} for each. {LIMITS}</p>",
        table(ARM_HEADINGS, arm_numbers(comparison, records)),
        "<h2>The team against each</h2>",
        table(PAIRING_HEADINGS, [pairing_row(one) for one in comparison.pairings]),
        f"<p>{P_VALUE}</p>",
        "<h2>Solved by checks</h2>",
        plot(lambda: solved_curves(arms, "checks_to_proof", label="Lean checks until the theorem was closed")),
        "<h2>Solved over time</h2>",
        plot(lambda: solved_curves(arms, "proved_s", label="seconds until the theorem was closed")),
        "<h2>Problems</h2>",
        table(("problem", *(arm.name for arm in ARMS)), outcomes),
    ]
    return page("Does the team pay?", parts)


def print_comparison(comparison: Comparison, records: Records, console: Console) -> None:
    """The two tables of figures."""
    arms = [(name, *figures) for name, _, *figures in arm_numbers(comparison, records)]
    for title, headings, rows in (
        ("arms", (ARM_HEADINGS[0], *ARM_HEADINGS[2:]), arms),
        ("the team against each", PAIRING_HEADINGS, [pairing_row(one) for one in comparison.pairings]),
    ):
        shown = Table(title=title, title_justify="left")
        for heading in headings:
            shown.add_column(heading, overflow="fold")
        for row in rows:
            shown.add_row(*(Text(cell) for cell in row))
        console.print(shown)


def _outcome(record: EpisodeRecord | None) -> str:
    return record.outcome if record is not None else ""
