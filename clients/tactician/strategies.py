"""How the members of a team differ: what each does first, and with which simp sets."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

ACTIVITIES = ("target", "split", "parts", "explore", "conditions")


class Strategy(msgspec.Struct, frozen=True, kw_only=True):
    """The order of activities of one agent; the first that finds something to do is done."""

    name: str
    order: tuple[str, ...]
    approach: str
    """What the others read when this agent claims a part."""

    explores_after_s: float = 6.0
    """When it begins to explore; only one member of a team should begin at once."""

    refutes_first_s: float = 0.0
    refutes_share: float = 0.005
    refutes_after_s: float = 20.0
    """Processor time for values that make the target false: at first, and of the time that goes by after a while.

    What most false statements need is found at once; who has not proved the target soon doubts it more.
    """

    narrows_first: bool = False
    """Whether large values of one shape are looked for before all small ones."""

    watches: bool = False
    """Whether it looks after every lemma which open parts rewriting proves now."""

    simp_order: tuple[str, ...]
    """Kinds of simp sets, tried in turn: every lemma, definitions only, the newest lemma, a random half."""

    rewrites: bool = True
    """Whether rewriting looks for a proof before Lean is asked."""

    generalises: bool = True
    """Whether stuck goals become parts."""


STRATEGIES = {
    "splitter": Strategy(
        name="splitter",
        order=("split", "target", "parts", "explore"),
        approach="induction, then split at the stuck goal",
        simp_order=("all", "none"),
    ),
    "prover": Strategy(
        name="prover",
        order=("parts", "target", "explore"),
        watches=True,
        approach="induction with all lemmas",
        simp_order=("all", "none", "newest"),
    ),
    "explorer": Strategy(
        name="explorer",
        order=("explore", "parts", "target"),
        explores_after_s=0.0,
        approach="small equations over the functions",
        simp_order=("all", "none"),
    ),
    "generaliser": Strategy(
        name="generaliser",
        order=("parts", "split", "target", "conditions"),
        refutes_first_s=0.05,
        refutes_share=0.12,
        refutes_after_s=3.0,
        narrows_first=True,
        approach="definitions first, then generalise what is left",
        simp_order=("none", "newest", "all"),
    ),
    "tester": Strategy(
        name="tester",
        order=("conditions", "parts", "target", "explore"),
        refutes_first_s=0.05,
        refutes_share=0.03,
        refutes_after_s=3.0,
        approach="test on values, then random halves of the lemmas",
        simp_order=("half", "star", "none"),
    ),
}
ROLES: dict[str, Sequence[str]] = {
    "planner": ("splitter",),
    "splitter": ("splitter",),
    "scout": ("explorer",),
    "explorer": ("explorer",),
    "generaliser": ("generaliser",),
    "tester": ("tester",),
    "refuter": ("tester",),
    "prover": ("prover", "generaliser", "tester", "prover", "tester"),
}
DEFAULT = ("splitter", "prover", "explorer", "generaliser", "tester")


def strategy_for(role: str, *, seed: int) -> Strategy:
    """The strategy for a role; agents of the same role differ by seed, unknown roles get any."""
    options = ROLES.get(role.lower(), DEFAULT)
    return STRATEGIES[options[seed % len(options)]]


def simp_sets(strategy: Strategy, rules: Sequence[str], rng: random.Random) -> list[tuple[tuple[str, ...], str]]:
    """(rules, style) in the order of the strategy, without repetitions."""
    found: dict[tuple[tuple[str, ...], str], None] = {}
    for kind in strategy.simp_order:
        if kind == "all":
            found[tuple(rules), "all"] = None
        elif kind == "none":
            found[(), "all"] = None
        elif kind == "star":
            found[tuple(rules), "star"] = None
        elif kind == "newest" and rules:
            found[(rules[-1],), "all"] = None
        elif kind == "half" and len(rules) > 1:
            chosen = set(rng.sample(list(rules), (len(rules) + 1) // 2))
            found[tuple(rule for rule in rules if rule in chosen), "all"] = None
    return list(found)
