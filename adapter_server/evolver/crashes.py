"""Campaigns whose process is really killed, at any line of their ledger, and started again."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec

from bus.errors import AdapterError, BadLedger

from .campaign import Campaign
from .comparison import collect
from .events import Reference
from .journal import Journal
from .ledger import Ledger, open_ledger, read_ledger
from .simulation import (
    FilePointer,
    Script,
    SimulatedTeams,
    SimulatedWorkshop,
    set_up,
    simulated_plan,
    simulated_tasks,
    worth,
)  # fmt: skip
from .state import Comparison, fold
from .verifying import verify_ledger

SMALL: dict[str, Any] = {
    "aa_pairs": 2,
    "screen_pairs": 4,
    "gate_pairs": 12,
    "confirm_pairs": 12,
    "guard_trials": 3,
    "batch": 4,
    "reruns": 0,
    "max_failures": 1,
}
"""Sizes at which a campaign with a promotion has some hundred lines, not thousands."""


def crash_everywhere(folder: Path, *, seed: int, is_full: bool) -> dict[str, Any]:
    """Kill a campaign at every line, or at the first of each kind, in two ways: after it, and while it is written.

    Returns:
        How many lines there are, how many processes were killed, and where the end was different.
    """
    calm = folder / "calm"
    _in_child(lambda: _campaign(calm, seed=seed))
    expected, entries = outcome_of(calm), read_ledger(calm / "ledger.jsonl")
    first = {type(entry.event): entry.seq for entry in reversed(entries[1:])}
    lines = range(2, len(entries) + 1) if is_full else sorted(first.values())
    different: list[str] = []
    killed = 0
    for line in lines:
        for how in ("after", "torn"):
            place = folder / f"{how}-{line}"
            status = _in_child(lambda line=line, how=how, place=place: _campaign(place, seed=seed, line=line, how=how))
            killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            _in_child(lambda place=place: _campaign(place, seed=seed))
            if outcome_of(place) != expected:
                different.append(f"{how} line {line}")
    return {"lines": len(lines), "killed": killed, "different": different, "promoted": expected["epoch"]}


def outcome_of(folder: Path) -> dict[str, Any]:
    """What counts in the end: everything but what a crash has cost, and pairs that were run after the decision."""
    entries = read_ledger(folder / "ledger.jsonl")
    state = fold(entries)
    pointer = anyio.run(FilePointer(folder / "pointer").champion)
    return {
        "champion": state.champion.bundle,
        "epoch": state.champion.epoch,
        "pointer": pointer == state.champion,
        "fates": {name: proposal.fate for name, proposal in state.proposals.items()},
        "pairs": {name: _counted(comparison) for name, comparison in state.comparisons.items()},
        "verdicts": [
            msgspec.to_builtins(_lasting(comparison.closed.result.facts))
            for comparison in state.comparisons.values()
            if comparison.closed
        ],
        "open": [name for name, comparison in state.comparisons.items() if comparison.closed is None],
        "reserved": state.reserved,
        "intent": state.intent,
        "stopped": state.stopped,
        "findings": verify_ledger(entries).findings,
    }


def second_evolver_fails(folder: Path, *, seed: int) -> dict[str, bool]:
    """Open a ledger twice, in two processes."""
    place = folder / "locked"
    _in_child(lambda: _campaign(place, seed=seed))
    path = place / "ledger.jsonl"
    with open_ledger(path):
        status = _in_child(lambda: _campaign(place, seed=seed))
        return {"second_refused": os.WEXITSTATUS(status) == REFUSED, "readers_work": bool(read_ledger(path))}


REFUSED = 7


def _counted(comparison: Comparison) -> list[tuple[int, int]]:
    pairs = [(pair.index, pair.gain) for _, pair in sorted(collect(comparison).pairs.items())]
    return pairs[: comparison.closed.result.facts["pairs"]] if comparison.closed else pairs


def _lasting(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if name != "cut_off"}


class _MortalLedger(Ledger):
    """A ledger whose process dies at one of its lines."""

    line = 0
    how = ""

    def _write(self, line: bytes) -> None:
        is_last = len(self.entries) + 1 == self.line
        if is_last and self.how == "torn":
            super()._write(line[: len(line) // 2])
        else:
            super()._write(line)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)


def _in_child(work: Callable[[], None]) -> int:
    """Do the work in a process of its own and return its exit status."""
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        code = 1
        try:
            work()
            code = 0
        except BadLedger:
            code = REFUSED
        except AdapterError as error:
            print(error.message, file=sys.stderr)
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def _campaign(folder: Path, *, seed: int, line: int = 0, how: str = "") -> None:
    """Begin or go on with a small campaign: one change that helps much, and one that harms."""
    kind = type("Mortal", (_MortalLedger,), {"line": line, "how": how})
    workshop = SimulatedWorkshop()
    with open_ledger(folder / "ledger.jsonl", clock=lambda: 0.0, kind=kind) as ledger:
        pointer = FilePointer(folder / "pointer")
        if not ledger.entries:
            pointer.put(Reference(bundle=workshop.default, epoch=0))
            tasks = simulated_tasks(search=12, confirm=12, guard=2, sealed=2)
            ledger.append(set_up(simulated_plan(seed=seed, **SMALL), tasks, workshop.default))
        journal = Journal(ledger)
        workshop.again(journal.state)
        campaign = Campaign(
            journal,
            measure=SimulatedTeams(workshop, seed=seed),
            pointer=pointer,
            workshop=workshop,
            proposers=[Script([worth(0.6, 0), worth(-0.3, 1)])],
        )
        anyio.run(campaign.run)
