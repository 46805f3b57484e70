"""Figures of a campaign as SVG text. They need the extra `plots`."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from .report_facts import SHORT, VersionPoint, confirmed_gains, fates, generations, version_points
from .state import State

COLOURS = {
    "champion": "#0072b2", "promoted": "#0072b2", "waiting for approval": "#56b4e9", "better": "#56b4e9",
    "cheaper-quality-unresolved": "#009e73", "undecided": "#e69f00", "worse": "#d55e00", "static_rejected": "#cc79a7",
    "void": "#999999", "open": "#000000", "no_change": "#bbbbbb", "no proposal": "#666666",
}  # fmt: skip
"""By fate; told apart by people who do not see all colours (Okabe and Ito)."""

MOST_ROWS = 24
"""Proposals of one champion that the tree shows."""


def lineage_tree(state: State) -> str:
    """Versions in use from left to right; below each, the proposals that were made for it and what became of them."""
    line = generations(state)
    columns = [[p for p in state.proposals.values() if p.proposed.champion == bundle][-MOST_ROWS:] for bundle in line]
    rows = max(map(len, columns), default=0)
    figure, axes = _figure(max(6.5, 3.4 * len(line)), 1.2 + 0.34 * (rows + 1))
    for column, (bundle, proposals) in enumerate(zip(line, columns, strict=True)):
        if column:
            axes.annotate(
                "", xy=(column - 0.02, 0), xytext=(column - 0.72, 0), arrowprops={"arrowstyle": "->", "lw": 2}
            )
        axes.plot(column, 0, "o", markersize=13, color=COLOURS["champion"])
        axes.text(column + 0.06, 0.33, f"{column}: {bundle[:SHORT]}", fontsize=8.5, fontweight="bold")
        for row, proposal in enumerate(proposals, start=1):
            axes.plot([column, column, column + 0.1], [0, -row, -row], color="#bbbbbb", lw=1, zorder=0)
            axes.plot(column + 0.1, -row, "o", markersize=7, color=COLOURS.get(proposal.fate, "#000000"))
            words = f"{proposal.proposed.proposal} {_cut(proposal.proposed.patch.component, 24)}: {proposal.fate}"
            axes.text(column + 0.15, -row, words, fontsize=8, va="center", parse_math=False)
    axes.set_xlim(-0.15, max(1.0, len(line) - 0.05))
    axes.set_ylim(-rows - 0.7, 0.9)
    axes.axis("off")
    return _svg(figure, "Lineage of versions")


def score_by_generation(state: State) -> str:
    """Share solved of each version in use, on search tasks and on fresh ones, with 95 % intervals."""
    line = generations(state)
    figure, axes = _figure(7, 3.4)
    search, fresh = version_points(state, "search"), version_points(state, "confirm")
    series = (("search tasks, which choose", search, -0.06, "#999999"), ("fresh tasks", fresh, 0.06, "#0072b2"))
    for name, points, shift, colour in series:
        seen = [(number + shift, points[bundle]) for number, bundle in enumerate(line) if bundle in points]
        _with_bars(axes, [x for x, _ in seen], [point for _, point in seen], colour=colour, label=name)
    axes.set_xticks(range(len(line)), [f"{number}\n{bundle[4:SHORT]}" for number, bundle in enumerate(line)])
    axes.set_xlim(-0.5, len(line) - 0.5)
    axes.set_xlabel("generation")
    _share_axis(axes)
    if search or fresh:
        axes.legend(frameon=False, fontsize=8, loc="best")
    return _svg(figure, "Share solved by generation")


def cost_against_score(state: State) -> str:
    """Every measured version on search tasks: mean cost of an episode against the share solved."""
    figure, axes = _figure(7, 3.6)
    by_fate: dict[str, list[VersionPoint]] = {}
    for point in version_points(state, "search").values():
        if point.cost is not None:
            by_fate.setdefault(point.fate, []).append(point)
    for fate, points in by_fate.items():
        costs = [point.cost or 0.0 for point in points]
        _with_bars(axes, costs, points, colour=COLOURS.get(fate, "#000000"), label=fate)
    axes.set_xlabel(f"{state.started.plan.cost_unit} of an episode, mean")
    axes.set_xlim(left=0)
    _share_axis(axes)
    if by_fate:
        axes.legend(frameon=False, fontsize=8, loc="best")
    return _svg(figure, "Cost against score")


def fates_of_proposals(state: State) -> str:
    """How many proposals ended how."""
    counts = fates(state)
    names = [name for name in COLOURS if counts[name]]
    figure, axes = _figure(7, 0.7 + 0.34 * max(1, len(names)))
    bars = axes.barh(names[::-1], [counts[name] for name in names[::-1]], color=[COLOURS[n] for n in names[::-1]])
    axes.bar_label(bars, padding=3, fontsize=8)
    axes.set_xlabel("proposals")
    axes.xaxis.get_major_locator().set_params(integer=True)
    return _svg(figure, "Fates of proposals")


def gains_of_promotions(state: State) -> str:
    """The confirmed gain of each promotion on fresh tasks, with its 95 % interval."""
    gains = confirmed_gains(state)
    figure, axes = _figure(7, 0.9 + 0.4 * len(gains))
    for row, one in enumerate(gains):
        axes.plot([100 * one.gain.low, 100 * one.gain.high], [row, row], color=COLOURS["champion"], lw=2)
        axes.plot(100 * one.gain.estimate, row, "o", color=COLOURS["champion"])
    axes.axvline(0, color="#999999", lw=1)
    axes.set_yticks(range(len(gains)), [f"{one.proposal}, {one.pairs} pairs" for one in gains])
    axes.set_ylim(len(gains) - 0.4, -0.6)
    axes.set_xlabel("gain in points of the share solved")
    return _svg(figure, "Confirmed gains")


def _with_bars(axes: Any, xs: Sequence[float], points: Sequence[VersionPoint], *, colour: str, label: str) -> None:
    shares = [100 * point.share.estimate for point in points]
    below = [max(0.0, 100 * (point.share.estimate - point.share.low)) for point in points]
    above = [max(0.0, 100 * (point.share.high - point.share.estimate)) for point in points]
    if points:
        axes.errorbar(xs, shares, yerr=[below, above], fmt="o", color=colour, label=label, capsize=3, lw=1.2)


def _share_axis(axes: Any) -> None:
    axes.set_ylabel("solved, %")
    axes.set_ylim(0, 100)


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else "…" + text[-(size - 1) :]


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any, title: str) -> str:
    text = io.StringIO()
    metadata: Mapping[str, str | None] = {"Date": None, "Title": title}
    figure.savefig(text, format="svg", metadata=metadata)
    return text.getvalue()[text.getvalue().index("<svg") :]
