"""The report of a suite as one HTML page that opens without a network."""

import html
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence

from bus.messages import Event
from bus.records import EpisodeRecord

from .episode_facts import uses
from .suite_folder import SuiteFolder, SuiteOrder
from .suite_plots import reuse_graph, sharing_curves, solved_curves
from .suite_summary import OUTCOMES, SuiteSummary

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { border-collapse: collapse; font-size: 13px } td, th { padding: .2rem .6rem; text-align: right }
td:first-child, th:first-child, td.text { text-align: left } tr:nth-child(even) { background: #f5f5f5 }
th { border-bottom: 1px solid #999 } svg { max-width: 100%; height: auto } .note { color: #666 }
.solved { color: #00724f } .refuted { color: #0072b2 } .unsolved { color: #b34700 } .invalid { color: #888 }
"""
NO_PLOTS = "Plots need the extra <code>plots</code>: <code>pip install 'adapter-server[plots]'</code>."
Row = tuple[str, ...]


def suite_page(
    order: SuiteOrder, records: Mapping[str, EpisodeRecord], summary: SuiteSummary, folder: SuiteFolder
) -> str:
    """The page: counts, plots, and a row for each problem."""
    done = [records[task.id] for task in order.tasks if task.id in records]
    limits = f"{order.caps.seconds:g} s" + (f", {order.caps.checks} checks" if order.caps.checks else "")
    asked = f"{_e(order.team)}, {limits} for each problem, seed {order.seed}, {order.jobs} at a time"
    counted = f"{summary.checks} Lean checks; {summary.reused} uses of lemmas by others than their authors"
    twice = f"{summary.duplicates} pieces of work done twice; {summary.disk_mib} MiB on disk"
    parts = [
        f"<p>{asked}. {summary.done} of {summary.episodes} episodes are done.</p>",
        table(("family", "done", *OUTCOMES), [_family_row(name, row) for name, row in summary.families.items()]),
        f"<p>{counted}; {twice}.</p>",
        "<h2>Solved over time</h2>",
        plot(lambda: solved_curves({order.team: done}, "proved_s", label="seconds until the theorem was closed")),
        "<h2>Lemmas shared</h2>",
        plot(lambda: sharing_curves([events for one in done for events in folder.events(one.task)])),
        *_proof_part(done, folder),
        "<h2>Problems</h2>",
        table(PROBLEM_HEADINGS, [problem_row(record) for record in done], text_from=8),
    ]
    return page(f"Suite of {len(order.tasks)} problems", parts)


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page; the parts are HTML."""
    body = "\n".join(parts)
    head = f'<meta charset="utf-8"><title>{_e(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><h1>{_e(title)}</h1>\n{body}\n</body></html>\n'


def plot(draw: Callable[[], str]) -> str:
    """A figure, or how to get it when the plotting library is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        return f'<p class="note">{NO_PLOTS}</p>'
    return f"<figure>{draw()}</figure>"


def table(headings: Sequence[str], rows: Iterable[Row], *, text_from: int = 99) -> str:
    """A table; cells that are names of outcomes are coloured, those from a column on are text."""
    head = "".join(f"<th>{_e(heading)}</th>" for heading in headings)
    body = "\n".join(
        "<tr>" + "".join(_cell(cell, is_text=index >= text_from) for index, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


PROBLEM_HEADINGS = (
    "problem", "outcome", "proof after s", "checks until then", "checks", "lemmas", "in the proof", "reused", "why",
)  # fmt: skip


def problem_row(record: EpisodeRecord) -> Row:
    """One problem of a suite."""
    counters = record.counters
    return (
        record.task,
        record.outcome,
        f"{counters['proved_s']:.1f}" if "proved_s" in counters else "",
        f"{counters['checks_to_proof']:.0f}" if "checks_to_proof" in counters else "",
        str(record.spent.checks),
        str(record.lemmas),
        str(record.used_lemmas) if record.outcome == "solved" else "",
        f"{counters.get('reused', 0):.0f}",
        "" if record.outcome == "solved" else record.reason,
    )


def _family_row(name: str, counts: Mapping[str, int]) -> Row:
    return (name, *(str(counts[key]) for key in ("done", *OUTCOMES)))


def _proof_part(done: Sequence[EpisodeRecord], folder: SuiteFolder) -> list[str]:
    """The proof in which most lemmas were used by others."""
    solved = [record for record in done if record.outcome == "solved"]
    best = max(solved, key=lambda record: (record.counters.get("reused", 0), -record.lemmas), default=None)
    if best is None:
        return []
    events = max(folder.events(best.task), key=_sharing)
    return [f"<h2>How the proof of {_e(best.task)} was put together</h2>", plot(lambda: reuse_graph(events))]


def _sharing(events: Sequence[Event]) -> int:
    return len(uses(events))


def _cell(text: str, *, is_text: bool) -> str:
    kind = text if text in OUTCOMES else "text" if is_text else ""
    return f'<td class="{kind}">{_e(text)}</td>' if kind else f"<td>{_e(text)}</td>"


def _e(text: str) -> str:
    return html.escape(text)
