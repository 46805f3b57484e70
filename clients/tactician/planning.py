"""Lemma calculation without Lean: which parts would make a statement follow, and are they plausible."""

from __future__ import annotations

import itertools
import time

import msgspec

from .conjectures import conjectures
from .goals import Goal
from .knowledge import Knowledge
from .proving import Tactics
from .rippling import Rippling
from .statements import Statement, weight
from .subgoals import Hint

VARIABLES = 2
OPTIONS = 6
PART = "part "
"""With its number: how a hint names the parts of a split."""

LONGER = 14
"""How much larger than the statement a part may be."""

COMBINATIONS = 16
SECONDS = 1.0
"""Time for one statement; what was found by then counts."""


class Split(msgspec.Struct, frozen=True):
    """Parts from which a statement follows by rewriting."""

    children: tuple[Statement, ...]
    hint: Hint
    provable: int
    """How many of the parts rewriting proves already."""


def splits(statement: Statement, knowledge: Knowledge) -> list[Split]:
    """Ways to split, the best first: parts that can be proved, few and small ones."""
    tactics = Tactics(statement, knowledge.theory)
    rippling = Rippling(knowledge.rewriter, knowledge.theory)
    found: list[Split] = []
    deadline = time.monotonic() + SECONDS
    for variable in tactics.variables[:VARIABLES]:
        goals = rippling.residuals(statement, variable)
        options = [_options(goal_options, statement, knowledge) for goal_options in _conjectured(goals, knowledge)]
        if not options or not all(options):
            continue
        for children in itertools.islice(itertools.product(*options), COMBINATIONS):
            if time.monotonic() > deadline:
                break
            distinct = tuple({item.key(): item for item in children}.values())
            if (hint := _follows(statement, distinct, tactics, knowledge)) is not None:
                found.append(Split(distinct, hint, sum(_is_provable(item, rippling, knowledge) for item in distinct)))
    return sorted(found, key=_cost)


def _conjectured(goals: list[Goal], knowledge: Knowledge) -> list[list[Statement]]:
    return [conjectures(goal, knowledge.names, knowledge.evaluator, knowledge.rng) for goal in goals]


def _options(found: list[Statement], statement: Statement, knowledge: Knowledge) -> list[Statement]:
    oriented = [knowledge.oriented(item) for item in found]
    new = [item for item in oriented if item.key() != statement.key() and item.key() not in knowledge.stated]
    return [item for item in new if weight(item)[0] <= weight(statement)[0] + LONGER][:OPTIONS]


def _follows(
    statement: Statement, children: tuple[Statement, ...], tactics: Tactics, knowledge: Knowledge
) -> Hint | None:
    """How the statement follows when the children may be used as rules."""
    rewriter = knowledge.rewriter.extended()
    for index, child in enumerate(children):
        knowledge.use(child, rewriter, source=f"{PART}{index}")
    return Rippling(rewriter, knowledge.theory).hint_for(statement, tactics)


def _is_provable(child: Statement, rippling: Rippling, knowledge: Knowledge) -> bool:
    return rippling.hint_for(child, Tactics(child, knowledge.theory)) is not None


def _cost(split: Split) -> tuple[int, int]:
    missing = len(split.children) - split.provable
    return missing, sum(weight(child)[0] for child in split.children)
