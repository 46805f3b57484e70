"""`plan`: the graph of parts. A part closes by a lemma, or by all children of one alternative and its glue."""

import re
from contextlib import suppress

import anyio
import msgspec

from adapter_server.policy import ReplySizes
from blackboard.board import Board
from blackboard.types import Alternative, Node, NodeDraft
from bus.errors import AdapterError, BadArguments, Cyclic, Duplicate, Gone, NotLean, TooLarge
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, Statement

from .arguments import Child, PlanArguments
from .caller import Caller
from .closing import GLUE
from .news import one_line
from .reply import Facts, ToolReply, cut
from .statements import shown, statement_of

_LINK_GLUE = """\
first
  | exact {first}
  | (intros; apply {first})
  | (intros; simp [{names}])
"""
CLOSING_S = 4.0
"""How long adding a part may wait for Lean to try the lemmas that are there."""

_NAME = re.compile(r"[^\W\d][\w']*", re.ASCII)


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
            return await _split(arguments, caller=caller, board=board, lemma_store=lemma_store)
        case "show":
            return await _show(arguments, caller=caller, board=board)
        case "link":
            return await _link(arguments, caller=caller, board=board, lemma_store=lemma_store)
        case "revise":
            return await _revise(arguments, caller=caller, board=board)


async def _add(arguments: PlanArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    if not arguments.statement:
        raise BadArguments("plan add: statement is missing", hint="Give one closed Lean proposition.")
    statement = await lemma_store.elaborate(caller.episode, arguments.statement)
    name = _identifier(arguments.name or "part")
    node, is_new = await _node(
        name, statement, note=arguments.text or "", caller=caller, board=board, lemma_store=lemma_store
    )
    facts = _added(node, is_new=is_new)
    if is_new and node.status == "open" and (known := await _closing(node, caller=caller, lemma_store=lemma_store)):
        facts["follows_from"] = known
    if node.status == "closed" and node.lemma:
        facts["known_lemma"] = (await lemma_store.lemma(caller.episode, node.lemma)).name
    what = "added" if is_new else "is there already"
    known_by = f"; {facts['follows_from'][0]['lemma']} proves it at once" if "follows_from" in facts else ""
    return ToolReply(headline=f"{node.id} {node.name} {what} ({node.status}){known_by}", facts=facts)


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


async def _node(
    name: str, statement: Statement, *, note: str, caller: Caller, board: Board, lemma_store: LemmaStore
) -> tuple[Node, bool]:
    """The node with this statement, and whether it is new."""
    text = await shown(statement, episode=caller.episode, lemma_store=lemma_store)
    draft = NodeDraft(name=name, statement=text, statement_hash=statement.hash, note=note)
    limit = caller.policy.open_parts_max
    try:
        return await board.add_node(caller.episode, caller.agent, draft, open_parts_max=limit), True
    except Duplicate as error:
        return await board.node(caller.episode, str(error.facts["id"])), False


def _added(node: Node, *, is_new: bool) -> Facts:
    facts: Facts = {"node": node.id, "name": node.name, "statement": node.statement, "status": node.status}
    return facts if is_new else facts | {"duplicate_of": node.id}


async def _split(arguments: PlanArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    if not arguments.parent or not arguments.children or not arguments.glue:
        raise BadArguments(
            f"plan {arguments.action}: parent, children and glue are needed",
            hint="glue is the tactic text that proves parent from the children by their names.",
        )
    parent = await board.node(caller.episode, arguments.parent)
    parts = [await _part(child, caller=caller, board=board, lemma_store=lemma_store) for child in arguments.children]
    await _refuse_hopeless(parent, parts, caller=caller, board=board)
    report = await lemma_store.check_glue(
        caller.episode,
        author=caller.agent,
        name=re.sub(r"\W", "_", f"{parent.name}{GLUE}", flags=re.ASCII),
        parent=statement_of(parent),
        children=parts,
        glue=arguments.glue,
    )
    glue = _accepted(report, caller.policy.shown)
    children = [
        await _node(name, part, note=arguments.text or "", caller=caller, board=board, lemma_store=lemma_store)
        for name, part in parts
    ]
    alternative = await board.add_alternative(
        caller.episode,
        caller.agent,
        parent=parent.id,
        children=tuple(node.id for node, _ in children),
        glue=glue,
    )
    return _split_done(alternative, children, caller.policy.shown)


async def _link(arguments: PlanArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Another way for the parent from parts that are there; simple steps are tried when no glue is given."""
    children = list(arguments.children) or ([arguments.node] if arguments.node else [])
    if not arguments.parent or not children or not all(isinstance(child, str) for child in children):
        raise BadArguments(
            "plan link: parent and children are needed",
            hint="Children are ids of existing parts; split makes new ones.",
        )
    nodes = [await board.node(caller.episode, str(child)) for child in children]
    glue = arguments.glue or _LINK_GLUE.format(names=", ".join(node.name for node in nodes), first=nodes[0].name)
    asked = msgspec.structs.replace(arguments, children=[node.id for node in nodes], glue=glue)
    return await _split(asked, caller=caller, board=board, lemma_store=lemma_store)


async def _revise(arguments: PlanArguments, *, caller: Caller, board: Board) -> ToolReply:
    if not arguments.node or not (arguments.name or arguments.text):
        raise BadArguments(
            "plan revise: node and name or text are needed", hint="A statement never changes: add another."
        )
    name = _identifier(arguments.name) if arguments.name else None
    node = await board.revise(caller.episode, caller.agent, node=arguments.node, name=name, note=arguments.text)
    facts: Facts = {"node": node.id, "name": node.name, "status": node.status, "text": one_line(node.note, 300)}
    return ToolReply(headline=f"{node.id} is now {node.name}", facts=facts)


async def _part(child: Child | str, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> tuple[str, Statement]:
    """The hypothesis name and the statement of a child, which may be a node already."""
    if isinstance(child, str):
        node = await board.node(caller.episode, child)
        return _identifier(node.name), statement_of(node)
    return _identifier(child.name), await lemma_store.elaborate(caller.episode, child.statement)


async def _refuse_hopeless(parent: Node, parts: list[tuple[str, Statement]], *, caller: Caller, board: Board) -> None:
    """Refuse before anything is checked or stored what could not be stored in the end."""
    if parent.status == "closed":
        raise Gone(f"{parent.id} is proved already", replacement=parent.lemma)
    names = [name for name, _ in parts]
    if len(set(names)) < len(names):
        raise BadArguments(
            "plan: two children have the same name", hint="Names are used in the glue: make them differ."
        )
    if any(statement.hash == parent.statement_hash for _, statement in parts):
        raise Cyclic(f"a child has the statement of {parent.id} itself", path=[parent.id, parent.id])
    known = {node.statement_hash for node in await board.nodes(caller.episode)}
    meta = await board.meta(caller.episode)
    is_over = meta.nodes - meta.closed_nodes + len(parts) > caller.policy.open_parts_max
    if is_over and any(statement.hash not in known for _, statement in parts):
        cap = caller.policy.open_parts_max
        raise TooLarge(f"{cap} parts may be open at once", hint="Close or reuse parts first.", cap=cap)


def _accepted(report: CheckReport, sizes: ReplySizes) -> str:
    for verdict in report.verdicts:
        if verdict.lemma is not None:
            return verdict.lemma.id
    errors = [message for message in report.messages if message.severity == "error"][: sizes.errors]
    reasons = [reason for verdict in report.verdicts for reason in verdict.reasons][: sizes.errors]
    raise NotLean(
        "the glue does not prove the parent from the children",
        hint="Nothing was added. The children are hypotheses under their names.",
        messages=[{"line": one.line, "column": one.column, "text": cut(one.text, sizes.error_bytes)} for one in errors],
        goals=[cut(goal, sizes.goal_bytes) for goal in report.goals[: sizes.goals]],
        reasons=[cut(reason, 400) for reason in reasons],
    )


def _split_done(alternative: Alternative, children: list[tuple[Node, bool]], sizes: ReplySizes) -> ToolReply:
    listed: list[Facts] = []
    for node, is_new in children:
        one: Facts = {"node": node.id, "name": node.name, "statement": cut(node.statement, sizes.statement_bytes)}
        one["status"] = node.status
        listed.append(one if is_new else one | {"duplicate": True})
    left = sum(node.status != "closed" for node, _ in children)
    return ToolReply(
        headline=f"{alternative.id}: {alternative.parent} follows from {len(children)} parts, {left} of them open",
        facts={"alternative": alternative.id, "children": listed, "glue_verdict": "accepted"},
    )


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


def _identifier(name: str) -> str:
    """A Lean identifier near the given name: names of parts are hypotheses in glue."""
    if _NAME.fullmatch(name):
        return name
    raise BadArguments(
        f"{one_line(name, 60)!r} cannot name a part", hint="Use letters, digits and _, not beginning with a digit."
    )
