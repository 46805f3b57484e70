"""Who proposes changes: anything that turns a read-only folder of facts into one change, or into none."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from .patch import NoChange, Patch


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a proposal.

    Attributes:
        patch: the change.
        verdict: `static_rejected`, or the verdict of its comparison.
        reasons: why, one line each.
        facts: numbers: pairs, wins, losses, estimates, prediction checks.
        score: of the challenger minus that of the champion on the same tasks; None when it was never run.
        bundle: id of the changed version; empty when there was none.
    """

    patch: Patch
    verdict: str
    reasons: list[str] = []
    facts: dict[str, Any] = {}
    score: float | None = None
    bundle: str = ""


class ProposalContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposer may know.

    Attributes:
        folder: read-only, as `context.py` describes it.
        champion: id of the version to change.
        files: its files, path → content.
        fates: what became of earlier proposals, oldest first.
        round: counts the calls of one campaign, from 0.
        seed: what the proposer's choices may depend on.
        remaining: what is left of the budget, by name.
    """

    folder: Path
    champion: str
    files: Mapping[str, bytes]
    fates: Sequence[Fate] = ()
    round: int = 0
    seed: int = 0
    remaining: Mapping[str, float] = {}


@runtime_checkable
class Proposer(Protocol):
    """Proposes changes, one at a time."""

    @property
    def name(self) -> str:
        """What records call it."""
        ...

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        """One change of the champion, or none.

        Raises:
            BadPatch: the proposer failed: it crashed, was too slow, or wrote what is no proposal (facts: cause).
        """
        ...


@runtime_checkable
class LearningProposer(Proposer, Protocol):
    """A proposer that wants to know what became of its proposals."""

    async def observe(self, fate: Fate) -> None:
        """Learn from the fate of the proposal before."""
        ...
