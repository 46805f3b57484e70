"""What the report of a campaign shows, computed from the fold of its ledger."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from bus.records import EpisodeRecord

from .budget import cost_of
from .comparison import UNKNOWN, collect, is_solved
from .plan import SPLIT_OF, Split
from .state import Comparison, Proposal, State
from .statistics import Interval, wilson

SHORT = 12
"""Characters of a version's id that are shown."""


class VersionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """How a version did on tasks of one split, over all comparisons in which it was an arm.

    Attributes:
        bundle: its id.
        fate: `champion` when it was in use at any time, else what became of its proposal.
        episodes: valid ones.
        share: solved, with its interval.
        cost: mean of an episode; None when not known.
    """

    bundle: str
    fate: str
    episodes: int
    share: Interval
    cost: float | None


class Gain(msgspec.Struct, frozen=True, kw_only=True):
    """What the confirmation of a promoted version showed on fresh tasks."""

    proposal: str
    generation: int
    gain: Interval
    pairs: int


def generations(state: State) -> list[str]:
    """The versions in use, oldest first, each once in a row."""
    found: list[str] = []
    for reign in state.reigns:
        if not found or found[-1] != reign.bundle:
            found.append(reign.bundle)
    return found


def fates(state: State) -> Counter[str]:
    """How many proposals ended how; a proposer that saw no reason for a change counts as `no_change`."""
    counts = Counter(str(proposal.fate) for proposal in state.proposals.values())
    if state.nothing_proposed:
        counts["no_change"] += len(state.nothing_proposed)
    if failed := state.rounds - len(state.proposals) - len(state.nothing_proposed):
        counts["no proposal"] += failed
    return counts


def version_points(state: State, split: Split) -> dict[str, VersionPoint]:
    """Every version that was measured on the split; the champion against itself counts once for each episode."""
    records: dict[str, list[EpisodeRecord]] = {}
    for comparison in state.comparisons.values():
        if SPLIT_OF[comparison.opened.stage] == split:
            for record in _valid(comparison):
                records.setdefault(record.bundle, []).append(record)
    fate_of = {proposal.challenger: str(proposal.fate) for proposal in state.proposals.values() if proposal.challenger}
    used = {reign.bundle for reign in state.reigns}
    return {
        bundle: VersionPoint(
            bundle=bundle,
            fate="champion" if bundle in used else fate_of.get(bundle, "open"),
            episodes=len(ran),
            share=wilson(sum(map(is_solved, ran)), len(ran)),
            cost=_mean(cost_of(record, state.started.plan.cost_unit) for record in ran),
        )
        for bundle, ran in records.items()
    }


def confirmed_gains(state: State) -> list[Gain]:
    """The promotions' gains on fresh tasks, in order."""
    promoted = [proposal for proposal in state.proposals.values() if proposal.fate == "promoted"]
    found: list[Gain] = []
    for number, proposal in enumerate(promoted, start=1):
        for comparison in (state.comparisons[name] for name in proposal.comparisons):
            facts = comparison.closed.result.facts if comparison.closed else {}
            if comparison.opened.stage == "confirm" and "gain" in facts:
                gain = msgspec.convert(facts["gain"], Interval)
                found.append(
                    Gain(proposal=proposal.proposed.proposal, generation=number, gain=gain, pairs=facts["pairs"])
                )
    return found


def stages_of(state: State, proposal: Proposal) -> list[Comparison]:
    """The comparisons of a proposal, in order."""
    return [state.comparisons[name] for name in proposal.comparisons]


def pairs_so_far(comparison: Comparison) -> int:
    """Pairs that count."""
    return len(collect(comparison).pairs)


def _valid(comparison: Comparison) -> list[EpisodeRecord]:
    pairs = collect(comparison).pairs.values()
    return [record for pair in pairs for record in (pair.champion, pair.challenger) if record.outcome not in UNKNOWN]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
