"""Predictions of a proposal against what happened, from the records of both arms."""

from collections.abc import Sequence

import msgspec

from bus.records import EpisodeRecord

from .patch import Metric, Prediction

_SHARES = ("solved", "subgoals")
"""Metrics between 0 and 1, whose change is a difference."""

_SPENT = ("seconds", "lean_cpu_s", "checks", "calls")
_COUNTED = ("lemmas", "distinct_lemmas", "used_lemmas")


class PredictionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction and what came of it.

    Attributes:
        prediction: as it was written before the comparison.
        champion: mean of the metric over the champion's episodes; None when no episode knows it.
        challenger: the same of the challenger.
        change: as `Prediction` defines it; None when it cannot be said.
        is_met: None when it cannot be said.
    """

    prediction: Prediction
    champion: float | None
    challenger: float | None
    change: float | None
    is_met: bool | None


def metric_of(record: EpisodeRecord, metric: Metric) -> float | None:
    """A metric of one episode; None when it is not known."""
    if metric == "solved":
        return float(record.outcome in ("solved", "refuted"))
    if metric == "subgoals":
        return record.subgoals
    if metric == "tokens":
        parts = (record.spent.tokens_in, record.spent.tokens_out)
        return None if None in parts else float(sum(part or 0 for part in parts))
    if metric in _SPENT or metric in _COUNTED:
        value = getattr(record.spent if metric in _SPENT else record, metric)
        return None if value is None else float(value)
    return record.counters.get(metric)


def check_predictions(
    predictions: Sequence[Prediction], champion: Sequence[EpisodeRecord], challenger: Sequence[EpisodeRecord]
) -> list[PredictionCheck]:
    """Each prediction against the episodes of both arms; those that are invalid or censored must be left out."""
    return [_checked(prediction, champion, challenger) for prediction in predictions]


def _checked(
    prediction: Prediction, champion: Sequence[EpisodeRecord], challenger: Sequence[EpisodeRecord]
) -> PredictionCheck:
    before, after = _mean(champion, prediction.metric), _mean(challenger, prediction.metric)
    change = _change(before, after, is_share=prediction.metric in _SHARES)
    is_met = None
    if change is not None:
        is_met = change <= prediction.amount if prediction.relation == "at_most" else change >= prediction.amount
    return PredictionCheck(prediction=prediction, champion=before, challenger=after, change=change, is_met=is_met)


def _mean(records: Sequence[EpisodeRecord], metric: Metric) -> float | None:
    known = [value for record in records if (value := metric_of(record, metric)) is not None]
    return sum(known) / len(known) if known else None


def _change(before: float | None, after: float | None, *, is_share: bool) -> float | None:
    if before is None or after is None:
        return None
    if is_share:
        return after - before
    if before == 0:
        return 0.0 if after == 0 else None
    return after / before - 1
