"""`submit`: the state of the final proof."""

from blackboard.board import Board
from lemma_store.store import LemmaStore
from lemma_store.types import Assembly

from .arguments import SubmitArguments
from .caller import Caller
from .closing import assembly, settle
from .news import one_line
from .reply import Facts, ToolReply


async def submit(arguments: SubmitArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Say what is missing, or hand out the certificate and who proved what."""
    if arguments.action == "assemble":
        done = await settle(caller.episode, board=board, lemma_store=lemma_store)
    else:
        done = await assembly(caller.episode, board=board, lemma_store=lemma_store)
    if done is not None:
        return _solved(done)
    missing = [one.node for one in await board.frontier(caller.episode) if not one.node.alternatives]
    shown = caller.policy.shown
    return ToolReply(
        headline=f"open: {len(missing)} parts missing",
        facts={
            "status": "open",
            "missing": [
                {
                    "node": node.id,
                    "name": node.name,
                    "statement": one_line(node.statement, shown.statement_bytes),
                }
                for node in missing[: shown.missing]
            ],
        },
        is_settled=False,
    )


def _solved(done: Assembly) -> ToolReply:
    credit: list[Facts] = [
        {"lemma": one.name, "author": one.author, "used_by": list(one.used_by)} for one in done.credit
    ]
    return ToolReply(
        headline=f"solved: {done.certificate.theorem} from {len(credit)} lemmas; get proof shows it",
        facts={
            "status": "solved",
            "missing": [],
            "certificate": done.path,
            "statement": done.certificate.statement,
            "axioms": list(done.certificate.axioms),
            "kernels": list(done.certificate.kernels),
            "credit": credit,
            "proof": "get proof",
        },
    )
