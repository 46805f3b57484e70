"""The state of an episode as the store has it, in the form that folding the log gives."""

from blackboard.board import Board
from blackboard.folding import HeldLease, State
from blackboard.types import AgentRow, Attempt


async def stored_state(board: Board, episode: str) -> State:
    """Read everything that the log should say. Fences are left out: the store keeps them for itself."""
    leases = await board.leases(episode)
    meta = await board.meta(episode)
    nodes = await board.nodes(episode)
    attempts: list[Attempt] = []
    for node in nodes:
        attempts += await board.attempts(episode, node.id, limit=1_000)
    return State(
        status=meta.status,
        reason=meta.reason,
        bundle=meta.bundle,
        details=meta.details,
        nodes={node.id: node for node in nodes},
        alternatives={alternative.id: alternative for alternative in await board.alternatives(episode)},
        lemmas={lemma.id: lemma for lemma in await board.lemmas(episode)},
        messages={message.id: message for message in await board.messages(episode, limit=10_000)},
        agents={
            row.name: AgentRow(name=row.name, role=row.role, checks=row.checks, lemmas=row.lemmas)
            for row in await board.agents(episode)
        },
        leases={
            (lease.node, lease.agent): HeldLease(
                node=lease.node, agent=lease.agent, fence=lease.fence, approach=lease.approach
            )
            for lease in leases
        },
        attempts=sorted(attempts, key=lambda attempt: attempt.at_seq),
        checks=meta.checks,
    )
