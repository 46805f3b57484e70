"""`feedback`: an agent's own words on what hindered it, for those who improve the server."""

from blackboard.board import Board
from bus.errors import BadArguments
from lemma_store.store import LemmaStore

from .arguments import FeedbackArguments
from .caller import Caller
from .reply import ToolReply


async def feedback(arguments: FeedbackArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Keep it in the record. No tool shows it to another agent.

    Raises:
        BadArguments: if the text is empty.
    """
    if not arguments.text.strip():
        raise BadArguments("feedback: text is empty")
    await board.record_feedback(caller.episode, caller.agent, arguments.text, about=arguments.about, op=caller.op)
    return ToolReply(headline="recorded, thank you", facts={"recorded": True})
