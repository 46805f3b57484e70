"""What is fixed before a campaign starts: sizes, levels, budget, and which task may serve for what."""

import hashlib
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from bus.errors import BadArguments
from bus.records import Purpose, Task

Unit = Literal["episodes", "checks", "seconds", "tokens", "usd"]
Amounts = dict[Unit, float]
Stage = Literal["aa", "screen", "gate", "guard", "confirm", "sealed"]
Verdict = Literal["better", "cheaper-quality-unresolved", "undecided", "worse", "void"]
Split = Literal["search", "confirm", "guard", "sealed"]

SPLITS: tuple[Split, ...] = ("search", "confirm", "guard", "sealed")

SPLIT_OF: dict[Purpose, Split] = {
    "search": "search", "aa": "search", "screen": "search", "gate": "search", "confirm": "confirm", "guard": "guard",
    "sealed": "sealed",
}  # fmt: skip
"""Which tasks a purpose may use."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sizes and levels. They may be made stricter than their defaults, or smaller, which only costs power.

    Attributes:
        seed: what the choice and order of tasks depend on.
        aa_pairs: of the champion against itself, before anything is compared.
        screen_pairs: may only reject.
        gate_pairs: at most so many before the gate is undecided.
        gate_evidence: e-value that passes the gate; 1 ÷ this is the chance to pass without being better.
        is_graded: progress is tested beside solving, and both together keep that chance (Holm).
        confirm_pairs: on fresh tasks, all of them.
        confirm_level: p-value that confirms.
        confirm_on: what is confirmed.
        guard_trials: a task that the champion solves and the challenger does not is tried so often before it is a veto.
        max_challengers: at the gate, for one champion.
        reruns: of a pair with an invalid episode.
        batch: pairs that are started together.
        max_failures: proposals in a row that no comparison was worth; then the run stops.
        is_auto: promote without a person's word.
        budget: what the whole campaign may spend, by unit; at least one.
        episode_cost: the most that one episode can cost, in the same units.
        cost_unit: what `cheaper` means.
    """

    seed: int = 0
    aa_pairs: Annotated[int, Meta(ge=2, le=200)] = 20
    screen_pairs: Annotated[int, Meta(ge=0, le=12)] = 10
    gate_pairs: Annotated[int, Meta(ge=5, le=60)] = 60
    gate_evidence: Annotated[float, Meta(ge=10)] = 10.0
    is_graded: bool = False
    confirm_pairs: Annotated[int, Meta(ge=5, le=400)] = 40
    confirm_level: Annotated[float, Meta(gt=0, le=0.05)] = 0.05
    confirm_on: Literal["solved", "progress"] = "solved"
    guard_trials: Annotated[int, Meta(ge=3, le=20)] = 5
    max_challengers: Annotated[int, Meta(ge=1, le=10)] = 10
    reruns: Annotated[int, Meta(ge=0, le=10)] = 2
    batch: Annotated[int, Meta(ge=1, le=32)] = 1
    max_failures: Annotated[int, Meta(ge=1, le=100)] = 5
    is_auto: bool = False
    budget: Amounts
    episode_cost: Amounts
    cost_unit: Unit = "checks"


class Tasks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The splits of the tasks. No task and no statement is in two of them.

    Attributes:
        search: for evidence, calibration, screen and gate.
        confirm: never shown to a proposer.
        guard: of families that earlier champions were good at.
        sealed: opened once, at a release.
    """

    search: list[Task]
    confirm: list[Task]
    guard: list[Task] = []
    sealed: list[Task] = []

    def split(self, name: Split) -> list[Task]:
        """The tasks of one split."""
        tasks: list[Task] = getattr(self, name)
        return tasks

    def by_id(self) -> dict[str, Task]:
        """All tasks."""
        return {task.id: task for name in SPLITS for task in self.split(name)}

    def split_of(self) -> dict[str, Split]:
        """Task id → its split."""
        return {task.id: name for name in SPLITS for task in self.split(name)}


def check_plan(plan: Plan, tasks: Tasks) -> None:
    """Refuse what cannot be measured honestly.

    Raises:
        BadArguments: splits overlap or are too small, or the budget is in units that episodes are not bounded in.
    """
    _check_splits(tasks)
    if not tasks.search:
        raise BadArguments("there are no search tasks")
    if len(tasks.confirm) < plan.confirm_pairs:
        raise BadArguments(
            f"confirming takes {plan.confirm_pairs} fresh tasks, the confirm split has {len(tasks.confirm)}",
            hint="name more tasks or a smaller confirm_pairs; fewer pairs find larger gains only",
        )
    if not plan.budget or plan.budget.keys() - plan.episode_cost.keys():
        raise BadArguments("the budget needs at least one unit, and each a bound in episode_cost")
    if any(amount <= 0 for amount in (*plan.budget.values(), *plan.episode_cost.values())):
        raise BadArguments("amounts of the budget and of episode_cost are above zero")


def _check_splits(tasks: Tasks) -> None:
    ids: dict[str, Split] = {}
    statements: dict[str, str] = {}
    for name in SPLITS:
        for task in tasks.split(name):
            if task.id in ids:
                raise BadArguments(f"task {task.id} is in {ids[task.id]} and in {name}", hint="keep it in one split")
            ids[task.id] = name
            if task.statement_hash and task.statement_hash in statements:
                raise BadArguments(f"tasks {statements[task.statement_hash]} and {task.id} say the same")
            statements[task.statement_hash] = task.id


def config_hash(*parts: msgspec.Struct) -> str:
    """SHA-256 over what a campaign was started with."""
    return hashlib.sha256(b"\n".join(msgspec.json.encode(part, order="sorted") for part in parts)).hexdigest()
