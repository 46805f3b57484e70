"""Lemma calculation without Lean: which parts would make a statement follow, and are they plausible."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import msgspec

from .conjectures import conjectures
from .goals import Goal
from .knowledge import Knowledge
from .proving import Tactics
from .rippling import Rippling
from .statements import Statement, is_instance, weight, whole
from .subgoals import Hint
from .terms import Expr, is_embedded

VARIABLES = 2
OPTIONS = 6
PART = "part "
"""With its number: how a hint names the parts of a split."""

LONGER = 14
"""How much larger than the statement a part may be."""

COMBINATIONS = 16
MOST_GOALS = 4
"""Goals that a split may have to close."""

SECONDS = 0.4
"""Processor time for one statement; what was found by then counts."""


_Key = tuple[Expr, ...]


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
    deadline = time.process_time() + SECONDS
    options: dict[_Key, list[Statement]] = {}
    seen: set[tuple[Statement, ...]] = set()
    provable: dict[Statement, bool] = {}
    for goals in _leftovers(statement, tactics, rippling):
        for key, goal in goals.items():
            if key not in options and time.process_time() < deadline:
                options[key] = _options(goal, statement, knowledge)
        for children in itertools.islice(itertools.product(*(options.get(key, []) for key in goals)), COMBINATIONS):
            distinct = tuple({item.key(): item for item in children}.values())
            if not distinct or distinct in seen:
                continue
            seen.add(distinct)
            if (hint := _follows(statement, distinct, tactics, knowledge)) is not None:
                for item in distinct:
                    if item not in provable:
                        provable[item] = _is_provable(item, rippling, knowledge)
                found.append(Split(distinct, hint, sum(provable[item] for item in distinct)))
            if time.process_time() > deadline:
                break
    return sorted(found, key=_cost)


def _leftovers(statement: Statement, tactics: Tactics, rippling: Rippling) -> Iterator[dict[_Key, Goal]]:
    """What inductions leave: before tests and after, with the hypothesis in both directions, more variables opened."""
    seen: set[tuple[_Key, ...]] = set()
    for variable, opened, is_directed in itertools.product(tactics.variables[:VARIABLES], (0, 1), (False, True)):
        residues = rippling.residuals(statement, variable, is_directed=is_directed, opened=opened)
        untested = [residue.untested for residue in residues]
        for goals in (untested, [goal for residue in residues for goal in residue.leaves]):
            distinct = {(*goal.hypotheses, goal.conclusion): goal for goal in goals}
            if tuple(distinct) not in seen and len(distinct) <= MOST_GOALS:
                seen.add(tuple(distinct))
                yield distinct


def _options(goal: Goal, statement: Statement, knowledge: Knowledge) -> list[Statement]:
    """Parts that would close a goal, without those that are no step forward."""
    found = conjectures(goal, knowledge.names, knowledge.evaluator, knowledge.rng)
    largest = weight(statement)[0] + LONGER
    oriented = [knowledge.oriented(item) for item in found if weight(item)[0] <= largest]
    return [
        item
        for item in oriented
        if knowledge.is_open_question(item)
        and not is_instance(item, statement)
        and not is_embedded(whole(statement), whole(item))
    ][:OPTIONS]


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
