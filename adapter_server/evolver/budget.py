"""The budget: reserved before anything runs, settled afterwards; what is not known is never taken for nothing."""

import msgspec

from bus.records import EpisodeRecord

from .gate_result import GateResult, verdict
from .plan import Amounts, Plan, Unit
from .state import State
from .statistics import gate_power, mcnemar_power

TYPICAL_DISCORDANCE = 0.35
"""Of independent runs of teams of middling strength; used until the champion was compared with itself."""


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan can do, before anything is spent.

    Attributes:
        calibration: episodes of the champion against itself.
        shortest: episodes of a challenger that the screen rejects.
        longest: episodes of a challenger that goes through all stages.
        remaining: of the budget.
        episode_cost: taken for one episode; measured when the champion was calibrated, else the bound.
        at_least: challengers that the budget buys if all go through all stages.
        at_most: challengers that it buys if the screen rejects all.
        discordance: of pairs without a difference; measured or typical.
        is_measured: whether cost and discordance were measured.
        finds: gain in percentage points → how often gate and confirmation find it.
        smallest_gain: that they find in 80 of 100 cases, in percentage points; None when there is none.
    """

    calibration: int
    shortest: int
    longest: int
    remaining: Amounts
    episode_cost: Amounts
    at_least: int
    at_most: int
    discordance: float
    is_measured: bool
    finds: dict[int, float]
    smallest_gain: int | None


def cost_of(record: EpisodeRecord, unit: Unit) -> float | None:
    """What an episode cost in one unit; None when it is not known."""
    spent = record.spent
    if unit == "episodes":
        return 1.0
    if unit == "tokens":
        parts = (spent.tokens_in, spent.tokens_out)
        return None if None in parts else float(sum(part or 0 for part in parts))
    if unit == "usd":
        return spent.usd
    return float(spent.checks if unit == "checks" else spent.seconds)


def costs_of(records: list[EpisodeRecord], plan: Plan) -> tuple[Amounts, list[Unit]]:
    """What episodes cost, and the units in which it is not known; there the bound stands in."""
    amounts: Amounts = {}
    unknown: list[Unit] = []
    for unit in plan.budget:
        costs = [cost_of(record, unit) for record in records]
        if None in costs:
            unknown.append(unit)
        amounts[unit] = sum(plan.episode_cost[unit] if cost is None else cost for cost in costs)
    return amounts, unknown


def bound(plan: Plan, episodes: int) -> Amounts:
    """The most that so many episodes can cost."""
    return {unit: plan.episode_cost[unit] * episodes for unit in plan.budget}


def remaining(state: State) -> Amounts:
    """What is neither spent nor reserved."""
    left: Amounts = {}
    for unit, amount in state.started.plan.budget.items():
        reserved = sum(amounts.get(unit, 0.0) for amounts in state.reserved.values())
        left[unit] = amount + state.raised.get(unit, 0.0) - state.spent.get(unit, 0.0) - reserved
    return left


def reservation_gate(state: State, amounts: Amounts) -> GateResult:
    """G3: what is about to run can be paid."""
    left = remaining(state)
    short = [
        f"{unit}: {amount:g} needed, {left.get(unit, 0.0):g} left"
        for unit, amount in amounts.items()
        if amount > left.get(unit, 0.0)
    ]
    return verdict("G3", short, needed=amounts, remaining=left)


def expected_cost(state: State, key: str) -> Amounts:
    """Of one episode: the mean of the calibration, else the bound."""
    plan = state.started.plan
    calibration = state.calibrations.get(key)
    measured: Amounts = calibration.result.facts.get("mean_cost", {}) if calibration else {}
    return {unit: measured.get(unit) or plan.episode_cost[unit] for unit in plan.budget}


def challenger_episodes(state: State) -> tuple[int, int]:
    """How many episodes a challenger takes: rejected by the screen, and through all stages."""
    plan, tasks = state.started.plan, state.started.tasks
    first = plan.screen_pairs or plan.gate_pairs
    whole = plan.screen_pairs + plan.gate_pairs + len(tasks.guard) + plan.confirm_pairs
    return 2 * first, 2 * whole


def forecast(state: State, key: str) -> Forecast:
    """What the rest of the budget buys, and the smallest effect that the plan can see."""
    plan = state.started.plan
    calibration = state.calibrations.get(key)
    measured: dict[str, float] = calibration.result.facts if calibration else {}
    discordance = measured.get("discordance", TYPICAL_DISCORDANCE)
    cost, left = expected_cost(state, key), remaining(state)
    calibrating = 0 if calibration else 2 * plan.aa_pairs
    shortest, longest = challenger_episodes(state)
    affordable = int(min(left[unit] / cost[unit] for unit in cost)) - calibrating
    finds = {points: round(plan_power(plan, points / 100, discordance), 3) for points in range(5, 65, 5)}
    return Forecast(
        calibration=calibrating,
        shortest=shortest,
        longest=longest,
        remaining=left,
        episode_cost=cost,
        at_least=max(0, affordable // longest),
        at_most=max(0, affordable // shortest),
        discordance=discordance,
        is_measured="discordance" in measured,
        finds=finds,
        smallest_gain=next((points for points, share in finds.items() if share >= 0.8), None),
    )


def plan_power(plan: Plan, gain: float, discordance: float) -> float:
    """How often a true gain passes gate and confirmation; a gain brings at least as much discordance with it."""
    share = min(1.0, max(discordance, gain))
    evidence = plan.gate_evidence * (2 if plan.is_graded else 1)
    gated = gate_power(gain, pairs=plan.gate_pairs, discordance=share, threshold=evidence)
    return gated * mcnemar_power(gain, pairs=plan.confirm_pairs, discordance=share, level=plan.confirm_level)
