"""What a run may use: time, Lean checks, a server, a nursery."""

from pathlib import Path

import anyio
import msgspec

from clients.nursery import Nursery


class CheckBudget:
    """Lean checks that runs may use together. What is under way when the last one is used still counts."""

    def __init__(self, checks: int) -> None:
        self.checks = checks
        self.left = checks
        self.is_spent = anyio.Event()

    def stop(self) -> None:
        """Let the runs end now."""
        self.is_spent.set()

    def take(self) -> None:
        """One check was made."""
        self.left -= 1
        if self.left <= 0:
            self.is_spent.set()


class RunLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is to be carried out this time."""

    seconds: float
    """Time for the team, from now."""
    budget: CheckBudget | None = None
    """Lean checks for the team; None is no limit."""
    token_file: Path | None = None
    """Token of a server that runs already."""
    server_options: tuple[str, ...] = ()
    """More options for the run's own server."""
    nursery: Nursery | None = None
    """Where its tacticians come from; without it the run has one of its own."""
