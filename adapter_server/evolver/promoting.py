"""Moving the champion pointer so that a crash at any point leaves ledger and pointer explainable."""

from typing import Protocol

from bus.errors import BadArguments, Conflict

from .events import Frozen, Promoted, PromoteIntent, Reference, Refused, RolledBack
from .gate_result import GateResult
from .gates import approval_gate
from .journal import Journal


class Pointer(Protocol):
    """Which version new episodes get."""

    async def champion(self) -> Reference:
        """Return the version in use."""
        ...

    async def promote(self, *, expected: Reference, bundle: str) -> Reference:
        """Put a version in use instead of the expected one.

        Raises:
            Conflict: another one is in use.
        """
        ...

    async def roll_back(self, *, to: str) -> Reference:
        """Put an earlier version in use again."""
        ...

    async def restore(self, champion: Reference) -> None:
        """Put back a pointer that the store has lost."""
        ...


async def promote(journal: Journal, pointer: Pointer, proposal: str, *, by: str) -> Reference:
    """Promote the challenger of a proposal: intent, pointer, promoted.

    Raises:
        BadArguments: a gate does not allow it; that is written down too.
        Conflict: somebody else moved the pointer.
    """
    state = journal.state
    found = state.proposals.get(proposal)
    if found is None:
        raise BadArguments(f"there is no proposal {proposal}", hint="evolve status lists them")
    gate = approval_gate(state.started.plan, found, by)
    reasons = list(gate.reasons)
    if state.frozen:
        reasons.append(f"the campaign is frozen: {state.frozen}")
    if found.proposed.champion != state.champion.bundle:
        reasons.append("it was compared with a version that is not the champion any more")
    if reasons:
        result = GateResult(gate="G9", is_passed=False, reasons=reasons, facts=gate.facts)
        journal.write(Refused(what=f"promotion of {proposal}", result=result))
        raise BadArguments(f"{proposal} is not promoted: {'; '.join(reasons)}")
    intent = PromoteIntent(proposal=proposal, expected=state.champion, bundle=found.challenger, by=by or "auto")
    journal.write(intent)
    try:
        champion = await pointer.promote(expected=state.champion, bundle=found.challenger)
    except Conflict:
        journal.write(Frozen(reason="somebody else moved the champion during a promotion"))
        raise
    journal.write(Promoted(proposal=proposal, champion=champion, by=intent.by))
    return champion


async def roll_back(journal: Journal, pointer: Pointer, *, to: str | None, by: str) -> Reference:
    """Put a version in use that was in use before; the count of challengers stays. Ends a freeze.

    Raises:
        BadArguments: it was never in use.
    """
    state = journal.state
    earlier = [reign.bundle for reign in state.reigns]
    if to is None:
        before = [bundle for bundle in earlier if bundle != state.champion.bundle]
        to = state.champion.bundle if state.frozen else before[-1] if before else None
    if to is None or to not in earlier:
        reason = f"{to} was never in use here" if to else "there is no earlier version"
        result = GateResult(gate="G9", is_passed=False, reasons=[reason])
        journal.write(Refused(what="rollback", result=result))
        raise BadArguments(f"cannot roll back: {reason}", hint="versions that were in use: " + ", ".join(earlier))
    current = await pointer.champion()
    journal.write(PromoteIntent(proposal="", expected=current, bundle=to, by=by))
    champion = current if current.bundle == to else await pointer.roll_back(to=to)
    journal.write(RolledBack(reason="by hand", champion=champion, by=by))
    return champion


def freeze(journal: Journal, reason: str) -> None:
    """No promotion until a rollback."""
    journal.write(Frozen(reason=reason))


async def recover(journal: Journal, pointer: Pointer) -> None:
    """Bring ledger and pointer together after whatever ended the last process."""
    current, state = await pointer.champion(), journal.state
    if (intent := state.intent) is not None:
        reached = Reference(bundle=intent.bundle, epoch=intent.expected.epoch + 1)
        if current == reached and intent.proposal:
            journal.write(Promoted(proposal=intent.proposal, champion=current, by=intent.by))
        elif current == reached:
            journal.write(RolledBack(reason="by hand", champion=current, by=intent.by))
        elif current == intent.expected == state.champion:
            journal.write(RolledBack(reason="intent_aborted", champion=state.champion))
        else:
            journal.write(Frozen(reason=f"the champion is {current.bundle} (epoch {current.epoch}), of unknown origin"))
    elif current != state.champion and current.epoch == 0 and not state.frozen:
        await pointer.restore(state.champion)
    elif current != state.champion and not state.frozen:
        journal.write(Frozen(reason=f"the champion is {current.bundle} (epoch {current.epoch}), of unknown origin"))
