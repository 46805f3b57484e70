"""Ways to prove a part from others: `plan split`, `alt` and `link`. The glue is checked before anything is stored."""

import re
from contextlib import suppress

import msgspec

from adapter_server.policy import ReplySizes
from blackboard.board import Board
from blackboard.types import Alternative, Node
from bus.errors import BadArguments, Cyclic, Gone, NotLean, TooLarge
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, Statement

from .arguments import Child, PlanArguments
from .caller import Caller
from .check import not_lean
from .closing import GLUE
from .reply import Facts, ToolReply, cut
from .sameness import REORDERED, Reuse, close_by_reordered, reordered_node
from .statements import node_with, part_name, statement_of

_LINK_GLUE = """\
first
  | exact {first}
  | (intros; apply {first})
  | (intros; simp [{names}])
"""


async def split(arguments: PlanArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Add children and the alternative that derives the parent from them; those that are there already are used.

    Raises:
        BadArguments: something that is needed is missing.
        NotLean: a statement or the glue is not accepted.
        Cyclic, Gone, Refuted, UnknownId, TooLarge: as the board says.
    """
    if not arguments.parent or not arguments.children or not arguments.glue:
        raise BadArguments(
            f"plan {arguments.action}: parent, children and glue are needed",
            hint="glue is the tactic text that proves parent from the children by their names.",
        )
    parent = await board.node(caller.episode, arguments.parent)
    parts = [await _part(child, caller=caller, board=board, lemma_store=lemma_store) for child in arguments.children]
    await _refuse_hopeless(parent, parts, caller=caller, board=board)
    reuse = await _reuse(parent, parts, caller=caller, board=board)
    glue = await _glued(parent, reuse, arguments.glue, caller=caller, lemma_store=lemma_store) if reuse.nodes else None
    if glue is None:
        reuse = Reuse(parts=parts, nodes={})
        report = await _check_glue(parent, reuse, arguments.glue, caller=caller, lemma_store=lemma_store)
        glue = _accepted(report, caller.policy.shown)
    note = arguments.text or ""
    children = [
        (reuse.nodes[at], False)
        if at in reuse.nodes
        else await _child(name, part, note=note, caller=caller, board=board, lemma_store=lemma_store)
        for at, (name, part) in enumerate(parts)
    ]
    alternative = await board.add_alternative(
        caller.episode,
        caller.agent,
        parent=parent.id,
        children=tuple(node.id for node, _ in children),
        glue=glue,
    )
    return _split_done(alternative, children, caller.policy.shown)


async def _reuse(parent: Node, parts: list[tuple[str, Statement]], *, caller: Caller, board: Board) -> Reuse:
    """Which of the parts are there already in another order."""
    nodes: dict[int, Node] = {}
    for at, (_, statement) in enumerate(parts):
        if node := await reordered_node(statement, caller=caller, board=board):
            if node.id == parent.id:
                raise Cyclic(f"a child is {parent.id} itself with {REORDERED}", path=[parent.id, parent.id])
            nodes[at] = node
    return Reuse(parts=parts, nodes=nodes)


async def _check_glue(parent: Node, reuse: Reuse, glue: str, *, caller: Caller, lemma_store: LemmaStore) -> CheckReport:
    return await lemma_store.check_glue(
        caller.episode,
        author=caller.agent,
        name=re.sub(r"\W", "_", f"{parent.name}{GLUE}", flags=re.ASCII),
        parent=statement_of(parent),
        children=reuse.statements(),
        glue=reuse.glue(glue),
    )


async def _glued(parent: Node, reuse: Reuse, glue: str, *, caller: Caller, lemma_store: LemmaStore) -> str | None:
    """The glue lemma from the parts that are there; None when Lean does not see that they say the same."""
    with suppress(NotLean, BadArguments):
        report = await _check_glue(parent, reuse, glue, caller=caller, lemma_store=lemma_store)
        return _accepted(report, caller.policy.shown)
    return None


async def _child(
    name: str, statement: Statement, *, note: str, caller: Caller, board: Board, lemma_store: LemmaStore
) -> tuple[Node, bool]:
    """The node of a child, closed at once where a lemma says the same in another order."""
    node, is_new = await node_with(name, statement, note=note, caller=caller, board=board, lemma_store=lemma_store)
    if is_new and node.status == "open":
        await close_by_reordered(node, statement, caller=caller, board=board, lemma_store=lemma_store)
        node = await board.node(caller.episode, node.id)
    return node, is_new


async def link(arguments: PlanArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
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
    return await split(asked, caller=caller, board=board, lemma_store=lemma_store)


async def _part(child: Child | str, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> tuple[str, Statement]:
    """The hypothesis name and the statement of a child, which may be a node already."""
    if isinstance(child, str):
        node = await board.node(caller.episode, child)
        return part_name(node.name), statement_of(node)
    return part_name(child.name), await lemma_store.elaborate(caller.episode, child.statement)


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
    raise not_lean(
        report,
        "the glue does not prove the parent from the children",
        hint="Nothing was added. The children are hypotheses under their names.",
        shown=sizes,
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
