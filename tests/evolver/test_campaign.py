"""A campaign with simulated teams: what ends it, what goes on, and what stays out of reach."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
import pytest

from adapter_server.evolver.campaign import Campaign
from adapter_server.evolver.comparison import collect
from adapter_server.evolver.events import BudgetRaised, ComparisonClosed, Promoted, RunStarted
from adapter_server.evolver.known_answers import Trial
from adapter_server.evolver.ledger import Entry, sealed
from adapter_server.evolver.measuring import PlannedEpisode
from adapter_server.evolver.patch import NoChange, Patch
from adapter_server.evolver.promoting import promote, roll_back
from adapter_server.evolver.proposing import ProposalContext
from adapter_server.evolver.release import release, release_facts
from adapter_server.evolver.simulation import SimulatedTeams, worth
from adapter_server.evolver.state import fold
from adapter_server.evolver.verifying import verify_ledger
from bus.errors import BadArguments, BadPatch, InfraPause
from bus.records import EpisodeRecord

GOOD = 0.6
"""A gain that every seed finds."""


def trial(folder: Path, *gains: float, seed: int = 3, **settings: object) -> Trial:
    return Trial([worth(gain, run) for run, gain in enumerate(gains)], seed=seed, folder=folder, **settings)


def run(one: Trial) -> str:
    return anyio.run(one.run)


def test_a_better_version_waits_for_a_person_and_the_next_one_is_compared_with_it(tmp_path: Path) -> None:
    one = trial(tmp_path, GOOD, 0.0, plan={"is_auto": False})
    assert run(one) == "p1 waits for approval"
    assert anyio.run(one.pointer.champion).epoch == 0
    anyio.run(lambda: promote(one.journal, one.pointer, "p1", by="me"))
    assert anyio.run(one.pointer.champion) == one.state.champion
    assert one.state.champion.epoch == 1
    assert run(one) == "the rounds are over"
    assert one.state.comparisons["p2.screen"].opened.champion == one.state.proposals["p1"].challenger
    with pytest.raises(BadArguments, match="verdict is"):
        anyio.run(lambda: promote(one.journal, one.pointer, "p2", by="me"))
    anyio.run(lambda: roll_back(one.journal, one.pointer, to=None, by="me"))
    assert one.state.champion.bundle == one.workshop.default
    assert verify_ledger(one.log.entries).findings == []


def test_a_used_up_budget_leaves_the_comparison_open_and_more_of_it_ends_it_the_same(tmp_path: Path) -> None:
    plan = {"budget": {"checks": 12_000.0}, "episode_cost": {"checks": 600.0}}
    (tmp_path / "poor").mkdir()
    rich = trial(tmp_path, GOOD, seed=4, plan=plan | {"budget": {"checks": 1e9}})
    poor = trial(tmp_path / "poor", GOOD, seed=4, plan=plan)
    for one in (rich, poor):
        anyio.run(one.campaign().calibrate)
        one.teams.price = 10
    run(rich)
    stops = [run(poor)]
    assert "used up" in stops[0]
    assert poor.state.proposals["p1"].fate == "open"
    while not poor.state.promoted:
        assert len(stops) < 30
        poor.journal.write(BudgetRaised(amounts={"checks": 9000.0}))
        stops.append(run(poor))
    assert len(stops) > 3
    assert poor.state.champion == rich.state.champion
    for name, comparison in rich.state.comparisons.items():
        other = collect(poor.state.comparisons[name]).prefix()
        assert [pair.gain for pair in collect(comparison).prefix()] == [pair.gain for pair in other]


def test_no_more_is_spent_than_there_is(tmp_path: Path) -> None:
    one = trial(tmp_path, *[0.0] * 20, plan={"budget": {"episodes": 500.0}})
    assert "does not buy one more" in run(one)
    assert one.teams.episodes <= 500
    assert one.state.spent == {"episodes": float(one.teams.episodes)}


def test_an_outage_costs_what_was_used_and_the_next_run_goes_on(tmp_path: Path) -> None:
    """The second episode of a pair cannot be run: the first is paid at its price, the second at what it used."""
    plan = {"budget": {"checks": 1e6, "tokens": 1e6}, "episode_cost": {"checks": 600.0, "tokens": 500.0}}
    one = trial(tmp_path, 0.0, plan=plan | {"batch": 1}, outages=[4])
    one.teams.used_in_vain = {"checks": 25}
    with pytest.raises(InfraPause):
        run(one)
    ended = [
        record.spent
        for comparison in one.state.comparisons.values()
        for arms in comparison.records.values()
        for record in arms.values()
    ]
    assert len(ended) == 3
    assert one.state.spent == {"checks": sum(spent.checks for spent in ended) + 25.0, "tokens": 3 * 110.0 + 500.0}
    assert one.state.lost == {"checks": ended[2].checks + 25.0, "tokens": 110.0 + 500.0}
    assert (one.state.reserved, one.state.stopped) == ({}, "paused: the provider refuses")
    assert run(one) == "the rounds are over"
    assert verify_ledger(one.log.entries).findings == []


class Unpriced:
    """Teams whose costs are not known."""

    def __init__(self, one: Trial) -> None:
        self._teams = one.teams
        self.key = one.teams.key

    async def run(self, plan: Sequence[PlannedEpisode]) -> list[EpisodeRecord]:
        records = await self._teams.run(plan)
        return [
            msgspec.structs.replace(one, spent=msgspec.structs.replace(one.spent, tokens_out=None)) for one in records
        ]


def test_an_unknown_cost_is_charged_at_its_bound_and_stops(tmp_path: Path) -> None:
    one = trial(tmp_path, 0.0, plan={"budget": {"tokens": 1e9}, "episode_cost": {"tokens": 500.0}})
    campaign = Campaign(
        one.journal, measure=Unpriced(one), pointer=one.pointer, workshop=one.workshop, proposers=[Silent()]
    )
    assert "tokens is not known" in anyio.run(campaign.run)
    assert one.state.spent == {"tokens": 500.0 * one.teams.episodes}


class Silent:
    name = "silent"

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        return NoChange(reason=f"round {context.round} shows nothing")


class Broken:
    name = "broken"

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        raise BadPatch("the program crashed", cause="exit")


@pytest.mark.parametrize(("proposer", "event"), [(Silent(), "NothingProposed"), (Broken(), "StaticRejected")])
def test_proposers_that_bring_nothing_end_the_run(tmp_path: Path, proposer: Silent | Broken, event: str) -> None:
    one = trial(tmp_path, plan={"max_failures": 3})
    campaign = Campaign(
        one.journal, measure=one.teams, pointer=one.pointer, workshop=one.workshop, proposers=[proposer]
    )
    assert anyio.run(campaign.run) == "3 proposals in a row were not worth a comparison"
    kinds = [type(entry.event).__name__ for entry in one.log.entries]
    assert kinds.count(event) == 3
    assert not one.state.proposals


def test_ten_challengers_at_the_gate_are_all(tmp_path: Path) -> None:
    one = trial(tmp_path, *[0.0] * 30)
    assert "10 challengers were at the gate" in run(one)
    assert one.state.gated == 10
    assert "10 challengers were at the gate" in run(one)


def test_a_version_is_judged_once(tmp_path: Path) -> None:
    one = Trial([worth(-0.3, 0), worth(-0.3, 0)], seed=5, folder=tmp_path)
    run(one)
    assert one.state.proposals["p2"].fate == "static_rejected"
    assert one.state.proposals["p2"].rejected is not None
    assert "judged as p1" in one.state.proposals["p2"].rejected.results[-1].reasons[0]


def test_sealed_tasks_are_opened_once_and_a_baseline_stands_beside_them(tmp_path: Path) -> None:
    one = trial(tmp_path, GOOD)
    with pytest.raises(BadArguments, match="nothing to release"):
        anyio.run(lambda: release(one.journal, one.teams, by="me"))
    run(one)
    one.teams.outages = {one.teams.calls + 7}
    with pytest.raises(InfraPause):
        anyio.run(lambda: release(one.journal, one.teams, by="me", alone=one.teams))
    alone = SimulatedTeams(one.workshop, seed=9, key="agents by themselves")
    anyio.run(lambda: release(one.journal, one.teams, by="me", alone=alone))
    closed = one.state.comparisons["release"].closed
    assert closed is not None
    assert closed.result.facts["pairs"] == 20
    facts = release_facts(one.state)
    assert facts is not None
    assert facts["champion"]["tasks"] == facts["start, same budget"]["tasks"] == facts["alone"]["tasks"] == 20
    assert facts["start, same budget"]["solved"] >= facts["start"]["solved"]
    assert facts["champion"]["share"]["low"] < facts["champion"]["share"]["estimate"]
    with pytest.raises(BadArguments, match="opened before"):
        anyio.run(lambda: release(one.journal, one.teams, by="me"))
    assert sum(type(entry.event).__name__ == "SealedOpened" for entry in one.log.entries) == 1
    assert verify_ledger(one.log.entries).findings == []


def resealed(entries: Sequence[Entry], **changes: object) -> list[Entry]:
    """The same lines with the events of one kind changed, and all hashes made to fit again."""
    made: list[Entry] = []
    for entry in entries:
        event = entry.event
        if isinstance(event, ComparisonClosed | Promoted | RunStarted) and changes.keys() <= {
            field.name for field in msgspec.structs.fields(event)
        }:
            event = msgspec.structs.replace(event, **changes)
        made.append(sealed(event, after=made[-1] if made else None, at=entry.at))
    return made


def test_verdicts_that_do_not_follow_from_the_episodes_are_found_even_with_fitting_hashes(tmp_path: Path) -> None:
    one = trial(tmp_path, 0.0, seed=6)
    run(one)
    assert verify_ledger(one.log.entries).is_good
    forged = resealed(one.log.entries, verdict="better")
    assert fold(forged).proposals["p1"].fate == "waiting for approval"
    assert any("its episodes give" in finding for finding in verify_ledger(forged).findings)
    other = resealed(one.log.entries, config_hash="0" * 64)
    assert "line 1" in verify_ledger(other).findings[0]
    cut = [entry for entry in one.log.entries if type(entry.event).__name__ != "EpisodeClosed"]
    assert any("were missing" in finding for finding in verify_ledger(cut).findings)
