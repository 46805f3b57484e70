"""A suite on the screen: a bar with the time that is left on a terminal, one line per episode elsewhere."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from bus.records import EpisodeRecord

from .suite_summary import outcome_counts

_ETA_OVER_S = 600.0
"""The time that is left is guessed from the episodes of the last so many seconds."""


class _Bar(Progress):
    """The bar on a line of its own, and below it what is cut off where the terminal ends."""

    def get_renderables(self) -> Iterable[RenderableType]:
        """See `Progress`."""
        yield from super().get_renderables()
        for task in self.tasks:
            yield Text(task.fields["state"], no_wrap=True, overflow="ellipsis")


class SuiteProgress:
    """Counts what ends and shows it on stderr."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self._progress = progress
        self._console = console
        self._bar = progress.add_task("", total=1, state="")
        self._total = 0
        self._done: list[EpisodeRecord] = []
        self._running: dict[str, None] = {}

    def begin(self, total: int, done: Sequence[EpisodeRecord]) -> None:
        """Show how much there is to do and what was done before."""
        self._total, self._done = total, list(done)
        self._progress.reset(self._bar, total=total, completed=len(done))
        if done:
            self._console.print(Text(f"{len(done)} of {total} episodes were done before"))
        self._draw()

    def starts(self, label: str) -> None:
        """Show what is under way."""
        self._running[label] = None
        self._draw()

    def ends(self, label: str, record: EpisodeRecord) -> None:
        """Say how an episode ended."""
        self._done.append(record)
        self._running.pop(label, None)
        reason = f"; {record.reason}" if record.outcome == "invalid" else ""
        line = f"{label}: {record.outcome} after {record.spent.seconds:.1f} s, {record.spent.checks} checks{reason}"
        number = "" if self._console.is_terminal else f"[{len(self._done)}/{self._total}] "
        self._console.print(Text(number + line), soft_wrap=True)
        self._progress.advance(self._bar)
        self._draw()

    def _draw(self) -> None:
        counts = ", ".join(f"{count} {name}" for name, count in outcome_counts(self._done).items() if count)
        waiting = "" if len(self._done) >= self._total else "starting"
        state = f"{counts}  {' '.join(self._running) or waiting}".strip()
        self._progress.update(self._bar, state=state)


@contextmanager
def suite_progress() -> Generator[SuiteProgress]:
    """The progress of a suite, on stderr."""
    console = Console(stderr=True, highlight=False)
    # On a narrow terminal the bar gives way, not the numbers.
    columns = (
        BarColumn(bar_width=30),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TextColumn("gone,"),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        TextColumn("left"),
    )
    with _Bar(
        *columns, console=console, disable=not console.is_terminal, speed_estimate_period=_ETA_OVER_S
    ) as progress:
        yield SuiteProgress(progress, console)
