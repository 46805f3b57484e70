"""Proof search for one statement: several simp sets, rounds of tactics, a few Lean checks."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .desk import Desk, Lease
from .goals import Goal, read_goals
from .proving import Simp, Tactics, any_of, theorem
from .statements import Statement

PER_CHECK = 4


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a statement was proved, and what was left when it was not."""

    is_proved: bool
    goals: tuple[Goal, ...] = ()
    checks: int = 0


async def prove(
    desk: Desk,
    *,
    name: str,
    text: str,
    statement: Statement | None,
    simps: Sequence[Simp],
    rounds: slice = slice(0, 2),
    lease: Lease | None = None,
) -> Outcome:
    """Try to prove a statement; goals are those of the plain induction with the last simp set."""
    goals: tuple[Goal, ...] = ()
    checks = 0
    for simp in simps:
        for attempts, leaves in _batches(desk, statement, simp, rounds):
            source = theorem(name, text, any_of(attempts, leave_goals=leaves))
            checked = await desk.check(source, lease=lease)
            checks += 1
            if checked.accepted:
                return Outcome(is_proved=True, checks=checks)
            if leaves and checked.goals:
                goals = tuple(goal for item in checked.goals for goal in read_goals(item, desk.knowledge.names))
    return Outcome(is_proved=False, goals=goals, checks=checks)


def _batches(desk: Desk, statement: Statement | None, simp: Simp, rounds: slice) -> list[tuple[list[str], str | None]]:
    """Attempts of each check and the one that may leave goals."""
    if statement is None:
        return [([], simp.tactic())]
    tactics = Tactics(statement, desk.knowledge.theory)
    plain = tactics.induction(simp)
    found: list[tuple[list[str], str | None]] = []
    for index, attempts in list(enumerate(tactics.rounds(simp)))[rounds]:
        if index == 0 and plain is not None:
            found.append(([item for item in reversed(attempts) if item != plain], plain))
            continue
        found += [(attempts[at : at + PER_CHECK], None) for at in range(0, len(attempts), PER_CHECK)]
    return found
