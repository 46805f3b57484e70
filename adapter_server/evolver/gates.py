"""Gates on measured evidence, G4 to G10: pure functions of what the ledger has, so that each can be derived again."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from .budget import cost_of
from .comparison import Collected, Pair, collect, compare_cost, wins_and_losses
from .gate_result import GateResult
from .plan import Plan, Stage, Verdict
from .predictions import PredictionCheck, check_predictions
from .state import Comparison, Proposal, State
from .statistics import e_value, fisher, holm, mcnemar, paired_gain, sign_flip
from .vetoes import guard_vetoes, guard_wanted, safety_vetoes

GATE_OF: dict[Stage, str] = {"aa": "G4", "screen": "G5", "gate": "G6", "guard": "G7", "confirm": "G8", "sealed": "G10"}
INVALID_RATES_LEVEL = 0.1
MAX_INVALID_SHARE = 0.2
"""A laboratory in which more episodes fail than this measures nothing."""


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a comparison. A gate that is passed on the way is `undecided`."""

    verdict: Verdict
    result: GateResult
    predictions: list[PredictionCheck] = []


Wanted = list[int]
"""Indices of the pairs that are needed next."""


def judge(comparison: Comparison, plan: Plan, earlier: Sequence[Pair] = ()) -> Ruling | Wanted:
    """What is known so far: the comparison's end, or which pairs to run.

    Args:
        comparison: as far as it went.
        plan: of the campaign.
        earlier: pairs of the challenger's stages before this one, for the safety vetoes.
    """
    stage, found = comparison.opened.stage, collect(comparison)
    if changed := sorted(comparison.keys - {comparison.opened.key}):
        return _void(stage, "key_changed", f"results depend on something else now: {changed[0]}", found)
    if exhausted := [index for index, times in sorted(found.invalid.items()) if times > plan.reruns]:
        again = next((index for index in exhausted if index not in found.pairs), None)
        if again is not None:
            return _void(stage, "reruns_used_up", f"pair {again} was invalid {plan.reruns + 1} times", found)
    ruling = _RULES[stage](comparison, plan, found, earlier)
    if isinstance(ruling, Ruling) and stage != "aa":
        p = fisher(found.champion, found.challenger)
        if p < INVALID_RATES_LEVEL:
            reason = f"{found.champion[0]} episodes of the champion and {found.challenger[0]} of the challenger"
            return _void(stage, "invalid_rates_differ", f"{reason} were invalid (p = {p:.3f})", found)
    return ruling


def _void(stage: Stage, cause: str, reason: str, found: Collected) -> Ruling:
    facts = {"cause": cause, "invalid": [found.champion[0], found.challenger[0]], "pairs": len(found.pairs)}
    result = GateResult(gate=GATE_OF[stage], is_passed=False, reasons=[reason], facts=facts)
    return Ruling(verdict="void", result=result)


def void_for_key(comparison: Comparison, key: str) -> Ruling:
    """The end of a comparison that cannot go on because what its results depend on is different now."""
    ruling = _void(
        comparison.opened.stage, "key_changed", f"results depend on something else now: {key}", collect(comparison)
    )
    ruling.result.facts["key_now"] = key
    return ruling


def _facts(pairs: Sequence[Pair], plan: Plan, found: Collected, **more: object) -> dict[str, Any]:
    wins, losses = wins_and_losses(pairs)
    return {
        "pairs": len(pairs),
        "wins": wins,
        "losses": losses,
        "gain": msgspec.to_builtins(paired_gain(wins, losses, len(pairs))),
        "progress": sum(pair.progress for pair in pairs) / len(pairs) if pairs else 0.0,
        "cost": msgspec.to_builtins(compare_cost(pairs, plan.cost_unit)),
        "invalid": [found.champion[0], found.challenger[0]],
        "cut_off": sum(found.started.values()) - len(found.pairs) - sum(found.invalid.values()),
        **more,
    }


def _ruling(
    comparison: Comparison, verdict: Verdict, reasons: list[str], facts: dict[str, Any], pairs: Sequence[Pair]
) -> Ruling:
    checks = check_predictions(
        comparison.opened.predictions, [pair.champion for pair in pairs], [pair.challenger for pair in pairs]
    )
    gate = GATE_OF[comparison.opened.stage]
    result = GateResult(gate=gate, is_passed=not reasons, reasons=reasons, facts=facts)
    return Ruling(verdict=verdict, result=result, predictions=checks)


def _next(found: Collected, upto: int, batch: int) -> Wanted:
    """What is missing of the first incomplete batch; batches do not shift, so that a crash changes no later one."""
    missing = [index for index in range(upto) if index not in found.pairs]
    return [index for index in missing if index // batch == missing[0] // batch]


def _calibrate(comparison: Comparison, plan: Plan, found: Collected, _: Sequence[Pair]) -> Ruling | Wanted:
    if wanted := _next(found, comparison.opened.pairs, plan.batch):
        return wanted
    pairs = found.prefix()
    wins, losses = wins_and_losses(pairs)
    records = [record for pair in pairs for record in (pair.champion, pair.challenger)]
    costs = {unit: [cost for record in records if (cost := cost_of(record, unit)) is not None] for unit in plan.budget}
    mean = {unit: sum(values) / len(values) for unit, values in costs.items() if values}
    bad, good = (sum(counts) for counts in zip(found.champion, found.challenger, strict=True))
    share = bad / (bad + good)
    reasons = [f"{bad} of {bad + good} episodes were invalid"] if share > MAX_INVALID_SHARE else []
    discordance = (wins + losses) / len(pairs)
    facts = _facts(pairs, plan, found, discordance=discordance, mean_cost=mean, invalid_share=share)
    return _ruling(comparison, "undecided", reasons, facts, pairs)


def _screen(comparison: Comparison, plan: Plan, found: Collected, _: Sequence[Pair]) -> Ruling | Wanted:
    """Rejects when more pairs were lost than won, as soon as that is certain."""
    limit = comparison.opened.pairs
    pairs = _until(found, lambda wins, losses, left: losses > wins + left or not left, limit)
    if pairs is None:
        return _next(found, limit, plan.batch)
    wins, losses = wins_and_losses(pairs)
    reasons = [f"lost {losses} pairs and won {wins}"] if losses > wins else []
    is_worse = bool(reasons) and e_value(losses, wins) >= plan.gate_evidence
    return _ruling(comparison, "worse" if is_worse else "undecided", reasons, _facts(pairs, plan, found), pairs)


def _until(found: Collected, is_over: Callable[[int, int, int], bool], limit: int) -> list[Pair] | None:
    """The fewest pairs after which wins, losses and pairs left end it; more of them, after a crash, change nothing."""
    pairs = found.prefix()
    wins = losses = 0
    for number, pair in enumerate(pairs, start=1):
        wins, losses = wins + (pair.gain > 0), losses + (pair.gain < 0)
        if is_over(wins, losses, limit - number):
            return pairs[:number]
    return None


def _gate(comparison: Comparison, plan: Plan, found: Collected, _: Sequence[Pair]) -> Ruling | Wanted:
    """The e-process after every pair; progress once, at the end. Stops when it can no longer pass."""
    limit, needed = comparison.opened.pairs, comparison.opened.threshold
    pairs = found.prefix()
    wins = losses = 0
    strongest = 1.0
    facts: dict[str, Any] = {"e": 1.0, "needed": needed}
    for number, pair in enumerate(pairs, start=1):
        wins, losses = wins + (pair.gain > 0), losses + (pair.gain < 0)
        seen = pairs[:number]
        strongest = max(strongest, e_value(wins, losses))
        facts["e"] = e_value(wins, losses)
        if strongest >= needed:
            return _ruling(comparison, "undecided", [], _facts(seen, plan, found, **facts), seen)
        if e_value(losses, wins) >= plan.gate_evidence:
            reasons = [f"lost {losses} pairs and won {wins}"]
            return _ruling(comparison, "worse", reasons, _facts(seen, plan, found, **facts), seen)
        if not plan.is_graded and e_value(wins + limit - number, losses) < needed:
            return _unresolved(comparison, plan, found, seen, "even winning all pairs left would not pass", facts)
    if len(pairs) < limit:
        return _next(found, limit, plan.batch)
    if plan.is_graded:
        p_values = {"solved": min(1.0, 1 / strongest), "progress": sign_flip([pair.progress for pair in pairs])}
        facts["p"] = p_values
        if any(holm(p_values, level=1 / plan.gate_evidence).values()):
            return _ruling(comparison, "undecided", [], _facts(pairs, plan, found, **facts), pairs)
    return _unresolved(comparison, plan, found, pairs, f"no evidence within {limit} pairs", facts)


def _confirm(comparison: Comparison, plan: Plan, found: Collected, _: Sequence[Pair]) -> Ruling | Wanted:
    """All fresh tasks, one exact test; stops early only when it cannot be passed any more."""
    limit, level = comparison.opened.pairs, comparison.opened.threshold
    is_solving = plan.confirm_on == "solved"
    pairs = _until(
        found, lambda wins, losses, left: not left or (is_solving and mcnemar(wins + left, losses) > level), limit
    )
    if pairs is None:
        return _next(found, limit, plan.batch)
    wins, losses = wins_and_losses(pairs)
    p = mcnemar(wins, losses) if is_solving else sign_flip([pair.progress for pair in pairs])
    facts: dict[str, object] = {"p": p, "level": level}
    if p <= level:
        return _ruling(comparison, "better", [], _facts(pairs, plan, found, **facts), pairs)
    if mcnemar(losses, wins) <= level:
        reasons = [f"lost {losses} fresh tasks and won {wins}"]
        return _ruling(comparison, "worse", reasons, _facts(pairs, plan, found, **facts), pairs)
    return _unresolved(comparison, plan, found, pairs, f"not confirmed on fresh tasks: p = {p:.3f}", facts)


def _unresolved(
    comparison: Comparison, plan: Plan, found: Collected, pairs: Sequence[Pair], reason: str, facts: dict[str, Any]
) -> Ruling:
    wins, losses = wins_and_losses(pairs)
    is_cheaper = wins >= losses and compare_cost(pairs, plan.cost_unit).is_cheaper
    verdict: Verdict = "cheaper-quality-unresolved" if is_cheaper else "undecided"
    return _ruling(comparison, verdict, [reason], _facts(pairs, plan, found, **facts), pairs)


def _guard(comparison: Comparison, plan: Plan, found: Collected, earlier: Sequence[Pair]) -> Ruling | Wanted:
    vetoes = safety_vetoes([*earlier, *found.pairs.values()])
    if not vetoes and (wanted := guard_wanted(comparison, plan, found)):
        return wanted[: plan.batch]
    vetoes += guard_vetoes(comparison, plan, found)
    pairs = [found.pairs[index] for index in sorted(found.pairs)]
    return _ruling(comparison, "worse" if vetoes else "undecided", vetoes, _facts(pairs, plan, found), pairs)


def _release(comparison: Comparison, plan: Plan, found: Collected, _: Sequence[Pair]) -> Ruling | Wanted:
    if wanted := _next(found, comparison.opened.pairs, plan.batch):
        return wanted
    pairs = found.prefix()
    wins, losses = wins_and_losses(pairs)
    p = mcnemar(wins, losses)
    is_better = p <= comparison.opened.threshold
    is_worse = mcnemar(losses, wins) <= comparison.opened.threshold
    verdict: Verdict = "better" if is_better else "worse" if is_worse else "undecided"
    reasons = [] if is_better else [f"the gain since the start is not shown on sealed tasks: p = {p:.3f}"]
    return _ruling(comparison, verdict, reasons, _facts(pairs, plan, found, p=p), pairs)


_RULES = {
    "aa": _calibrate, "screen": _screen, "gate": _gate, "guard": _guard, "confirm": _confirm, "sealed": _release,
}  # fmt: skip


def calibration_gate(state: State, key: str) -> GateResult:
    """G4: the champion was compared with itself under the conditions of now."""
    calibration = state.calibrations.get(key)
    if calibration is None:
        known = sorted(state.calibrations)
        return GateResult(gate="G4", is_passed=False, reasons=[f"no calibration for {key}"], facts={"known": known})
    return calibration.result


def approval_gate(plan: Plan, proposal: Proposal, by: str) -> GateResult:
    """G9: only `better` is promoted without a person; a person may take `cheaper-quality-unresolved` too."""
    is_better = proposal.fate == "waiting for approval"
    reasons: list[str] = []
    if not is_better and not (proposal.fate == "cheaper-quality-unresolved" and by):
        reasons = [f"its verdict is {proposal.fate}"]
    elif not plan.is_auto and not by:
        reasons = ["a person has to approve it"]
    return GateResult(gate="G9", is_passed=not reasons, reasons=reasons, facts={"by": by or "auto"})
