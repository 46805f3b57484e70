"""The only way to spend: episodes run for the evolver, metered."""

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from bus.records import EpisodeRecord, Purpose, Task

Arm = Literal["champion", "challenger"]


class PlannedEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """One episode that is to be run. `pair`, `arm` and `order` are as in its record."""

    task: Task
    bundle: str
    purpose: Purpose
    seed: int
    pair: str = ""
    arm: Arm | Literal[""] = ""
    order: int = 0


class Measure(Protocol):
    """Runs episodes; a laboratory with real teams, or a simulation."""

    @property
    def key(self) -> str:
        """What results depend on beside the version: models, clients, toolchain, caps. Never pooled across keys."""
        ...

    async def run(self, plan: Sequence[PlannedEpisode]) -> list[EpisodeRecord]:
        """Run the episodes in this order and return their records in the same order.

        An episode that failed for reasons outside its team has a record with outcome `invalid`.

        Raises:
            InfraPause: nothing can be run now. What has ended is lost to the caller, so plan in small pieces. The fact
                `spent` says what was used in vain, by unit; a unit that is not in it is not known.
        """
        ...
