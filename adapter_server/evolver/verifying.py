"""Derive every verdict of a ledger again from its episodes alone, and check that each promotion was allowed."""

from collections.abc import Iterator, Sequence

import msgspec

from . import events as e
from .comparing import earlier_pairs, rule_of
from .gates import Ruling, approval_gate, judge
from .ledger import Entry
from .plan import SPLIT_OF, config_hash
from .state import State, begun


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it.

    Attributes:
        lines: of the ledger.
        head: hash of the last one; whoever keeps it elsewhere can tell later that nothing before it was changed.
        comparisons: whose verdicts were derived again.
        promotions: that were checked.
        findings: what does not fit, with its line; empty when all does.
    """

    lines: int
    head: str
    comparisons: int
    promotions: int
    findings: list[str]

    @property
    def is_good(self) -> bool:
        """Nothing was found."""
        return not self.findings


def verify_ledger(entries: Sequence[Entry]) -> Verification:
    """Go through the lines and ask of each decision whether the lines before it allow it.

    The hash chain was checked when the lines were read.
    """
    findings: list[str] = []
    comparisons = promotions = 0
    state: State | None = None
    for entry in entries:
        event = entry.event
        if state is None:
            if not isinstance(event, e.RunStarted):
                return _found(entries, ["line 1: no run_started"])
            if config_hash(event.plan, event.tasks) != event.config_hash:
                findings.append("line 1: plan and tasks do not have the hash that is written with them")
            state = begun(event)
            continue
        try:
            findings += [f"line {entry.seq}: {finding}" for finding in _findings(state, event)]
            state.take(entry)
        except (KeyError, IndexError) as error:
            findings.append(f"line {entry.seq}: is about {error}, which no line before it names")
            break
        comparisons += isinstance(event, e.ComparisonClosed | e.AaDone)
        promotions += isinstance(event, e.Promoted)
    return _found(entries, findings, comparisons=comparisons, promotions=promotions)


def _found(entries: Sequence[Entry], findings: list[str], *, comparisons: int = 0, promotions: int = 0) -> Verification:
    head = entries[-1].hash if entries else ""
    return Verification(
        lines=len(entries), head=head, comparisons=comparisons, promotions=promotions, findings=findings
    )


def _findings(state: State, event: e.LedgerEvent) -> Iterator[str]:
    if isinstance(event, e.ComparisonOpened):
        yield from _opening(state, event)
    elif isinstance(event, e.EpisodeClosed) and event.comparison:
        yield from _episode(state, event)
    elif isinstance(event, e.ComparisonClosed | e.AaDone):
        yield from _closing(state, event)
    elif isinstance(event, e.PromoteIntent) and event.proposal:
        yield from _intent(state, event)
    elif isinstance(event, e.Promoted) and (state.intent is None or state.intent.bundle != event.champion.bundle):
        yield "promoted without an intent"
    elif isinstance(event, e.SealedOpened) and state.sealed:
        yield "the sealed tasks were opened before"


def _opening(state: State, opened: e.ComparisonOpened) -> Iterator[str]:
    plan = state.started.plan
    if opened.champion != state.champion.bundle and opened.stage != "sealed":
        yield "compared with a version that is not the champion"
    if (opened.test, opened.threshold) != rule_of(plan, opened.stage):
        yield "test or threshold are not those of the plan"
    if opened.stage == "gate" and state.gated >= plan.max_challengers:
        yield f"challenger {state.gated + 1} at the gate, {plan.max_challengers} are allowed"
    if wrong := [task for task in opened.tasks if state.splits.get(task) != SPLIT_OF[opened.stage]]:
        yield f"{opened.stage} on {wrong[0]}, which is of another split"
    if opened.stage in ("confirm", "sealed") and len(set(opened.tasks)) != len(opened.tasks):
        yield "a fresh task is used twice"
    if opened.proposal and opened.predictions != state.proposals[opened.proposal].proposed.patch.predictions:
        yield "predictions were changed after the proposal"
    if opened.proposal and not state.calibrations.get(opened.key):
        yield f"no calibration for {opened.key}"
    before = (
        [state.comparisons[name] for name in state.proposals[opened.proposal].comparisons] if opened.proposal else []
    )
    if any(one.closed is None or not one.closed.result.is_passed for one in before):
        yield "a gate before it was not passed"


def _episode(state: State, event: e.EpisodeClosed) -> Iterator[str]:
    comparison = state.comparisons[event.comparison]
    opened, record = comparison.opened, event.record
    if comparison.closed is not None and opened.stage != "sealed":
        yield "an episode after the end of its comparison"
    if record.pair not in comparison.records:
        yield f"episode {record.episode} was never started"
    elif record.arm in comparison.records[record.pair]:
        yield f"{record.arm} of {record.pair} ended twice"
    elif record.arm and record.bundle != (opened.champion if record.arm == "champion" else opened.challenger):
        yield f"{record.arm} of {record.pair} ran another version"
    elif record.arm and record.task != opened.tasks[int(record.pair.rsplit("/", 2)[1])]:
        yield f"{record.pair} ran another task"


def _closing(state: State, closed: e.ComparisonClosed | e.AaDone) -> Iterator[str]:
    comparison = state.comparisons[closed.comparison]
    if comparison.closed is not None:
        yield "closed twice"
    if "key_now" in closed.result.facts:
        if closed.result.is_passed or closed.result.facts["key_now"] == comparison.opened.key:
            yield "closed for a change of key that did not happen"
        return
    ruling = judge(comparison, state.started.plan, earlier_pairs(state, comparison))
    if not isinstance(ruling, Ruling):
        yield f"{closed.comparison} was closed although pairs {ruling} were missing"
        return
    derived = msgspec.json.encode((ruling.result, ruling.predictions))
    if isinstance(closed, e.AaDone):
        if msgspec.json.encode(ruling.result) != msgspec.json.encode(closed.result):
            yield f"the calibration of {closed.comparison} does not follow from its episodes"
    elif ruling.verdict != closed.verdict:
        yield f"{closed.comparison} has the verdict {closed.verdict}, its episodes give {ruling.verdict}"
    elif derived != msgspec.json.encode((closed.result, closed.predictions)):
        yield f"the numbers of {closed.comparison} do not follow from its episodes"


def _intent(state: State, intent: e.PromoteIntent) -> Iterator[str]:
    proposal = state.proposals[intent.proposal]
    gate = approval_gate(state.started.plan, proposal, "" if intent.by == "auto" else intent.by)
    if not gate.is_passed:
        yield f"{intent.proposal} was to be promoted although {'; '.join(gate.reasons)}"
    if intent.bundle != proposal.challenger or proposal.proposed.champion != state.champion.bundle:
        yield f"what was to be promoted is not what {intent.proposal} was compared as"
    if state.frozen:
        yield "promoted while frozen"
