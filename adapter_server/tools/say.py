"""`say`: messages between agents."""

from blackboard.board import Board
from bus.errors import BadArguments
from lemma_store.store import LemmaStore

from .arguments import SayArguments
from .caller import Caller
from .reply import ToolReply


async def say(arguments: SayArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Send a message. Feedback goes into the record only: no other agent sees it.

    Raises:
        UnknownRecipient: if somebody in `to` is not in the team; nothing is sent then.
    """
    if not arguments.text.strip():
        raise BadArguments("say: text is empty")
    is_feedback = arguments.type == "feedback"
    message = await board.send(
        caller.episode,
        caller.agent,
        type=arguments.type,
        text=arguments.text,
        to=(caller.agent,) if is_feedback else tuple(arguments.to),
        ref=arguments.ref,
        needs_ack=arguments.needs_ack,
        op=caller.op,
    )
    team = [row.name for row in await board.agents(caller.episode) if row.name != caller.agent]
    recipients = [] if is_feedback else list(message.to) or team
    return ToolReply(
        headline=f"{message.id} sent to {len(recipients)}" if recipients else f"{message.id} recorded",
        facts={"message": message.id, "recipients": recipients},
    )
