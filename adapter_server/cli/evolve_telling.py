"""What `adapter-server evolve` prints, for people; as JSON it prints the same facts."""

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from adapter_server.evolver import events as e
from adapter_server.evolver.budget import Forecast, remaining
from adapter_server.evolver.campaign import waiting_for_approval
from adapter_server.evolver.comparison import collect
from adapter_server.evolver.known_answers import Answer
from adapter_server.evolver.release import release_facts
from adapter_server.evolver.state import Comparison, Proposal, State


def tell(facts: Any, text: str, *, is_json: bool) -> None:
    """Print the one or the other; paths as text."""
    print(msgspec.json.encode(facts, enc_hook=str).decode() if is_json else text)


def tell_progress(event: e.LedgerEvent) -> None:
    """One line on stderr for what somebody who waits wants to know."""
    if line := _progress(event):
        print(f"{datetime.now().astimezone():%H:%M:%S} {line}", file=sys.stderr, flush=True)


def _progress(event: e.LedgerEvent) -> str:
    match event:
        case e.Proposed():
            return f"{event.proposal}: {event.proposer} changes {event.patch.component}"
        case e.NothingProposed():
            return f"{event.proposer} proposes nothing: {event.reason}"
        case e.StaticRejected():
            return f"{event.proposal or event.proposer}: refused: {event.results[-1].reasons[0]}"
        case e.ComparisonOpened():
            return f"{event.comparison}: up to {event.pairs} pairs"
        case e.ComparisonClosed() | e.AaDone():
            facts, word = event.result.facts, "; ".join(event.result.reasons) or "passed"
            return f"{event.comparison}: {facts.get('wins', 0)} won, {facts.get('losses', 0)} lost: {word}"
        case e.Promoted():
            return f"{event.proposal} is promoted: {event.champion.bundle}"
        case e.Frozen() | e.InfraPaused():
            return event.reason
        case _:
            return ""


def status_facts(state: State) -> dict[str, Any]:
    """The campaign at a glance."""
    return {
        "champion": state.champion,
        "start": state.reigns[0],
        "promoted": state.promoted,
        "gated": state.gated,
        "spent": state.spent,
        "lost": state.lost,
        "reserved": state.reserved,
        "remaining": remaining(state),
        "frozen": state.frozen,
        "waiting_for_approval": waiting_for_approval(state),
        "stopped": state.stopped,
        "pauses": len(state.pauses),
        "no_change": len(state.nothing_proposed),
        "proposals": {name: proposal_facts(state, proposal) for name, proposal in state.proposals.items()},
        "sealed": release_facts(state),
    }


def proposal_facts(state: State, proposal: Proposal) -> dict[str, Any]:
    """A proposal with all that its gates said. While its comparisons go on it is undecided."""
    stages = [comparison_facts(state.comparisons[name]) for name in proposal.comparisons]
    return {
        "fate": proposal.fate,
        "is_undecided": proposal.fate in ("open", "undecided"),
        "proposer": proposal.proposed.proposer,
        "component": proposal.proposed.patch.component,
        "hypothesis": proposal.proposed.patch.hypothesis,
        "challenger": proposal.challenger,
        "rejected": proposal.rejected.results if proposal.rejected else None,
        "stages": stages,
    }


def comparison_facts(comparison: Comparison) -> dict[str, Any]:
    """A comparison and, where it has ended, the word of its gate."""
    closed = comparison.closed
    return {
        "comparison": comparison.opened.comparison,
        "stage": comparison.opened.stage,
        "pairs": len(collect(comparison).pairs),
        "of": comparison.opened.pairs,
        "verdict": getattr(closed, "verdict", None),
        "result": closed.result if closed else None,
        "predictions": getattr(closed, "predictions", []),
    }


def status_lines(state: State) -> Iterator[str]:
    """The same for people."""
    yield f"champion {state.champion.bundle[:12]} (epoch {state.champion.epoch}), {state.promoted} promoted"
    left = ", ".join(f"{amount:g} {unit}" for unit, amount in remaining(state).items())
    yield f"left of the budget: {left}; at the gate for this champion: {state.gated}"
    for name, proposal in state.proposals.items():
        yield f"{name:>4} {proposal.fate:<26} {proposal.proposed.patch.component}"
        yield from (f"       {line}" for line in _stage_lines(state, proposal))
    if state.frozen:
        yield f"frozen: {state.frozen}"
    if waiting := waiting_for_approval(state):
        yield f"{waiting} waits: adapter-server evolve promote {waiting} --by NAME"
    if state.stopped:
        yield f"stopped: {state.stopped}"


def _stage_lines(state: State, proposal: Proposal) -> Iterator[str]:
    for result in proposal.rejected.results if proposal.rejected else ():
        yield from (f"{result.gate}: {reason}" for reason in result.reasons)
    for name in proposal.comparisons:
        facts = comparison_facts(state.comparisons[name])
        result = facts["result"]
        numbers = f"{result.facts.get('wins', 0)} won, {result.facts.get('losses', 0)} lost, " if result else ""
        end = ("passed" if result.is_passed else "; ".join(result.reasons)) if result else "under way"
        yield f"{facts['stage']}: {numbers}{facts['pairs']} pairs: {end}"


def forecast_lines(forecast: Forecast) -> Iterator[str]:
    """What `check` says."""
    left = ", ".join(f"{amount:g} {unit}" for unit, amount in forecast.remaining.items())
    cost = ", ".join(f"{amount:.3g} {unit}" for unit, amount in forecast.episode_cost.items())
    kind = "measured" if forecast.is_measured else "the bound; not measured yet"
    yield f"left: {left}; an episode costs {cost} ({kind})"
    yield f"calibration: {forecast.calibration} episodes; a challenger: {forecast.shortest} to {forecast.longest}"
    yield f"challengers that this buys: {forecast.at_least} that go all the way, {forecast.at_most} at most"
    kind = "measured" if forecast.is_measured else "assumed"
    yield f"discordant pairs without a difference: {forecast.discordance:.0%} ({kind})"
    yield "gain  found"
    yield from (f"{points:>+4}  {share:.0%}" for points, share in forecast.finds.items() if points % 10 == 0)
    smallest = forecast.smallest_gain
    yield f"smallest gain found in 80 of 100 cases: {f'{smallest} points' if smallest else 'none'}"
    if not forecast.at_least:
        yield "The budget does not buy one challenger that goes all the way."


def answer_line(answer: Answer) -> str:
    """One known answer."""
    facts = ", ".join(f"{name} {value}" for name, value in answer.facts.items() if value not in ([], None))
    return f"{'right' if answer.is_right else 'WRONG'}  {answer.name} ({facts}) {answer.seconds:.1f} s"
