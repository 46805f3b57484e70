"""Statements that somebody has already with hypotheses in another order: met before anybody works on them again."""

import textwrap
from contextlib import suppress

import anyio
import msgspec

from blackboard.board import Board
from blackboard.types import Node
from bus.errors import AdapterError, Refuted
from lemma_store.store import LemmaStore
from lemma_store.types import Statement

from .caller import Caller
from .check import record_report
from .statements import statement_of

REORDERED = "hypotheses in another order"
_FROM_OTHER = "first\n  | (intros; apply {0} <;> assumption)\n  | (intros; exact {0} (by assumption))"


async def reordered_node(statement: Statement, *, caller: Caller, board: Board) -> Node | None:
    """The part that says the same in another order, unless one says exactly this.

    Raises:
        Refuted: that part is known to be false, so this is too.
    """
    if (await board.same_statement(caller.episode, statement.hash)).node is not None:
        return None
    node = await board.reordered(caller.episode, statement.order_free_hash)
    if node is not None and node.status == "refuted":
        raise Refuted(
            f"the statement is that of {node.id}, which is known to be false, with {REORDERED}",
            hint="Change the statement.", id=node.id,
        )  # fmt: skip
    return node


async def close_by_reordered(
    node: Node, statement: Statement, *, caller: Caller, board: Board, lemma_store: LemmaStore
) -> str | None:
    """Prove a new part from a lemma that says the same in another order; returns the lemma's name.

    None when there is none, or when Lean does not see it: the part stays open then.
    """
    lemma = await lemma_store.reordered(caller.episode, statement.order_free_hash)
    if lemma is None or lemma.statement.hash == statement.hash:
        return None
    proof = textwrap.indent(_FROM_OTHER.format(lemma.name), "  ")
    source = f"theorem {node.name} :\n    {node.statement}\n    := by\n{proof}\n"
    closes: dict[str, tuple[str, ...]] = {}
    with suppress(AdapterError), anyio.CancelScope(shield=True):
        report = await lemma_store.check(caller.episode, author=caller.agent, source=source)
        closes |= await record_report(report, node=node.id, caller=caller, board=board)
    return lemma.name if any(node.id in nodes for nodes in closes.values()) else None


class Reuse(msgspec.Struct, frozen=True, kw_only=True):
    """Parts of a split of which some are there already in another order.

    Attributes:
        parts: hypothesis name and statement of each child, as the author gave them.
        nodes: for some places the part that is there.
    """

    parts: list[tuple[str, Statement]]
    nodes: dict[int, Node]

    def statements(self) -> list[tuple[str, Statement]]:
        """Hypotheses of the glue: those that are there say what they say there."""
        return [
            (name, statement_of(self.nodes[at]) if at in self.nodes else statement)
            for at, (name, statement) in enumerate(self.parts)
        ]

    def glue(self, written: str) -> str:
        """The author's glue, after what makes its hypotheses say what the author wrote."""
        lines: list[str] = []
        for at in self.nodes:
            name, statement = self.parts[at]
            text = textwrap.indent(statement.text.strip(), "    ")
            proof = textwrap.indent(_FROM_OTHER.format(name), "  ")
            lines.append(f"have {name} : (\n{text}\n    ) := by\n{proof}")
        return "\n".join([*lines, textwrap.dedent(written).strip()])
