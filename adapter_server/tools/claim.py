"""`claim`: leases on parts, so that nobody does what somebody else is doing."""

import time
from collections.abc import Sequence
from typing import Any

from blackboard.board import Board
from blackboard.overview import Part
from blackboard.types import Lease
from bus.errors import BadArguments
from lemma_store.store import LemmaStore

from .arguments import ClaimArguments
from .caller import Caller
from .news import one_line
from .reply import Facts, ToolReply


async def claim(arguments: ClaimArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Take, renew or give back a lease.

    Raises:
        LeaseFull, LeaseLost, StaleFence, Gone, Refuted, UnknownId, UnknownRecipient: as the board says.
        BadArguments: if the action needs a node or a recipient that is missing.
    """
    match arguments.action:
        case "next" | "take":
            return await _take(arguments, caller=caller, board=board, lemma_store=lemma_store)
        case "renew":
            return await _renew(arguments, caller=caller, board=board)
        case "release":
            return await _release(arguments, caller=caller, board=board)
        case "handoff":
            return await _hand_off(arguments, caller=caller, board=board)


async def _take(arguments: ClaimArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    policy = caller.policy
    terms: dict[str, Any] = {
        "ttl_s": _ttl(arguments, caller),
        "approach": arguments.approach or "",
        "per_agent": policy.leases_per_agent,
        "per_node": policy.holders_per_node,
        "op": caller.op,
    }
    if arguments.action == "take":
        lease = await board.claim(caller.episode, caller.agent, node=_node(arguments), **terms)
    elif (found := await board.claim_next(caller.episode, caller.agent, **terms)) is not None:
        lease = found
    else:
        return await _nothing_free(caller=caller, board=board)
    part = await board.part(caller.episode, lease.node, attempts=policy.shown.attempts)
    node, facts = part.node, await _work_on(part, lease, caller=caller, lemma_store=lemma_store)
    return ToolReply(headline=f"{node.id} {node.name} is yours: {one_line(node.statement)}", facts=facts)


async def _nothing_free(*, caller: Caller, board: Board) -> ToolReply:
    """Say also what the agent holds: the reply that granted it may have been lost on the way."""
    leases = await board.leases(caller.episode, caller.agent)
    held = f"; you hold {', '.join(one.node for one in leases)}" if leases else ""
    return ToolReply(
        headline=f"nothing is free: split a part, add a helper lemma, or wait{held}",
        facts={"node": None, "leases": _listed(leases)},
        is_settled=False,
    )


async def _work_on(part: Part, lease: Lease, *, caller: Caller, lemma_store: LemmaStore) -> Facts:
    """All that an agent should know before it works on a part."""
    node = part.node
    hits = await lemma_store.find(caller.episode, q=node.statement, mode="text", limit=caller.policy.digest.lemmas)
    return {
        "node": node.id,
        "name": node.name,
        "statement": node.statement,
        "fence": lease.fence,
        "expires_s": seconds_left(lease),
        "holders": [
            {"agent": other.agent, "approach": other.approach} for other in part.leases if other.agent != caller.agent
        ],
        "attempts": [
            {"agent": one.agent, "approach": one.approach, "outcome": one.outcome, "note": one_line(one.note, 300)}
            for one in part.attempts
        ],
        "alternatives": list(node.alternatives),
        "lemmas": [{"name": hit.name, "statement": one_line(hit.statement, 300)} for hit in hits],
    }


async def _renew(arguments: ClaimArguments, *, caller: Caller, board: Board) -> ToolReply:
    leases = await board.renew(caller.episode, caller.agent, ttl_s=_ttl(arguments, caller), node=arguments.node)
    return ToolReply(headline=f"{len(leases)} leases renewed", facts={"leases": _listed(leases)})


def _listed(leases: Sequence[Lease]) -> list[Facts]:
    return [{"node": one.node, "fence": one.fence, "expires_s": seconds_left(one)} for one in leases]


async def _release(arguments: ClaimArguments, *, caller: Caller, board: Board) -> ToolReply:
    attempt = await board.release(
        caller.episode,
        caller.agent,
        node=_node(arguments),
        outcome=arguments.outcome or "abandoned",
        note=arguments.note or "",
        op=caller.op,
    )
    return ToolReply(
        headline=f"{attempt.node} released: {one_line(attempt.outcome, 60)}",
        facts={"node": attempt.node, "outcome": attempt.outcome},
    )


async def _hand_off(arguments: ClaimArguments, *, caller: Caller, board: Board) -> ToolReply:
    if not arguments.to:
        raise BadArguments("claim handoff: to is missing", hint="Name the agent who takes over.")
    lease = await board.hand_off(
        caller.episode,
        caller.agent,
        node=_node(arguments),
        to=arguments.to,
        ttl_s=_ttl(arguments, caller),
        per_agent=caller.policy.leases_per_agent,
        note=arguments.note or "",
        op=caller.op,
    )
    return ToolReply(
        headline=f"{lease.node} handed to {lease.agent}",
        facts={"node": lease.node, "agent": lease.agent, "fence": lease.fence},
    )


def seconds_left(lease: Lease) -> int:
    """Whole seconds until the lease ends, by this machine's clock."""
    return max(0, lease.expires_at_ms // 1000 - int(time.time()))


def _ttl(arguments: ClaimArguments, caller: Caller) -> int:
    return min(arguments.ttl_s or caller.policy.lease_s, caller.policy.lease_max_s)


def _node(arguments: ClaimArguments) -> str:
    if not arguments.node:
        raise BadArguments(f"claim {arguments.action}: node is missing")
    return arguments.node
