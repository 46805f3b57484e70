"""`wait`: a long poll for what the caller has nothing better to do than to wait for."""

from collections.abc import Sequence
from typing import cast

import anyio

from blackboard.board import Board
from bus.messages import Event
from lemma_store.store import LemmaStore

from .arguments import WaitArguments
from .caller import Caller
from .reply import Facts, ToolReply, cut

_KINDS: dict[str, frozenset[str]] = {
    "mail": frozenset({"message_sent"}),
    "lemma": frozenset({"lemma_accepted", "lemma_revoked"}),
    "node": frozenset(
        {
            "node_added",
            "alternative_added",
            "node_closed",
            "node_refuted",
            "node_disputed",
            "node_revised",
            "node_reopened",
        }
    ),
    "lease": frozenset({"lease_granted", "lease_released", "lease_expired", "lease_handed_off"}),
    "job": frozenset({"check_finished"}),
    "assembled": frozenset({"episode_closed"}),
}


async def wait(arguments: WaitArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Return the first events of the wanted kinds that the caller has not seen, or nothing when the time is over.

    The caller's leases live on meanwhile. An ended episode answers at once: nothing more will happen there.
    """
    limit_s = min(arguments.timeout_s or 0.0, caller.policy.wait_max_s)
    deadline = anyio.current_time() + limit_s
    after = caller.seen_seq
    while True:
        is_open = (status := (await board.meta(caller.episode)).status) == "open"
        left_s = max(deadline - anyio.current_time(), 0.0) if is_open else 0.0
        events = await board.wait(caller.episode, after, min(left_s, caller.policy.lease_s / 3))
        wanted = [
            event for event in events if is_for(event, caller.agent) and _is_wanted(event, arguments, caller.agent)
        ]
        if wanted:
            return _happened(wanted[: caller.policy.shown.events])
        after = events[-1].seq if events else after
        if not events and not is_open:
            return ToolReply(headline=f"the episode is {status}: stop", facts={"events": [], "timed_out": False})
        if not events and left_s <= 0:
            return ToolReply(
                headline=f"nothing in {limit_s:g} s", facts={"events": [], "timed_out": True}, is_settled=False
            )
        await board.renew(caller.episode, caller.agent, ttl_s=caller.policy.lease_s)


def is_for(event: Event, agent: str) -> bool:
    """Whether the event is news for this agent: no doing of its own but the end of a job, no letter between others."""
    if event.actor == agent:
        return event.kind == "check_finished" and event.body.get("job") is not None
    if event.kind == "feedback_given":
        return False
    to: Sequence[str] = event.body.get("to") or ()
    return event.kind != "message_sent" or not to or agent in to


def _is_wanted(event: Event, arguments: WaitArguments, agent: str) -> bool:
    if event.kind == "episode_closed":
        return True
    if "job" in arguments.for_ and "any" not in arguments.for_ and event.kind == "check_finished":
        return event.actor == agent and arguments.ref in (None, event.body.get("job"))
    wanted = "any" in arguments.for_ or any(event.kind in _KINDS.get(name, ()) for name in arguments.for_)
    return wanted and (arguments.ref is None or _mentions(event.body, arguments.ref))


def _mentions(value: object, ref: str) -> bool:
    if isinstance(value, dict):
        return any(_mentions(item, ref) for item in cast("dict[str, object]", value).values())
    if isinstance(value, list | tuple):
        return any(_mentions(item, ref) for item in cast("list[object]", value))
    return value == ref


def _happened(events: Sequence[Event]) -> ToolReply:
    facts: Facts = {
        "events": [
            {"seq": event.seq, "kind": event.kind, "actor": event.actor}
            | {key: cut(value, 400) if isinstance(value, str) else value for key, value in event.body.items()}
            for event in events
        ],
        "timed_out": False,
    }
    kinds = ", ".join(dict.fromkeys(event.kind for event in events))
    return ToolReply(headline=f"{len(events)} events: {kinds}", facts=facts, shown=frozenset(e.seq for e in events))
