"""What can happen in a campaign: the lines of the ledger."""

from typing import Any, Literal

import msgspec

from bus.records import EpisodeRecord

from .gate_result import GateResult
from .measuring import Arm
from .patch import Patch, Prediction
from .plan import Amounts, Plan, Stage, Tasks, Verdict
from .predictions import PredictionCheck


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """A version in use, and how often the pointer was moved until then."""

    bundle: str
    epoch: int


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened."""


class RunStarted(Event, frozen=True, kw_only=True, tag="run_started"):
    """The campaign was set up.

    Attributes:
        plan: sizes, levels, budget.
        tasks: splits, fixed from here on.
        champion: the version in use.
        config_hash: over plan and tasks.
        laboratory: what the command that measures was told, for its eyes only.
    """

    plan: Plan
    tasks: Tasks
    champion: Reference
    config_hash: str
    laboratory: dict[str, Any] = {}


class Proposed(Event, frozen=True, kw_only=True, tag="proposed"):
    """A change of the champion with its hypothesis and predictions."""

    proposal: str
    proposer: str
    champion: str
    patch: Patch


class NothingProposed(Event, frozen=True, kw_only=True, tag="no_change"):
    """A proposer saw no reason for a change."""

    proposer: str
    reason: str


class StaticRejected(Event, frozen=True, kw_only=True, tag="static_rejected"):
    """Refused before anything ran; `proposal` is empty when what came was no proposal."""

    proposer: str
    results: list[GateResult]
    proposal: str = ""


class ComparisonOpened(Event, frozen=True, kw_only=True, tag="comparison_opened"):
    """All that decides a comparison, before its first episode.

    Attributes:
        comparison: its id.
        stage: which gate asks.
        champion: version of one arm.
        challenger: version of the other arm.
        key: what results depend on beside the version.
        tasks: ids, in the order of the pairs; a guard task has several trials in a row.
        pairs: at most.
        test: in words.
        threshold: e-value to reach, or p-value not to exceed.
        seed: what order and episodes depend on.
        proposal: whose; empty for calibration and release.
        predictions: frozen here.
        challenger_index: how many were at the gate for this champion, with this one.
    """

    comparison: str
    stage: Stage
    champion: str
    challenger: str
    key: str
    tasks: list[str]
    pairs: int
    test: str
    threshold: float
    seed: int
    proposal: str = ""
    predictions: list[Prediction] = []
    challenger_index: int = 0


class EpisodeStarted(Event, frozen=True, kw_only=True, tag="episode_started"):
    """One arm of a pair, or a single episode of a proposer, is about to run."""

    comparison: str
    pair: str
    task: str
    bundle: str
    seed: int
    arm: Arm | Literal[""] = ""
    order: int = 0


class EpisodeClosed(Event, frozen=True, kw_only=True, tag="episode_closed"):
    """It ended; `key` is what its result depends on beside the version."""

    comparison: str
    key: str
    record: EpisodeRecord


class AaDone(Event, frozen=True, kw_only=True, tag="aa_done"):
    """The champion was compared with itself: how much results differ by chance alone."""

    comparison: str
    key: str
    result: GateResult


class ComparisonClosed(Event, frozen=True, kw_only=True, tag="comparison_closed"):
    """What the gate said. A passed gate before the last one is `undecided`: it goes on."""

    comparison: str
    verdict: Verdict
    result: GateResult
    predictions: list[PredictionCheck] = []


class PromoteIntent(Event, frozen=True, kw_only=True, tag="promote_intent"):
    """The pointer is about to be moved."""

    proposal: str
    expected: Reference
    bundle: str
    by: str


class Promoted(Event, frozen=True, kw_only=True, tag="promoted"):
    """The pointer was moved."""

    proposal: str
    champion: Reference
    by: str


class RolledBack(Event, frozen=True, kw_only=True, tag="rolled_back"):
    """An intent came to nothing, or an earlier version is in use again."""

    reason: str
    champion: Reference
    by: str = ""


class Frozen(Event, frozen=True, kw_only=True, tag="frozen"):
    """No promotion until a rollback names the version to go on with."""

    reason: str


class SealedOpened(Event, frozen=True, kw_only=True, tag="sealed_opened"):
    """The sealed tasks are used, for the only time."""

    comparison: str
    by: str


class BudgetReserved(Event, frozen=True, kw_only=True, tag="budget_reserved"):
    """The most that what follows can cost."""

    reservation: str
    amounts: Amounts


class BudgetSpent(Event, frozen=True, kw_only=True, tag="budget_spent"):
    """What it did cost; where that was lost, the whole reservation."""

    reservation: str
    amounts: Amounts
    is_lost: bool = False


class BudgetRaised(Event, frozen=True, kw_only=True, tag="budget_raised"):
    """A person added to the budget."""

    amounts: Amounts


class InfraPaused(Event, frozen=True, kw_only=True, tag="infra_pause"):
    """Episodes could not be run; nothing was scored."""

    reason: str


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """Something was asked for that is not allowed; nothing was done."""

    what: str
    result: GateResult


class RunStopped(Event, frozen=True, kw_only=True, tag="run_stopped"):
    """A run ended by itself."""

    reason: str


LedgerEvent = (
    RunStarted | Proposed | NothingProposed | StaticRejected | ComparisonOpened | EpisodeStarted | EpisodeClosed
    | AaDone | ComparisonClosed | PromoteIntent | Promoted | RolledBack | Frozen | SealedOpened | BudgetReserved
    | BudgetSpent | BudgetRaised | InfraPaused | Refused | RunStopped
)  # fmt: skip
