"""What an adapter version's portfolio means to a tactician: it names the techniques that may be used."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .strategies import ACTIVITIES, Strategy

SIMP_SETS = {"simp_all": "all", "definitions": "none", "newest": "newest", "half": "half", "star": "star"}
"""Word → simp set: every lemma, definitions only, the newest lemma, a random half, every lemma and hypothesis."""

WORK = {"generalise": "split", "explore": "explore", "conditions": "conditions"}
"""Word → activity: parts from stuck goals, equations found by evaluation, the same under a condition."""

REWRITE = "rewrite"
"""Proofs that rewriting finds before Lean is asked."""


def offered(strategy: Strategy, portfolio: Sequence[str]) -> Strategy:
    """The strategy without what the portfolio does not name; one without any known word changes nothing."""
    words = set(portfolio)
    if not words & {*SIMP_SETS, *WORK, REWRITE}:
        return strategy
    left_out = {activity for word, activity in WORK.items() if word not in words}
    simp_order = tuple(kind for word, kind in SIMP_SETS.items() if word in words)
    return msgspec.structs.replace(
        strategy,
        order=tuple(activity for activity in strategy.order if activity not in left_out),
        simp_order=tuple(kind for kind in strategy.simp_order if kind in simp_order) or simp_order[:1] or ("all",),
        rewrites=REWRITE in words,
        generalises="generalise" in words,
    )


def on_its_own(strategy: Strategy) -> Strategy:
    """The strategy of an agent that has nobody to leave anything to: all activities, none of them late."""
    missing = tuple(activity for activity in ACTIVITIES if activity not in strategy.order)
    return msgspec.structs.replace(
        strategy,
        order=strategy.order + missing,
        explores_after_s=0.0,
        refutes_first_s=0.05,
        refutes_share=max(strategy.refutes_share, 0.04),
        refutes_after_s=0.0,
    )
