"""`plan`: the graph of parts. A part closes by a lemma, or by all children of one alternative and its glue."""

from contextlib import suppress

import anyio

from blackboard.board import Board
from blackboard.types import Node
from bus.errors import AdapterError, BadArguments
from lemma_store.store import LemmaStore

from .arguments import PlanArguments
from .caller import Caller
from .news import one_line
from .reply import Facts, ToolReply
from .sameness import REORDERED, close_by_reordered, reordered_node
from .splitting import link, split
from .statements import node_with, part_name

CLOSING_S = 4.0
"""How long adding a part may wait for Lean to try the lemmas that are there."""


async def plan(arguments: PlanArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Add parts and ways to prove them, or show the graph.

    Raises:
        BadArguments: if something that the action needs is missing.
        NotLean: if a statement or the glue is not accepted; nothing was added then.
        Cyclic, Gone, Refuted, UnknownId, TooLarge: as the board says.
    """
    match arguments.action:
        case "add":
            return await _add(arguments, caller=caller, board=board, lemma_store=lemma_store)
        case "split" | "alt":
            return await split(arguments, caller=caller, board=board, lemma_store=lemma_store)
        case "show":
            return await _show(arguments, caller=caller, board=board)
        case "link":
            return await link(arguments, caller=caller, board=board, lemma_store=lemma_store)
        case "revise":
            return await _revise(arguments, caller=caller, board=board)


async def _add(arguments: PlanArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    if not arguments.statement:
        raise BadArguments("plan add: statement is missing", hint="Give one closed Lean proposition.")
    statement = await lemma_store.elaborate(caller.episode, arguments.statement)
    name = part_name(arguments.name or "part")
    if other := await reordered_node(statement, caller=caller, board=board):
        return await _known(other, caller=caller, lemma_store=lemma_store, how=REORDERED)
    node, is_new = await node_with(
        name, statement, note=arguments.text or "", caller=caller, board=board, lemma_store=lemma_store
    )
    if not is_new:
        return await _known(node, caller=caller, lemma_store=lemma_store)
    if node.status == "open" and (
        lemma := await close_by_reordered(node, statement, caller=caller, board=board, lemma_store=lemma_store)
    ):
        facts = {"node": node.id, "name": node.name, "status": "closed", "known_lemma": lemma, "relation": REORDERED}
        return ToolReply(
            headline=f"{node.id} {node.name} added (closed); {lemma} says it with {REORDERED}", facts=facts
        )
    facts = await _facts(node, caller=caller, lemma_store=lemma_store)
    if node.status == "open" and (known := await _closing(node, caller=caller, lemma_store=lemma_store)):
        facts["follows_from"] = known
    known_by = f"; {facts['follows_from'][0]['lemma']} proves it at once" if "follows_from" in facts else ""
    return ToolReply(headline=f"{node.id} {node.name} added ({node.status}){known_by}", facts=facts)


async def _known(node: Node, *, caller: Caller, lemma_store: LemmaStore, how: str = "") -> ToolReply:
    """What is said of a statement that somebody has already."""
    facts = await _facts(node, caller=caller, lemma_store=lemma_store) | {"duplicate_of": node.id}
    facts |= {"relation": how} if how else {}
    told = f"; {how}" if how else ""
    return ToolReply(headline=f"{node.id} {node.name} is there already ({node.status}){told}", facts=facts)


async def _closing(node: Node, *, caller: Caller, lemma_store: LemmaStore) -> list[Facts]:
    """Lemmas that prove the part by themselves, as far as Lean finds out soon; hypotheses may come in another order.

    A hint: the part stays open until somebody has it checked.
    """
    if not await lemma_store.lemmas(caller.episode):
        return []
    with anyio.move_on_after(CLOSING_S), suppress(AdapterError):
        hits = await lemma_store.find(caller.episode, statement=node.statement, mode="closes", limit=2)
        return [{"lemma": hit.name, "how": hit.how} for hit in hits]
    return []


async def _facts(node: Node, *, caller: Caller, lemma_store: LemmaStore) -> Facts:
    facts: Facts = {"node": node.id, "name": node.name, "statement": node.statement, "status": node.status}
    if node.status == "closed" and node.lemma:
        facts["known_lemma"] = (await lemma_store.lemma(caller.episode, node.lemma)).name
    return facts


async def _revise(arguments: PlanArguments, *, caller: Caller, board: Board) -> ToolReply:
    if not arguments.node or not (arguments.name or arguments.text):
        raise BadArguments(
            "plan revise: node and name or text are needed", hint="A statement never changes: add another."
        )
    name = part_name(arguments.name) if arguments.name else None
    node = await board.revise(caller.episode, caller.agent, node=arguments.node, name=name, note=arguments.text)
    facts: Facts = {"node": node.id, "name": node.name, "status": node.status, "text": one_line(node.note, 300)}
    return ToolReply(headline=f"{node.id} is now {node.name}", facts=facts)


async def _show(arguments: PlanArguments, *, caller: Caller, board: Board) -> ToolReply:
    nodes = await board.nodes(caller.episode)
    alternatives = await board.alternatives(caller.episode)
    if arguments.parent:
        top = (await board.node(caller.episode, arguments.parent)).id
        alternatives = [one for one in alternatives if one.parent == top]
        wanted = {top, *(child for one in alternatives for child in one.children)}
        nodes = [node for node in nodes if node.id in wanted]
    nodes.sort(key=lambda node: (node.status == "closed", node.at_seq))
    counts = f"{sum(node.status == 'closed' for node in nodes)} of {len(nodes)} parts closed"
    return ToolReply(
        headline=counts,
        facts={
            "nodes": [
                {"node": node.id, "name": node.name, "status": node.status, "statement": one_line(node.statement)}
                for node in nodes
            ],
            "alternatives": [
                {"alternative": one.id, "parent": one.parent, "children": list(one.children)} for one in alternatives
            ],
        },
        is_settled=False,
    )
