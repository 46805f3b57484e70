"""Statements of parts: shown as Lean prints them where Lean also reads that, else as their authors wrote them."""

from blackboard.types import Node
from bus.errors import CallerError
from lemma_store.store import LemmaStore
from lemma_store.types import Statement


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
