"""Simulated teams on simulated tasks, for known answers: what a version is worth stands in one of its prompts."""

import json
import math
import os
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from adapter_server.bundle import bundle_id, default_bundle_folder, read_bundle
from adapter_server.staging import read_files
from bus.errors import Conflict, InfraPause
from bus.records import EpisodeRecord, Spent, Task

from .events import LedgerEvent, Reference, RunStarted
from .gate_result import GateResult
from .leakage import leak_guard
from .ledger import Entry, sealed
from .measuring import PlannedEpisode
from .patch import NoChange, Patch, edited
from .plan import Plan, Tasks, check_plan, config_hash
from .proposing import ProposalContext
from .spending import seed_of
from .state import State
from .static_gates import StaticRules, static_gates

COMPONENT = "prompts/roles/prover.md"
STATEMENT = "∀ (x : Stack) (y : Stack), size (push x y) = size (push y x)"
_WORTH = re.compile(r"^simulated gain (-?[\d.]+), run (\d+)$", re.MULTILINE)
_SHAPE = (0.8, 1.2)
"""Of the Beta distribution of how often a task is solved; its mean is 0.4."""


@lru_cache
def _shift(gain: float) -> float:
    """By how much the chance of each task rises, as far as there is room, so that the mean rises by `gain`."""
    chance = random.Random(0)
    easy = [chance.betavariate(*_SHAPE) for _ in range(4000)]
    low, high = sorted((0.0, math.copysign(1.0, gain)))
    while high - low > 1e-4:
        middle = (low + high) / 2
        mean = sum(min(1.0, max(0.0, share + middle)) - share for share in easy) / len(easy)
        low, high = (middle, high) if mean < gain else (low, middle)
    return (low + high) / 2


def worth(gain: float, run: int) -> Patch:
    """A change that raises the share of solved tasks by `gain`, of all tasks on average."""
    text = read_files(default_bundle_folder())[COMPONENT].decode()
    return Patch(component=COMPONENT, content=f"{text}\nsimulated gain {gain}, run {run}\n", hypothesis="planted")


def simulated_tasks(*, search: int = 60, confirm: int = 60, guard: int = 8, sealed: int = 20) -> Tasks:
    """Tasks that exist by name only."""
    sizes = {"search": search, "confirm": confirm, "guard": guard, "sealed": sealed}
    made = {
        name: [Task(id=f"sim/{name}-{number}", family="sim", path="", expected="true") for number in range(size)]
        for name, size in sizes.items()
    }
    return Tasks(search=made["search"], confirm=made["confirm"], guard=made["guard"], sealed=made["sealed"])


class MemoryLog:
    """A log that ends with the process."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def append(self, event: LedgerEvent) -> Entry:
        """Write one event."""
        entry = sealed(event, after=self.entries[-1] if self.entries else None, at=0.0)
        self.entries.append(entry)
        return entry


class FilePointer:
    """A champion pointer in a file; moved by replacing it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def champion(self) -> Reference:
        """Return the version in use."""
        bundle, epoch = json.loads(self._path.read_text())
        return Reference(bundle=bundle, epoch=epoch)

    async def promote(self, *, expected: Reference, bundle: str) -> Reference:
        """Put a version in use instead of the expected one.

        Raises:
            Conflict: another one is in use.
        """
        current = await self.champion()
        if current != expected:
            raise Conflict("another version is in use", bundle=current.bundle, epoch=current.epoch)
        return self.put(Reference(bundle=bundle, epoch=current.epoch + 1))

    async def roll_back(self, *, to: str) -> Reference:
        """Put an earlier version in use again."""
        return self.put(Reference(bundle=to, epoch=(await self.champion()).epoch + 1))

    async def restore(self, champion: Reference) -> None:
        """Put back a pointer that was lost."""
        self.put(champion)

    def put(self, champion: Reference) -> Reference:
        """Move the pointer, whatever it was."""
        temporary = self._path.with_suffix(".new")
        temporary.write_text(json.dumps([champion.bundle, champion.epoch]))
        os.replace(temporary, self._path)  # noqa: PTH105 - one atomic step
        return champion


class SimulatedWorkshop:
    """Versions in memory, made anew from the patches of a ledger, with the real static gates."""

    def __init__(self) -> None:
        default = read_files(default_bundle_folder())
        self.default = bundle_id(default)
        self._kept: dict[str, Mapping[str, bytes]] = {self.default: default}
        self._rules = StaticRules(
            listing=lambda bundle: [{"name": name} for name in bundle.tools],
            widest=read_bundle(default).tools,
            leaks=leak_guard([("sim/search-0", STATEMENT)], names=["sim/search-0", "size_push_comm"]),
        )

    def files(self, bundle: str) -> Mapping[str, bytes]:
        """The files of a version."""
        return self._kept[bundle]

    def stage(self, files: Mapping[str, bytes]) -> str:
        """Keep a version; its id."""
        name = bundle_id(files)
        self._kept[name] = files
        return name

    def changed(self, files: Mapping[str, bytes], patch: Patch) -> Mapping[str, bytes]:
        """The files with the change."""
        return edited(files, patch)

    def static_gates(self, files: Mapping[str, bytes], patch: Patch) -> list[GateResult]:
        """G0 to G2."""
        return static_gates(files, patch, self._rules)

    def context(self, state: State) -> ProposalContext:
        """What a scripted proposer needs: which round it is."""
        champion = state.champion.bundle
        return ProposalContext(
            folder=Path(),
            champion=champion,
            files=self._kept[champion],
            round=state.rounds,
            seed=state.started.plan.seed,
        )

    def again(self, state: State) -> None:
        """Keep the versions that a ledger names, after a restart."""
        for proposal in state.proposals.values():
            if proposal.challenger:
                self.stage(edited(self._kept[proposal.proposed.champion], proposal.proposed.patch))


class Script:
    """Proposes given changes, one a round."""

    name = "script"

    def __init__(self, patches: Sequence[Patch]) -> None:
        self._patches = patches

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        """The change of this round."""
        if context.round >= len(self._patches):
            return NoChange(reason="the script is over")
        return self._patches[context.round]


class SimulatedTeams:
    """Teams whose results are drawn; the same episode has the same result, whenever it is run."""

    def __init__(
        self,
        workshop: SimulatedWorkshop,
        *,
        seed: int,
        invalid: Mapping[str, float] | None = None,
        outages: Sequence[int] = (),
        key: str = "simulated teams 1",
        unsafe: int = 0,
    ) -> None:
        self._workshop = workshop
        self._seed = seed
        self.invalid: Mapping[str, float] = invalid or {}
        self.outages = set(outages)
        self.calls = 0
        self.used_in_vain: Mapping[str, float] = {"episodes": 0}
        self._unsafe = unsafe
        self.key = key
        self.episodes = 0
        self.price = 1

    async def run(self, plan: Sequence[PlannedEpisode]) -> list[EpisodeRecord]:
        """Draw the results.

        Raises:
            InfraPause: this call is one of the given outages.
        """
        self.calls += 1
        if self.calls in self.outages:
            raise InfraPause("the provider refuses", spent=self.used_in_vain)
        self.episodes += len(plan)
        return [self._drawn(one) for one in plan]

    def _drawn(self, one: PlannedEpisode) -> EpisodeRecord:
        easy = random.Random(seed_of(self._seed, one.task.id)).betavariate(*_SHAPE)
        pair, _, attempt = one.pair.rpartition("/")
        chance = random.Random(seed_of(self._seed, one.task.id, pair, one.arm, one.seed))
        gain = self._gain(one.bundle)
        share = easy + (_shift(gain) if gain else 0.0)
        is_solved = chance.random() < share
        is_invalid = random.Random(seed_of(chance.random(), attempt)).random() < self.invalid.get(one.arm, 0.0)
        return EpisodeRecord(
            episode=f"ep-{seed_of(one.pair, one.arm):08x}",
            task=one.task.id,
            bundle=one.bundle,
            purpose=one.purpose,
            outcome="invalid" if is_invalid else "solved" if is_solved else "unsolved",
            pair=one.pair,
            arm=one.arm,
            order=one.order,
            seed=one.seed,
            spent=Spent(
                seconds=1.0, checks=chance.randrange(10, 60) * self.price, calls=5, tokens_in=100, tokens_out=10
            ),
            subgoals=1.0 if is_solved else chance.randrange(4) / 4,
            safety={"writes_without_lease": self._unsafe} if self._unsafe and gain else {},
        )

    def _gain(self, bundle: str) -> float:
        found = _WORTH.findall(self._workshop.files(bundle)[COMPONENT].decode())
        return float(found[-1][0]) if found else 0.0


def simulated_plan(*, seed: int, is_auto: bool = True, **changes: object) -> Plan:
    """The plan of the design, promoting by itself, on a budget that does not run out."""
    given: dict[str, object] = {
        "seed": seed, "is_auto": is_auto, "budget": {"episodes": 1e6}, "episode_cost": {"episodes": 1.0}, "batch": 4,
        "max_failures": 100,
    }  # fmt: skip
    return Plan(**given | changes)  # pyright: ignore[reportArgumentType]


def set_up(plan: Plan, tasks: Tasks, champion: str) -> RunStarted:
    """The first line of a campaign.

    Raises:
        BadArguments: the plan cannot be measured honestly.
    """
    check_plan(plan, tasks)
    start = Reference(bundle=champion, epoch=0)
    return RunStarted(plan=plan, tasks=tasks, champion=start, config_hash=config_hash(plan, tasks))
