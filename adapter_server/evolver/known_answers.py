"""Campaigns whose right end is known beforehand: whether the gates let through what they should, and nothing else."""

import itertools
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import msgspec

from bus.errors import BadArguments, InfraPause

from .campaign import Campaign
from .comparison import collect
from .crashes import crash_everywhere, second_evolver_fails
from .events import Reference
from .journal import Journal
from .measuring import PlannedEpisode
from .patch import Patch
from .simulation import (
    COMPONENT,
    STATEMENT,
    FilePointer,
    MemoryLog,
    Script,
    SimulatedTeams,
    SimulatedWorkshop,
    set_up,
    simulated_plan,
    simulated_tasks,
    worth,
)  # fmt: skip
from .spending import MeteredMeasure
from .state import State
from .verifying import verify_ledger

PROMOTED_OF_NEUTRAL = 0.005
"""The stated rate: gate × confirmation, 1/10 × 1/20."""

FAST = Path("/dev/shm")  # noqa: S108 - folders in it get random names
"""Files in memory: thousands of processes are killed here, and what is asked is not whether a disk keeps its word."""

PROMOTED_OF_GOOD = 0.8
GATE_PAIRS = 60


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One question and whether the evolver knew the answer."""

    name: str
    is_right: bool
    facts: dict[str, Any]
    seconds: float = 0.0


class Trial:
    """A campaign in memory."""

    def __init__(self, patches: Sequence[Patch], *, seed: int, folder: Path, **settings: Any) -> None:
        plan_settings = settings.pop("plan", {})
        self.workshop = SimulatedWorkshop()
        self.log = MemoryLog()
        plan = simulated_plan(seed=seed, **plan_settings)
        self.log.append(set_up(plan, simulated_tasks(), self.workshop.default))
        self.pointer = FilePointer(folder / f"pointer-{seed}")
        self.pointer.put(Reference(bundle=self.workshop.default, epoch=0))
        self.teams = SimulatedTeams(self.workshop, seed=seed, **settings)
        self.journal = Journal(self.log)
        self._patches = patches

    @property
    def state(self) -> State:
        """As far as it went."""
        return self.journal.state

    async def run(self) -> str:
        """Go on until the patches are used up."""
        return await self.campaign().run(rounds=len(self._patches) - self.state.rounds)

    def campaign(self) -> Campaign:
        """A campaign on the log as it is."""
        return Campaign(
            self.journal,
            measure=self.teams,
            pointer=self.pointer,
            workshop=self.workshop,
            proposers=[Script(self._patches)],
        )


async def neutral_changes(folder: Path, *, challengers: int, seed: int) -> Answer:
    """Changes without effect are promoted no more often than stated."""
    judged = promoted = findings = 0
    for number in itertools.count():
        if judged >= challengers:
            break
        trial = Trial([worth(0.0, run) for run in range(40)], seed=seed + number, folder=folder)
        await trial.run()
        judged += len(trial.state.proposals)
        promoted += trial.state.promoted
        findings += len(verify_ledger(trial.log.entries).findings)
    facts = {"challengers": judged, "promoted": promoted, "rate": promoted / judged, "findings": findings}
    is_right = promoted / judged <= PROMOTED_OF_NEUTRAL and not findings
    return Answer(name="neutral changes are not promoted", is_right=is_right, facts=facts)


async def planted_changes(folder: Path, *, gain: float, campaigns: int, seed: int) -> Answer:
    """A change worth 30 points is promoted, one that harms never."""
    promoted = longest = findings = 0
    for number in range(campaigns):
        trial = Trial([worth(gain, 0)], seed=seed + number, folder=folder)
        await trial.run()
        promoted += trial.state.promoted
        findings += len(verify_ledger(trial.log.entries).findings)
        gates = [one for one in trial.state.comparisons.values() if one.opened.stage == "gate"]
        longest = max([longest, *(len(collect(one).pairs) for one in gates)])
    is_good = gain > 0
    is_right = promoted / campaigns >= PROMOTED_OF_GOOD if is_good else promoted == 0
    facts = {
        "gain": gain,
        "campaigns": campaigns,
        "promoted": promoted,
        "most_gate_pairs": longest,
        "findings": findings,
    }
    name = f"a change worth {gain * 100:+.0f} points is {'' if is_good else 'never '}promoted"
    return Answer(name=name, is_right=is_right and longest <= GATE_PAIRS and not findings, facts=facts)


async def leaking_change(folder: Path, *, seed: int) -> Answer:
    """A text that gives a task away is refused before anything runs."""
    planted = worth(0.5, 0)
    leak = Patch(component=COMPONENT, content=f"{planted.content}\nTry {STATEMENT} first.\n")
    trial = Trial([leak], seed=seed, folder=folder)
    await trial.run()
    proposal = trial.state.proposals["p1"]
    results = proposal.rejected.results if proposal.rejected else []
    is_right = proposal.fate == "static_rejected" and results[-1].gate == "G2" and not proposal.comparisons
    return Answer(name="a leak is refused unseen", is_right=is_right, facts={"reasons": results[-1].reasons})


async def outages(folder: Path, *, seed: int) -> Answer:
    """Calls that fail pause the campaign; what comes out in the end is the same as without them."""
    calm = Trial([worth(0.3, 0)], seed=seed, folder=folder)
    await calm.run()
    stormy = Trial([worth(0.3, 0)], seed=seed, folder=folder, outages=range(2, 200, 21))
    pauses = 0
    while True:
        try:
            await stormy.run()
            break
        except InfraPause:
            pauses += 1
    is_same = _scores(calm.state) == _scores(stormy.state) and calm.state.champion == stormy.state.champion
    is_exact = stormy.state.spent == {"episodes": float(stormy.teams.episodes)}
    facts = {"pauses": pauses, "scored_the_same": is_same, "only_what_ran_is_charged": is_exact}
    return Answer(name="outages pause and are never scored", is_right=is_same and is_exact and pauses > 0, facts=facts)


async def invalid_episodes(folder: Path, *, seed: int) -> Answer:
    """Invalid episodes rerun their pairs; more of them in one arm than in the other void the comparison."""
    both = Trial(
        [worth(0.0, 0)], seed=seed, folder=folder, invalid={"champion": 0.08, "challenger": 0.08}, plan={"reruns": 6}
    )
    await both.run()
    one = Trial([worth(0.3, 0)], seed=seed, folder=folder, plan={"reruns": 10})
    await one.campaign().calibrate()
    one.teams.invalid = {"challenger": 0.4}
    await one.run()
    facts = {"equal": both.state.proposals["p1"].fate, "unequal": one.state.proposals["p1"].fate}
    is_right = facts["equal"] != "void" and facts["unequal"] == "void" and not one.state.promoted
    return Answer(name="invalid episodes are rerun, unequal ones void", is_right=is_right, facts=facts)


async def changed_key(folder: Path, *, seed: int) -> Answer:
    """Another model, client or toolchain in the middle voids the comparison."""
    trial = Trial([worth(0.3, 0)], seed=seed, folder=folder, outages=[70])  # at the gate
    try:
        await trial.run()
    except InfraPause:
        trial.teams.key = "simulated teams 2"
    await trial.run()
    fate = trial.state.proposals["p1"].fate
    return Answer(name="a changed laboratory voids", is_right=fate == "void", facts={"fate": fate})


async def unsafe_change(folder: Path, *, seed: int) -> Answer:
    """A change that helps and breaks rules is vetoed."""
    trial = Trial([worth(0.4, 0)], seed=seed, folder=folder, unsafe=1)
    await trial.run()
    last = list(trial.state.comparisons.values())[-1]
    reasons = last.closed.result.reasons if last.closed else []
    is_right = not trial.state.promoted and last.opened.stage == "guard"
    return Answer(name="safety vetoes a gain", is_right=is_right, facts={"reasons": reasons})


async def sealed_touched(folder: Path, *, seed: int) -> Answer:
    """A proposer that asks for a sealed or a confirmation task gets an error, and it is written down."""
    trial = Trial([], seed=seed, folder=folder)
    refused = 0
    for split in ("sealed", "confirm"):
        task = trial.state.started.tasks.split(split)[0]
        planned = PlannedEpisode(task=task, bundle=trial.workshop.default, purpose="search", seed=0)
        try:
            await MeteredMeasure(trial.journal, trial.teams).run([planned])
        except BadArguments:
            refused += 1
    is_right = refused == len(trial.state.refusals) == 2 and not trial.teams.episodes
    return Answer(name="sealed tasks are out of reach", is_right=is_right, facts={"refused": refused})


def crashes(folder: Path, *, seed: int, is_full: bool) -> Answer:
    """A process killed at a line of the ledger leaves what a new one ends in the same way."""
    report = crash_everywhere(folder, seed=seed, is_full=is_full)
    is_right = report["killed"] == 2 * report["lines"] and not report["different"] and report["promoted"] == 1
    return Answer(name="kill -9 anywhere ends the same", is_right=is_right, facts=report)


def two_evolvers(folder: Path, *, seed: int) -> Answer:
    """The second evolver on a ledger fails on the lock, and reading goes on."""
    facts = second_evolver_fails(folder, seed=seed)
    return Answer(name="two evolvers cannot run on one ledger", is_right=all(facts.values()), facts=facts)


def _scores(state: State) -> list[tuple[str, Any]]:
    return [
        (name, [(pair.index, pair.gain) for pair in collect(comparison).pairs.values()])
        for name, comparison in state.comparisons.items()
    ]


def ask_all(*, scale: float, seed: int) -> Generator[Answer]:
    """Ask every question; `scale` 1 is the full size, less is quicker and says less.

    No event loop may run in the caller's thread: processes are forked.
    """
    with TemporaryDirectory(dir=FAST if FAST.is_dir() else None) as place:
        folder = Path(place)
        challengers, campaigns = max(10, round(1000 * scale)), max(30, round(100 * scale))
        simulations: list[Callable[[], Awaitable[Answer]]] = [
            partial(leaking_change, folder, seed=seed),
            partial(sealed_touched, folder, seed=seed),
            partial(outages, folder, seed=seed),
            partial(invalid_episodes, folder, seed=seed),
            partial(changed_key, folder, seed=seed),
            partial(unsafe_change, folder, seed=seed),
            partial(planted_changes, folder, gain=0.3, campaigns=campaigns, seed=seed),
            partial(planted_changes, folder, gain=-0.2, campaigns=campaigns, seed=seed),
            partial(neutral_changes, folder, challengers=challengers, seed=seed),
        ]
        questions: list[Callable[[], Answer]] = [
            partial(two_evolvers, folder, seed=seed),
            partial(crashes, folder, seed=seed, is_full=scale >= 1),
            *(partial(anyio.run, simulation) for simulation in simulations),
        ]
        for ask in questions:
            begun = time.monotonic()
            answer = ask()
            yield msgspec.structs.replace(answer, seconds=round(time.monotonic() - begun, 1))
