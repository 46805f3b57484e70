"""All that an evolver knows: the fold of its ledger, and nothing else."""

from collections.abc import Iterable
from functools import singledispatchmethod
from typing import Literal

import msgspec

from bus.errors import BadLedger
from bus.records import EpisodeRecord, Task

from . import events as e
from .gate_result import GateResult
from .ledger import Entry
from .plan import Amounts, Split, Verdict

Fate = Literal["static_rejected", "open", "waiting for approval", "promoted"] | Verdict


class Comparison(msgspec.Struct, kw_only=True):
    """A comparison as far as it went.

    Attributes:
        opened: what was fixed before.
        records: pair → arm → record, in the order in which pairs were started.
        keys: what results depended on, as the episodes say.
        closed: how it ended.
    """

    opened: e.ComparisonOpened
    records: dict[str, dict[str, EpisodeRecord]] = {}
    keys: set[str] = set()
    closed: e.ComparisonClosed | e.AaDone | None = None


class Proposal(msgspec.Struct, kw_only=True):
    """A proposal and what became of it."""

    proposed: e.Proposed
    rejected: e.StaticRejected | None = None
    comparisons: list[str] = []
    challenger: str = ""
    fate: Fate = "open"


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """What the champion against itself showed, for one key."""

    champion: str
    result: GateResult


class State(msgspec.Struct, kw_only=True):
    """The fold.

    Attributes:
        started: how the campaign was set up.
        tasks: of all splits, by id.
        splits: task → its split.
        champion: version in use as the ledger has it.
        reigns: all that were in use, oldest first.
        promoted: how many promotions there were.
        proposals: by id, oldest first.
        comparisons: by id, oldest first.
        calibrations: by key, the latest.
        gated: challengers at the gate since the last promotion.
        reserved: reservations that are not settled.
        spent: settled costs, lost ones among them.
        lost: of those, what brought nothing.
        raised: additions to the budget.
        intent: a promotion that was begun and not ended.
        frozen: why nothing may be promoted; empty when it may.
        sealed: id of the comparison that opened the sealed tasks.
        failures: proposals in a row that no comparison was worth.
        rounds: how often a proposer was asked.
        used: task → how many comparisons used it, by stage.
        searches: episodes that proposers ran by themselves.
        stopped: why the last run ended; empty while one goes on or was killed.
        refusals: what was refused.
        pauses: why episodes could not be run.
        nothing_proposed: when a proposer saw no reason for a change.
    """

    started: e.RunStarted
    tasks: dict[str, Task]
    splits: dict[str, Split]
    champion: e.Reference
    reigns: list[e.Reference]
    promoted: int = 0
    proposals: dict[str, Proposal] = {}
    comparisons: dict[str, Comparison] = {}
    calibrations: dict[str, Calibration] = {}
    gated: int = 0
    reserved: dict[str, Amounts] = {}
    spent: Amounts = {}
    lost: Amounts = {}
    raised: Amounts = {}
    intent: e.PromoteIntent | None = None
    frozen: str = ""
    sealed: str = ""
    failures: int = 0
    rounds: int = 0
    used: dict[str, int] = {}
    searches: list[EpisodeRecord] = []
    stopped: str = ""
    refusals: list[e.Refused] = []
    pauses: list[str] = []
    nothing_proposed: list[e.NothingProposed] = []

    def proposal_of(self, comparison: str) -> Proposal | None:
        """Whose comparison it is."""
        return self.proposals.get(self.comparisons[comparison].opened.proposal)

    def take(self, entry: Entry) -> None:
        """Go on by one line."""
        if not isinstance(entry.event, e.RunStopped):
            self.stopped = ""
        self._take(entry.event)

    @singledispatchmethod
    def _take(self, event: e.LedgerEvent) -> None:
        raise BadLedger(f"a ledger has no second {type(event).__name__}")

    @_take.register
    def _(self, event: e.Proposed) -> None:
        self.rounds += 1
        self.proposals[event.proposal] = Proposal(proposed=event)

    @_take.register
    def _(self, event: e.NothingProposed) -> None:
        self.rounds += 1
        self.failures += 1
        self.nothing_proposed.append(event)

    @_take.register
    def _(self, event: e.StaticRejected) -> None:
        self.failures += 1
        if event.proposal:
            self.proposals[event.proposal].rejected = event
            self.proposals[event.proposal].fate = "static_rejected"
        else:
            self.rounds += 1

    @_take.register
    def _(self, event: e.ComparisonOpened) -> None:
        self.comparisons[event.comparison] = Comparison(opened=event)
        if event.stage == "gate":
            self.gated += 1
        if event.proposal:
            proposal = self.proposals[event.proposal]
            proposal.comparisons.append(event.comparison)
            proposal.challenger = event.challenger
            self.failures = 0
        for task in set(event.tasks):
            self.used[task] = self.used.get(task, 0) + 1

    @_take.register
    def _(self, event: e.EpisodeStarted) -> None:
        if event.comparison:
            self.comparisons[event.comparison].records.setdefault(event.pair, {})

    @_take.register
    def _(self, event: e.EpisodeClosed) -> None:
        if not event.comparison:
            self.searches.append(event.record)
            return
        comparison = self.comparisons[event.comparison]
        if event.record.pair.rpartition("/")[2].isdigit():
            comparison.keys.add(event.key)  # a baseline beside the pairs may be of another laboratory
        comparison.records[event.record.pair][event.record.arm] = event.record

    @_take.register
    def _(self, event: e.AaDone) -> None:
        comparison = self.comparisons[event.comparison]
        comparison.closed = event
        self.calibrations[event.key] = Calibration(champion=comparison.opened.champion, result=event.result)

    @_take.register
    def _(self, event: e.ComparisonClosed) -> None:
        comparison = self.comparisons[event.comparison]
        comparison.closed = event
        proposal = self.proposals.get(comparison.opened.proposal)
        if proposal and event.verdict == "better":
            proposal.fate = "waiting for approval"
        elif proposal and not event.result.is_passed:
            proposal.fate = event.verdict

    @_take.register
    def _(self, event: e.PromoteIntent) -> None:
        self.intent = event

    @_take.register
    def _(self, event: e.Promoted) -> None:
        self.intent = None
        self.proposals[event.proposal].fate = "promoted"
        self._reign(event.champion)
        self.promoted += 1
        self.gated = 0

    @_take.register
    def _(self, event: e.RolledBack) -> None:
        self.intent = None
        self.frozen = ""
        if event.champion != self.champion:
            self._reign(event.champion)

    @_take.register
    def _(self, event: e.Frozen) -> None:
        self.intent = None
        self.frozen = event.reason

    @_take.register
    def _(self, event: e.SealedOpened) -> None:
        self.sealed = event.comparison

    @_take.register
    def _(self, event: e.BudgetReserved) -> None:
        self.reserved[event.reservation] = event.amounts

    @_take.register
    def _(self, event: e.BudgetSpent) -> None:
        self.reserved.pop(event.reservation, None)
        _add(self.spent, event.amounts)
        if event.is_lost:
            _add(self.lost, event.amounts)

    @_take.register
    def _(self, event: e.BudgetRaised) -> None:
        _add(self.raised, event.amounts)

    @_take.register
    def _(self, event: e.InfraPaused) -> None:
        self.pauses.append(event.reason)

    @_take.register
    def _(self, event: e.Refused) -> None:
        self.refusals.append(event)

    @_take.register
    def _(self, event: e.RunStopped) -> None:
        self.stopped = event.reason

    def _reign(self, champion: e.Reference) -> None:
        self.champion = champion
        self.reigns.append(champion)


def _add(amounts: Amounts, more: Amounts) -> None:
    for unit, amount in more.items():
        amounts[unit] = amounts.get(unit, 0.0) + amount


def fold(entries: Iterable[Entry]) -> State:
    """The state that a ledger gives.

    Raises:
        BadLedger: it does not begin with the set-up of a campaign.
    """
    state: State | None = None
    for entry in entries:
        if state is None:
            if not isinstance(entry.event, e.RunStarted):
                raise BadLedger("the ledger does not begin with run_started", line=entry.seq)
            state = begun(entry.event)
        else:
            _step(state, entry)
    if state is None:
        raise BadLedger("the ledger is empty", hint="set a campaign up with: adapter-server evolve init")
    return state


def begun(started: e.RunStarted) -> State:
    """The state after the first line."""
    return State(
        started=started,
        tasks=started.tasks.by_id(),
        splits=started.tasks.split_of(),
        champion=started.champion,
        reigns=[started.champion],
    )


def _step(state: State, entry: Entry) -> None:
    try:
        state.take(entry)
    except KeyError as error:
        raise BadLedger(f"line {entry.seq} is about {error}, which no line before it names", line=entry.seq) from error
