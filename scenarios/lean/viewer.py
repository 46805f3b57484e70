"""What a run asks of whoever wants to see it."""

from typing import Protocol

from .run_record import RunOrder
from .run_state import RunState


class Viewer(Protocol):
    """Whoever wants to see a run while it goes on."""

    def begin(self, order: RunOrder, statement: str) -> None:
        """The episode is open."""
        ...

    def show(self, state: RunState, lines: list[str]) -> None:
        """Something happened: the new state, and the same in words."""
        ...

    def note(self, line: str) -> None:
        """Something that is no event of the episode."""
        ...
