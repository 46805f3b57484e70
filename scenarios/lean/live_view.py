"""A run on the screen: who claims, proves and reuses what. A table and a tree on a terminal, plain lines elsewhere."""

import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from .run_record import RunOrder
from .run_state import RunState, SeenNode

NEWS_LINES = 12
MAX_NODES = 24
REFRESH_PER_S = 8


class SilentView:
    """Shows nothing."""

    def begin(self, order: RunOrder, statement: str) -> None:
        """Show nothing."""

    def show(self, state: RunState, lines: list[str]) -> None:
        """Show nothing."""

    def note(self, line: str) -> None:
        """Show nothing."""


class PlainView:
    """One line per event, with the seconds since the beginning."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()

    def begin(self, order: RunOrder, statement: str) -> None:
        """Say what is to be proved."""
        self._started = time.monotonic()
        self.note(f"{order.problem.name}: to prove {statement}")

    def show(self, state: RunState, lines: list[str]) -> None:
        """Print what happened."""
        for line in lines:
            self.note(line)

    def note(self, line: str) -> None:
        """Print a line."""
        seconds = time.monotonic() - self._started
        self._console.print(Text(f"{seconds:6.1f}s  {_one_line(line)}"), soft_wrap=True)


class TerminalView:
    """A picture that is drawn again whenever something happens."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._title = ""
        self._statement = ""
        self._state = RunState()
        self._news: deque[str] = deque(maxlen=NEWS_LINES)
        self._started = time.monotonic()

    def begin(self, order: RunOrder, statement: str) -> None:
        """Draw the problem."""
        self._title, self._statement, self._started = order.problem.name, statement, time.monotonic()
        self._draw()

    def show(self, state: RunState, lines: list[str]) -> None:
        """Draw the new state."""
        self._state = state
        for line in lines:
            self.note(line)
        self._draw()

    def note(self, line: str) -> None:
        """Add a line to the news."""
        self._news.append(f"{time.monotonic() - self._started:6.1f}s  {_one_line(line)}")
        self._draw()

    def _draw(self) -> None:
        self._live.update(self.picture())

    def picture(self) -> RenderableType:
        """The whole picture."""
        state = self._state
        title = f"{self._title}  {len(state.lemmas)} lemmas, {state.checks} checks"
        if state.status != "open":
            title += f", {state.status}"
        news = Text("\n".join(self._news), no_wrap=True, overflow="ellipsis")
        return Panel(Group(Text(self._statement), team_table(state), plan_tree(state), news), title=title)


def team_table(state: RunState) -> Table:
    """The members and what they do."""
    table = Table(box=None, pad_edge=False, expand=True)
    for heading, justify in (("agent", "left"), ("role", "left"), ("works on", "left")):
        table.add_column(heading, justify="left" if justify == "left" else "right", no_wrap=True)
    for heading in ("checks", "lemmas", "reused"):
        table.add_column(heading, justify="right", no_wrap=True)
    for agent in state.agents.values():
        counts = (str(agent.checks), str(agent.lemmas), str(agent.reused))
        table.add_row(agent.name, agent.role, agent.doing or "–", *counts)
    return table


def plan_tree(state: RunState) -> Tree:
    """The plan; parts beyond a limit are counted, not shown."""
    roots = state.children(None)
    tree = Tree("plan", hide_root=True)
    shown = 0

    def add(node: SeenNode, branch: Tree, path: frozenset[str]) -> None:
        nonlocal shown
        shown += 1
        if shown > MAX_NODES or node.id in path:
            return
        inner = branch.add(_label(node))
        for child in state.children(node.id):
            add(child, inner, path | {node.id})

    for root in roots:
        add(root, tree, frozenset())
    if shown > MAX_NODES:
        tree.add(Text(f"… {shown - MAX_NODES} more", style="dim"))
    return tree


def _label(node: SeenNode) -> Text:
    mark, style = ("✓", "green") if node.is_closed else ("…", "yellow") if node.holders else ("○", "dim")
    if node.is_refuted:
        mark, style = "✗", "red"
    text = Text(f"{mark} {node.name}  ", style=style, no_wrap=True, overflow="ellipsis")
    text.append(_one_line(node.statement), style="default")
    if node.holders:
        text.append("  ← " + ", ".join(node.holders), style="cyan")
    return text


def _one_line(text: str) -> str:
    return " ".join(text.split())


@contextmanager
def live_view(*, is_silent: bool) -> Generator["SilentView | PlainView | TerminalView"]:
    """The view that fits: none, plain lines, or a picture on a terminal. All of it goes to stderr."""
    if is_silent:
        yield SilentView()
        return
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield PlainView(console)
        return
    with Live(console=console, refresh_per_second=REFRESH_PER_S, auto_refresh=True) as live:
        yield TerminalView(live)
