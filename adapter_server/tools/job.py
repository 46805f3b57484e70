"""`job`: follow a check that was not finished when its call had to be answered."""

import msgspec

from blackboard.board import Board
from bus.errors import BadArguments
from lemma_store.store import LemmaStore

from .arguments import JobArguments
from .caller import Caller
from .jobs import Job, Jobs
from .reply import ToolReply


async def job(
    arguments: JobArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore, jobs: Jobs | None
) -> ToolReply:
    """The reply of the check once it is there.

    Raises:
        Gone: if the job was forgotten.
        UnknownId: if there is no such job.
        BadArguments: if somebody else's job is to be cancelled.
        AdapterError: what the check failed with.
    """
    if jobs is None:
        raise BadArguments("this server runs no jobs", hint="Check again.")
    found = jobs.running(caller, arguments.id)
    if found is None:
        return await jobs.earlier(caller, arguments.id)
    if arguments.cancel:
        if found.agent != caller.agent:
            raise BadArguments(f"{found.id} is a job of {found.agent}", hint="Only its author may cancel it.")
        found.scope.cancel()
    reply = await jobs.result(caller, found, wait_s=arguments.wait_s or 0.0)
    if reply is None:
        return unfinished(found)
    return msgspec.structs.replace(reply, facts={"job": found.id, "state": found.state} | reply.facts)


def unfinished(found: Job) -> ToolReply:
    """What is said of a job without a result."""
    how = f"still running: job {found.id} follows it" if found.state == "running" else f"{found.id} was cancelled"
    return ToolReply(headline=how, facts={"job": found.id, "state": found.state}, is_settled=False)
