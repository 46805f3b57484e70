"""The report of a campaign as one HTML page that opens without a network."""

import html
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from . import report_plots as plots
from .plan import SPLITS
from .predictions import PredictionCheck
from .release import release_facts
from .report_facts import SHORT, confirmed_gains, generations, pairs_so_far, stages_of
from .state import Comparison, Proposal, State
from .statistics import Interval

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #ddd }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem } figure { margin: .5rem 0 } svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-size: 13px; margin: .4rem 0 } td, th { padding: .2rem .6rem; text-align: left }
th { border-bottom: 1px solid #999 } tr:nth-child(even) { background: #f5f5f5 } .note { color: #666 }
pre { background: #f5f5f5; padding: .6rem; overflow-x: auto; font-size: 12px; white-space: pre-wrap }
.verdict { font-size: 1.05rem; padding: .6rem .9rem; background: #eef4fa; border-left: 4px solid #0072b2 }
.none { background: #fdf3e7; border-color: #d55e00 } .fate { font-weight: 600 } code { font-size: .9em }
"""
NO_PLOTS = "Plots need the extra <code>plots</code>: <code>pip install 'adapter-server[plots]'</code>."
SHOWN = 2_000
"""Characters of a proposal's content."""


_BARS = "Bars are 95 % intervals. Search tasks choose a version and so flatter it; fresh tasks do not."


def report_page(state: State) -> str:
    """The page. What was not measured is said to be so; nothing is rounded into a success."""
    parts = [
        _verdict(state),
        _budget(state),
        "<h2>Lineage</h2>",
        _plot(lambda: plots.lineage_tree(state)),
        "<h2>Score over generations</h2>",
        f'<p class="note">{_BARS}</p>',
        _plot(lambda: plots.score_by_generation(state)),
        *_gains(state),
        "<h2>Cost against score</h2>",
        _plot(lambda: plots.cost_against_score(state)),
        "<h2>Noise: the champion against itself</h2>",
        _calibrations(state),
        "<h2>Sealed tasks and the same budget without evolution</h2>",
        _sealed(state),
        "<h2>Fates of proposals</h2>",
        _plot(lambda: plots.fates_of_proposals(state)) if state.rounds else "<p>Nothing was proposed.</p>",
        *[_proposal(state, proposal) for proposal in state.proposals.values()],
        *_others(state),
    ]
    head = f'<meta charset="utf-8"><title>Evolution of the adapter</title><style>{STYLE}</style>'
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><h1>Evolution of the adapter</h1>\n{body}\n'
        "</body></html>\n"
    )


def _verdict(state: State) -> str:
    line = generations(state)
    start, now = line[0][:SHORT], state.champion.bundle[:SHORT]
    tried = f"Proposals: {len(state.proposals)}, versions that were in use: {len(set(line))}"
    if not state.promoted:
        words = (
            f"<strong>Nothing was promoted.</strong> {tried}. In use is the version of the start, "
            f"<code>{start}</code>. No change showed a gain that the gates accept."
        )
        return f'<p class="verdict none">{words}</p>'
    gains = ", ".join(
        f"{one.proposal} {_points(one.gain)} on {one.pairs} fresh pairs" for one in confirmed_gains(state)
    )
    back = "" if state.champion.bundle != line[0] else " The version of the start is in use again."
    words = f"<strong>{state.promoted} promoted</strong> ({gains}). {tried}. In use is <code>{now}</code>.{back}"
    return f'<p class="verdict">{words}</p>'


def _budget(state: State) -> str:
    plan = state.started.plan
    rows = [
        (
            unit,
            f"{amount + state.raised.get(unit, 0):g}",
            f"{state.spent.get(unit, 0):g}",
            f"{state.lost.get(unit, 0):g}",
        )
        for unit, amount in plan.budget.items()
    ]
    sizes = ", ".join(f"{len(state.started.tasks.split(name))} {name}" for name in SPLITS)
    said = f"<p>Tasks: {sizes}; seed {plan.seed}. Configuration <code>{state.started.config_hash[:SHORT]}</code>.</p>"
    stopped = f"<p>Stopped: {_e(state.stopped)}.</p>" if state.stopped else ""
    frozen = f"<p><strong>Frozen:</strong> {_e(state.frozen)}.</p>" if state.frozen else ""
    return said + stopped + frozen + _table(("budget", "granted", "spent", "of that lost to failures"), rows)


def _gains(state: State) -> list[str]:
    if not confirmed_gains(state):
        return []
    return ["<h2>Confirmed gains</h2>", _plot(lambda: plots.gains_of_promotions(state))]


def _calibrations(state: State) -> str:
    if not state.calibrations:
        return "<p>The champion was not compared with itself, so nothing could be compared.</p>"
    rows: list[tuple[str, ...]] = []
    for key, calibration in state.calibrations.items():
        facts = calibration.result.facts
        rows.append(
            (
                _cut(key, 90),
                calibration.champion[:SHORT],
                str(facts.get("pairs", 0)),
                f"{100 * facts.get('discordance', 0):.0f} %",
                f"{100 * facts.get('invalid_share', 0):.0f} %",
                ", ".join(f"{mean:.3g} {unit}" for unit, mean in facts.get("mean_cost", {}).items()),
            )
        )
    words = "Two runs of one and the same version differ on so many tasks by chance alone."
    headings = ("conditions", "version", "pairs", "differed", "invalid", "mean cost")
    return f"<p>{words}</p>" + _table(headings, rows)


def _sealed(state: State) -> str:
    facts = release_facts(state)
    if facts is None:
        count = len(state.started.tasks.sealed)
        return f"<p>{count} sealed tasks were not opened: there is no result on them.</p>"
    unit = state.started.plan.cost_unit
    rows = [
        (
            name,
            str(one["tasks"]),
            str(one["solved"]),
            _share(msgspec.convert(one["share"], Interval)),
            str(one["runs"]),
            f"{one[unit]:.4g}",
        )
        for name, one in facts.items()
    ]
    closed = state.comparisons[state.sealed].closed if state.sealed else None
    end = _e("; ".join(closed.result.reasons) or "the gain since the start is shown") if closed else "under way"
    headings = ("who", "tasks", "solved by any run", "share, 95 %", "runs", unit)
    return _table(headings, rows) + f"<p>{end}.</p>"


def _proposal(state: State, proposal: Proposal) -> str:
    patch, proposed = proposal.proposed.patch, proposal.proposed
    stages = stages_of(state, proposal)
    rejected = proposal.rejected.results if proposal.rejected else []
    reasons = [f"{result.gate}: {reason}" for result in rejected for reason in result.reasons]
    checks = _last_checks(stages)
    colour = plots.COLOURS.get(proposal.fate, "#000")
    fate = f'<span class="fate" style="color:{colour}">{_e(proposal.fate)}</span>'
    made = f"By {_e(proposed.proposer)} for <code>{_e(proposed.champion[:SHORT])}</code>."
    shown = f"<summary>content, {len(patch.content)} characters</summary><pre>{_e(_cut(patch.content, SHOWN))}</pre>"
    parts = [
        f"<h3>{_e(proposed.proposal)}: <code>{_e(patch.component)}</code>, {fate}</h3>",
        f"<p>{made} Hypothesis: {_e(patch.hypothesis) or '<em>none</em>'}</p>",
        _list(reasons),
        _table(_STAGE_HEADINGS, [_stage_row(one) for one in stages]) if stages else "",
        _predictions(proposal, checks),
        f"<details>{shown}</details>",
    ]
    return "".join(parts)


_STAGE_HEADINGS = ("stage", "pairs", "won", "lost", "gain, 95 %", "evidence", "end")


def _stage_row(comparison: Comparison) -> tuple[str, ...]:
    opened, closed = comparison.opened, comparison.closed
    if closed is None:
        return (opened.stage, f"{pairs_so_far(comparison)} of {opened.pairs}", "", "", "", "", "under way")
    facts = closed.result.facts
    gain = _points(msgspec.convert(facts["gain"], Interval)) if facts.get("pairs") and "gain" in facts else ""
    end = "passed" if closed.result.is_passed else "; ".join(closed.result.reasons)
    return (
        opened.stage,
        f"{facts.get('pairs', 0)} of {opened.pairs}",
        str(facts.get("wins", "")),
        str(facts.get("losses", "")),
        gain,
        _evidence(facts),
        end,
    )


def _evidence(facts: dict[str, Any]) -> str:
    if "e" in facts:
        return f"e = {facts['e']:.3g}, needed {facts.get('needed', 0):g}"
    p = facts.get("p")
    return f"p = {p:.3g}" if isinstance(p, float) else ""


def _last_checks(stages: Sequence[Comparison]) -> list[PredictionCheck]:
    """Of the last comparison that has any: the freshest tasks."""
    for comparison in reversed(stages):
        checks: list[PredictionCheck] = getattr(comparison.closed, "predictions", [])
        if checks:
            return checks
    return []


def _predictions(proposal: Proposal, checks: Sequence[PredictionCheck]) -> str:
    if not proposal.proposed.patch.predictions:
        return '<p class="note">It predicted nothing.</p>'
    if not checks:
        said = ", ".join(
            f"{one.metric} {one.relation.replace('_', ' ')} {one.amount:+g}"
            for one in proposal.proposed.patch.predictions
        )
        return f'<p class="note">Predicted, never measured: {_e(said)}.</p>'
    rows = [
        (
            f"{one.prediction.metric}: change {one.prediction.relation.replace('_', ' ')} {one.prediction.amount:+g}",
            _number(one.champion),
            _number(one.challenger),
            "not known" if one.change is None else f"{one.change:+.3g}",
            {True: "met", False: "not met", None: "cannot be said"}[one.is_met],
        )
        for one in checks
    ]
    return _table(("prediction", "champion", "challenger", "change", "so it was"), rows)


def _others(state: State) -> list[str]:
    parts: list[str] = []
    if state.nothing_proposed:
        lines = [f"{one.proposer}: {one.reason}" for one in state.nothing_proposed]
        parts += ["<h2>No change proposed</h2>", _list(lines)]
    if state.refusals:
        lines = [f"{one.what}: {'; '.join(one.result.reasons)}" for one in state.refusals]
        parts += ["<h2>Refused</h2>", _list(lines)]
    if state.pauses:
        parts += ["<h2>Pauses, in which nothing was scored</h2>", _list(state.pauses)]
    return parts


def _plot(draw: Callable[[], str]) -> str:
    if importlib.util.find_spec("matplotlib") is None:
        return f'<p class="note">{NO_PLOTS}</p>'
    return f"<figure>{draw()}</figure>"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{_e(heading)}</th>" for heading in headings)
    body = "\n".join("<tr>" + "".join(f"<td>{_e(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{_e(line)}</li>" for line in lines) + "</ul>" if lines else ""


def _points(interval: Interval) -> str:
    return f"{100 * interval.estimate:+.0f} points [{100 * interval.low:+.0f}, {100 * interval.high:+.0f}]"


def _share(interval: Interval) -> str:
    return f"{100 * interval.estimate:.0f} % [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


def _number(value: float | None) -> str:
    return "not known" if value is None else f"{value:.4g}"


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def _e(text: object) -> str:
    return html.escape(str(text))
