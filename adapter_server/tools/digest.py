"""`digest`: what matters now for the caller, most important first."""

from collections.abc import Sequence

from blackboard.board import Board
from blackboard.types import Candidate, EpisodeMeta, Lease, Message, Node
from lemma_store.store import LemmaStore

from .arguments import DigestArguments
from .caller import Caller
from .claim import seconds_left
from .news import one_line
from .refute import refuted_fact
from .reply import Facts, ToolReply

_BYTES_PER_TOKEN = 4
_MIN_BYTES = 1200
_REFUTED = 5


async def digest(arguments: DigestArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Collect target, leases, next actions, open parts, lemmas and messages, each list bounded by policy."""
    sizes = caller.policy.digest
    seen = await board.overview(caller.episode, caller.agent, lemmas=sizes.lemmas)
    meta, target, leases, lemmas, refuted = seen.meta, seen.target, seen.leases, seen.lemmas, seen.refuted
    frontier = await _in_focus(seen.frontier, arguments, caller, board)
    messages = [one for one in seen.messages if one.sender != caller.agent]
    own = [one for one in seen.messages if one.sender == caller.agent]
    actions = _actions(meta, target, leases, frontier, unanswered(messages, own, caller.agent), caller=caller)
    names = {candidate.node.id: candidate.node for candidate in frontier}
    facts: Facts = {
        "episode": caller.episode,
        "target": {"node": target.id, "statement": target.statement, "status": target.status},
        "phase": phase(meta, target),
        "me": {"agent": caller.agent, "role": caller.role},
        "leases": [_lease(lease, names) for lease in leases],
        "next": actions[: sizes.next],
        "frontier": [_candidate(candidate) for candidate in frontier[: sizes.frontier]],
        "lemmas": [
            {"name": note.name, "statement": one_line(note.statement, 300), "author": note.author}
            for note in reversed(lemmas)
        ],
        "refuted": [refuted_fact(node, one) for node, one in refuted[: -_REFUTED - 1 : -1]],
        "messages": [_message(one) for one in messages[: -sizes.messages - 1 : -1]],
        "problem": "get problem",
        "left_out": {
            "frontier": max(len(frontier) - sizes.frontier, 0),
            "lemmas": max(meta.lemmas - len(lemmas), 0),
            "refuted": max(len(refuted) - _REFUTED, 0),
            "messages": max(len(messages) - sizes.messages, 0),
        },
        "seq": meta.seq,
    }
    cap = max(arguments.budget_tokens * _BYTES_PER_TOKEN, _MIN_BYTES) if arguments.budget_tokens else None
    return ToolReply(headline=_headline(meta, target, actions), facts=facts, cap=cap)


def phase(meta: EpisodeMeta, target: Node) -> str:
    """Where the episode stands: planning, proving, assembling, or how it ended."""
    if meta.status != "open":
        return meta.status
    if target.status == "closed":
        return "assembling"
    return "proving" if meta.nodes > 1 or meta.lemmas else "planning"


def unanswered(messages: Sequence[Message], own: Sequence[Message], agent: str) -> list[Message]:
    """Messages that want an answer from this agent and have none yet."""
    answered = {message.ref for message in own}
    return [one for one in messages if one.needs_ack and one.id not in answered and (not one.to or agent in one.to)]


async def _in_focus(
    frontier: list[Candidate], arguments: DigestArguments, caller: Caller, board: Board
) -> list[Candidate]:
    if not arguments.focus:
        return frontier
    focus = (await board.node(caller.episode, arguments.focus)).id
    return sorted(frontier, key=lambda one: one.node.id != focus and focus not in one.parents)


def _actions(
    meta: EpisodeMeta,
    target: Node,
    leases: Sequence[Lease],
    frontier: Sequence[Candidate],
    mail: Sequence[Message],
    *,
    caller: Caller,
) -> list[Facts]:
    if meta.status != "open":
        return [{"do": "stop", "why": f"the episode is {meta.status}"}]
    if target.status == "closed":
        return [{"do": "wait", "why": "the target is proved, the final proof is put together"}]
    actions: list[Facts] = [
        {"do": "check", "node": one.node, "fence": one.fence, "why": f"you hold it for {seconds_left(one)} s more"}
        for one in leases
    ]
    actions += [{"do": "say", "ref": one.id, "why": f"{one.sender} waits for an answer"} for one in mail]
    if len(leases) < caller.policy.leases_per_agent:
        free = [one for one in frontier if len(one.holders) < caller.policy.holders_per_node]
        actions += [{"do": "claim next", "node": one.node.id, "why": _why(one)} for one in free[:2]]
    held = {lease.node for lease in leases}
    hard = [one for one in frontier if not one.node.alternatives and one.own_attempts + (one.node.id in held) > 1]
    actions += [{"do": "plan split", "node": one.node.id, "why": "tried before: split it"} for one in hard[:1]]
    if not actions:
        actions = [
            {"do": "plan add", "why": "every open part is taken: find a helper lemma"},
            {"do": "wait", "why": "or wait for news"},
        ]
    return actions


def _why(candidate: Candidate) -> str:
    if candidate.attempts:
        return f"free, tried {candidate.attempts} times"
    return "free" if candidate.depth else "free, the target itself"


def _lease(lease: Lease, nodes: dict[str, Node]) -> Facts:
    name = nodes[lease.node].name if lease.node in nodes else lease.node
    return {"node": lease.node, "name": name, "fence": lease.fence, "expires_s": seconds_left(lease)}


def _candidate(candidate: Candidate) -> Facts:
    node = candidate.node
    return {
        "node": node.id,
        "name": node.name,
        "statement": one_line(node.statement, 300),
        "status": "split" if candidate.node.alternatives else node.status,
        "holders": list(candidate.holders),
        "attempts": candidate.attempts,
    }


def _message(message: Message) -> Facts:
    facts: Facts = {"id": message.id, "from": message.sender, "type": message.type, "text": one_line(message.text, 400)}
    return facts | {"ref": message.ref} if message.ref else facts


def _headline(meta: EpisodeMeta, target: Node, actions: Sequence[Facts]) -> str:
    if meta.status == "solved":
        return "solved: the target is proved; stop"
    done = f"{meta.closed_nodes} of {meta.nodes} parts closed, {meta.lemmas} lemmas"
    first = actions[0]
    return f"{phase(meta, target)}: {done}; next: {first['do']} {first.get('node', '')}".rstrip()
