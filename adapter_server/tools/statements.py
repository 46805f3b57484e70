"""Statements of parts: shown as Lean prints them where Lean also reads that, else as their authors wrote them."""

import re

from blackboard.board import Board
from blackboard.types import Node, NodeDraft
from bus.errors import BadArguments, CallerError, Duplicate
from lemma_store.store import LemmaStore
from lemma_store.types import Statement

from .caller import Caller
from .news import one_line

_NAME = re.compile(r"[^\W\d][\w']*", re.ASCII)


async def shown(statement: Statement, *, episode: str, lemma_store: LemmaStore) -> str:
    """The text under which a statement enters the plan: reading it again gives the very statement.

    Agents copy it into theorems and the server puts it into glue, so what Lean prints is not good enough by itself.
    """
    if statement.text.strip() == statement.pretty:
        return statement.pretty
    try:
        again = await lemma_store.elaborate(episode, statement.pretty)
    except CallerError:
        return statement.text.strip()
    return statement.pretty if again.hash == statement.hash else statement.text.strip()


def statement_of(node: Node) -> Statement:
    """The statement of a part."""
    return Statement(text=node.statement, pretty=node.statement, hash=node.statement_hash)


async def node_with(
    name: str, statement: Statement, *, note: str, caller: Caller, board: Board, lemma_store: LemmaStore
) -> tuple[Node, bool]:
    """The node with this statement, and whether it is new."""
    text = await shown(statement, episode=caller.episode, lemma_store=lemma_store)
    draft = NodeDraft(
        name=name, statement=text, statement_hash=statement.hash, order_free_hash=statement.order_free_hash, note=note
    )
    limit = caller.policy.open_parts_max
    try:
        return await board.add_node(caller.episode, caller.agent, draft, open_parts_max=limit), True
    except Duplicate as error:
        return await board.node(caller.episode, str(error.facts["id"])), False


def part_name(name: str) -> str:
    """A Lean identifier near the given name: names of parts are hypotheses in glue."""
    if _NAME.fullmatch(name):
        return name
    raise BadArguments(
        f"{one_line(name, 60)!r} cannot name a part", hint="Use letters, digits and _, not beginning with a digit."
    )
