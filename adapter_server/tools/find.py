"""`find`: search what the team has before proving it again."""

from blackboard.board import Board
from blackboard.types import Node
from bus.errors import BadArguments
from lemma_store.store import LemmaStore
from lemma_store.types import Hit

from .arguments import FindArguments
from .caller import Caller
from .news import one_line
from .refute import refutations
from .reply import Facts, ToolReply


async def find(arguments: FindArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Search lemmas by text, statement or goal; nodes, messages and attempts by text.

    Raises:
        BadArguments: if nothing to search for was given.
        NotLean: if a statement is needed and is none.
    """
    if not (arguments.q or arguments.statement or arguments.goal):
        raise BadArguments("find: give q, statement or goal")
    limit = min(arguments.limit or caller.policy.find_limit, caller.policy.find_limit)
    hits: list[Facts] = []
    uncounted = 0
    if "lemmas" in arguments.in_:
        hits += [
            _lemma(hit, caller.policy.shown.statement_bytes)
            for hit in await _lemmas(arguments, caller, lemma_store, limit)
        ]
    words = (arguments.q or arguments.statement or arguments.goal or "").lower().split()
    if "nodes" in arguments.in_ and arguments.mode in (None, "text"):
        nodes, found = await board.nodes_with(caller.episode, words, limit=limit)
        hits += [_node(node, caller.policy.shown.statement_bytes) for node in nodes]
        uncounted = found - len(nodes)
    if "messages" in arguments.in_:
        hits += await _messages(words, caller, board)
    if "refutations" in arguments.in_:
        hits += await _refutations(words, caller, board)
    if "attempts" in arguments.in_:
        hits += await _attempts(words, caller, board)
    count = len(hits) + uncounted
    left_out: Facts = {"left_out": {"hits": count - limit}} if count > limit else {}
    first = f": {hits[0]['name']}" if hits else ""
    return ToolReply(headline=f"{count} hits{first}", facts={"hits": hits[:limit]} | left_out, is_settled=False)


async def _lemmas(arguments: FindArguments, caller: Caller, lemma_store: LemmaStore, limit: int) -> list[Hit]:
    statement = arguments.goal or arguments.statement
    mode = arguments.mode or ("closes" if arguments.goal else "text")
    found = await lemma_store.find(
        caller.episode, q=arguments.q or "", statement=statement or "", mode=mode, limit=limit
    )
    return list(found)


def _lemma(hit: Hit, statement_bytes: int) -> Facts:
    return {
        "kind": hit.kind,
        "id": hit.id,
        "name": hit.name,
        "statement": one_line(hit.statement, statement_bytes),
        "relation": hit.relation,
        "author": hit.author,
        "how": one_line(hit.how, 200),
    }


def _node(node: Node, statement_bytes: int) -> Facts:
    return {
        "kind": "node",
        "id": node.id,
        "name": node.name,
        "statement": one_line(node.statement, statement_bytes),
        "relation": "text",
        "author": node.author,
        "how": f"{node.status}; claim take {node.id}" if node.status == "open" else node.status,
    }


async def _messages(words: list[str], caller: Caller, board: Board) -> list[Facts]:
    return [
        {
            "kind": "message",
            "id": message.id,
            "name": message.type,
            "statement": one_line(message.text, caller.policy.shown.statement_bytes),
            "relation": "text",
            "author": message.sender,
            "how": f"get {message.id}",
        }
        for message in await board.messages(caller.episode, caller.agent)
        if _matches(words, message.text)
    ]


async def _refutations(words: list[str], caller: Caller, board: Board) -> list[Facts]:
    return [
        {
            "kind": "refutation",
            "id": node.id,
            "name": node.name,
            "statement": one_line(node.statement, caller.policy.shown.statement_bytes),
            "relation": "text",
            "author": why.author,
            "how": f"false{f' at {one_line(why.witness, 120)}' if why.witness else ''}: get {why.lemma}",
        }
        for node, why in await refutations(caller.episode, board=board)
        if _matches(words, f"{node.id} {node.name} {node.statement} {node.note} {why.witness}")
    ]


async def _attempts(words: list[str], caller: Caller, board: Board) -> list[Facts]:
    return [
        {
            "kind": "attempt",
            "id": attempt.node,
            "name": one_line(attempt.approach, 80),
            "statement": one_line(f"{attempt.outcome}: {attempt.note}", caller.policy.shown.statement_bytes),
            "relation": "text",
            "author": attempt.agent,
            "how": f"get {attempt.node} attempts",
        }
        for candidate in await board.frontier(caller.episode, caller.agent)
        if candidate.attempts
        for attempt in await board.attempts(caller.episode, candidate.node.id)
        if _matches(words, f"{attempt.node} {attempt.approach} {attempt.outcome} {attempt.note}")
    ]


def _matches(words: list[str], text: str) -> bool:
    lowered = text.lower()
    return all(word in lowered for word in words)
