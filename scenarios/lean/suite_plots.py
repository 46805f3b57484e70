"""Figures about suites as SVG text. They need the extra `plots`."""

import io
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from bus.messages import Event
from bus.records import EpisodeRecord

from .episode_facts import proved_ms, uses

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#000000")
"""Told apart by people who do not see all colours (Okabe and Ito)."""

LABEL_CAP = 46


def solved_curves(arms: Mapping[str, Sequence[EpisodeRecord]], counter: str, *, label: str) -> str:
    """How many problems are solved, by time or by checks, a line for each arm."""
    figure, axes = _figure(7, 3.6)
    for (name, records), colour in zip(arms.items(), itertools.cycle(COLOURS)):
        values = sorted(r.counters[counter] for r in records if r.outcome == "solved" and counter in r.counters)
        if values:
            axes.step([0, *values], range(len(values) + 1), where="post", label=name, color=colour)
    axes.set_xlabel(label)
    axes.set_ylabel("solved")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    if len(arms) > 1:
        axes.legend(frameon=False)
    return _svg(figure)


def sharing_curves(episodes: Sequence[Sequence[Event]]) -> str:
    """Lemmas accepted, and uses of others' lemmas, by the time since the episode was opened; all episodes together."""
    figure, axes = _figure(7, 3.6)
    accepted: list[float] = []
    shared: list[float] = []
    for events in episodes:
        if not events:
            continue
        at = {
            str(e.body.get("lemma")): (e.at_ms - events[0].at_ms) / 1000 for e in events if e.kind == "lemma_accepted"
        }
        accepted += at.values()
        shared += [at[lemma] for lemma, _, is_shared in uses(events) if is_shared]
    for values, name, colour in ((accepted, "lemmas accepted", COLOURS[0]), (shared, "used by others", COLOURS[1])):
        axes.step([0, *sorted(values)], range(len(values) + 1), where="post", label=name, color=colour)
    axes.set_xlabel("seconds since the opening")
    axes.set_ylabel("all episodes together")
    axes.legend(frameon=False)
    return _svg(figure)


def reuse_graph(events: Sequence[Event]) -> str:
    """What the proof of an episode is made of: a box for each lemma, its colour says who proved it."""
    bodies = {str(e.body.get("lemma")): e.body for e in events if e.kind == "lemma_accepted"}
    edges = [(lemma, used) for lemma, used, _ in uses(events)]
    root = _root_lemma(events)
    needed, fresh = {root}, {root}
    while fresh:
        fresh = {used for lemma, used in edges if lemma in fresh} - needed
        needed |= fresh
    edges = [edge for edge in edges if edge[0] in needed]
    level = _heights(needed, edges)
    rows = [[one for one in needed if level[one] == height] for height in range(max(level.values()) + 1)]
    places = {
        lemma: ((index + 0.5) / len(row), height) for height, row in enumerate(rows) for index, lemma in enumerate(row)
    }
    authors = sorted({str(bodies[one].get("author")) for one in needed if one in bodies})
    figure, axes = _figure(max(7.0, 3.4 * max(map(len, rows))), 1.2 + 1.1 * len(rows))
    for lemma, used in edges:
        arrow = {"arrowstyle": "->", "color": "#888888", "lw": 1, "shrinkA": 16, "shrinkB": 18}
        axes.annotate("", xy=places[lemma], xytext=places[used], arrowprops=arrow)
    for lemma, (x, y) in places.items():
        body = bodies.get(lemma, {})
        colour = COLOURS[authors.index(str(body.get("author"))) % len(COLOURS)] if body else "#999999"
        _box(axes, x, y, f"{body.get('name', lemma)}\n{_cut(str(body.get('statement', '')))}", colour)
    for index, author in enumerate(authors):
        axes.plot([], [], "s", color=COLOURS[index % len(COLOURS)], label=author)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=min(len(authors), 5))
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.5, len(rows) - 0.5)
    axes.axis("off")
    return _svg(figure)


def _root_lemma(events: Sequence[Event]) -> str:
    at = proved_ms(events)
    closed = [e for e in events if e.kind == "node_closed" and e.at_ms == at]
    return str(closed[0].body.get("lemma")) if closed else ""


def _heights(lemmas: set[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Lemmas without lemmas stand at the bottom, each other one above all that it uses."""
    heights = dict.fromkeys(lemmas, 0)
    for _ in lemmas:  # the longest path; there are no circles, because a lemma uses accepted ones only
        for lemma, used in edges:
            heights[lemma] = max(heights[lemma], 1 + heights[used])
    return heights


def _box(axes: Any, x: float, y: float, text: str, colour: str) -> None:
    look = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": colour, "linewidth": 1.6}
    axes.text(x, y, text, ha="center", va="center", fontsize=7.5, bbox=look, parse_math=False)


def _cut(text: str) -> str:
    return text if len(text) <= LABEL_CAP else text[: LABEL_CAP - 1] + "…"


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
