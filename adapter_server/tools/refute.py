"""`refute`: say that a statement is false. The kernel decides; words alone only make a part disputed."""

import re

import anyio
import msgspec

from blackboard.board import Board
from blackboard.doubts import Doubt, Refutation
from blackboard.types import Node
from bus.errors import BadArguments, NotLean, StatementMismatch
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, Lemma

from .arguments import RefuteArguments
from .caller import Caller
from .check import not_lean, record_report
from .news import one_line
from .reply import Facts, ToolReply, cut

AT_WITNESS = """\
  intro h
  have at_witness := h {witness}
  revert at_witness
  first
    | decide
    | (intro e; cases e)
    | (intro e; simp at e)
"""
"""Proves the negation of a statement by its failure at the values `witness`, given in the order of its variables."""


class _Target(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be refuted; a statement may be in nobody's plan."""

    statement: str
    name: str = "statement"
    node: str | None = None


async def refute(arguments: RefuteArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """Refute a part for everyone by a proof of its negation, or mark it as disputed.

    Raises:
        BadArguments: if something that the kind needs is missing.
        NotLean: if Lean does not accept the proof, or the witness shows nothing.
        StatementMismatch: if what was proved is not the negation.
        Gone, Refuted, UnknownId: as the board says.
    """
    target = await _target(arguments, caller=caller, board=board, lemma_store=lemma_store)
    if arguments.kind == "argument":
        return await _dispute(arguments, target, caller=caller, board=board)
    source = _source(arguments, target)
    negation = await lemma_store.elaborate(caller.episode, f"¬ (\n{target.statement}\n)")
    report = await lemma_store.check(caller.episode, author=caller.agent, source=source)
    lemma = _proof_of(negation.hash, report)
    doubt: Doubt | None = None
    with anyio.CancelScope(shield=True):
        await record_report(report, node=target.node, caller=caller, board=board)
        if lemma is not None and target.node is not None:
            witness = arguments.evidence or ""
            doubt = await board.refute(caller.episode, caller.agent, node=target.node, lemma=lemma.id, witness=witness)
    if lemma is None:
        raise _refusal(report, expected=negation.pretty, caller=caller)
    if doubt is None:
        facts: Facts = {"node": None, "status": "refuted", "lemma": lemma.name, "alternatives": []}
        return ToolReply(headline=f"false, by {lemma.name}; no part states it", facts=facts)
    return _done(doubt, target, status="refuted", more={"lemma": lemma.name})


async def refutations(episode: str, *, board: Board) -> list[tuple[Node, Refutation]]:
    """The parts that are known to be false, oldest first."""
    found = await board.refutations(episode)
    nodes = await board.nodes_by_id(episode, [one.node for one in found])
    return list(zip(nodes, found, strict=True))


def refuted_fact(node: Node, why: Refutation) -> Facts:
    """What agents are told of a part that is false."""
    fact: Facts = {"node": node.id, "name": node.name, "statement": one_line(node.statement, 300), "by": why.author}
    return fact | {"witness": one_line(why.witness, 120)} if why.witness else fact


async def _target(arguments: RefuteArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> _Target:
    if arguments.node:
        found = await board.node(caller.episode, arguments.node)
        return _Target(statement=found.statement, name=found.name, node=found.id)
    if not arguments.statement:
        raise BadArguments("refute: node or statement is missing")
    statement = await lemma_store.elaborate(caller.episode, arguments.statement)
    same = await board.same_statement(caller.episode, statement.hash)
    return _Target(statement=arguments.statement, node=same.node)


async def _dispute(arguments: RefuteArguments, target: _Target, *, caller: Caller, board: Board) -> ToolReply:
    if target.node is None:
        raise BadArguments("refute argument: no part has this statement", hint="Name the node that you doubt.")
    if not (arguments.evidence or "").strip():
        raise BadArguments("refute argument: evidence is missing", hint="Say why the part is false.")
    doubt = await board.dispute(
        caller.episode,
        caller.agent,
        node=target.node,
        text=arguments.evidence or "",
        repair=arguments.repair or "",
    )
    return _done(doubt, target, status="disputed", more={})


def _source(arguments: RefuteArguments, target: _Target) -> str:
    """Lean text that should prove the negation."""
    head = f"theorem not_{re.sub(r'[^A-Za-z0-9_]', '_', target.name)} : ¬ (\n{target.statement}\n) := by\n"
    if arguments.kind == "witness":
        if not (arguments.evidence or "").strip():
            raise BadArguments(
                "refute witness: evidence is missing",
                hint="Give the values at which the statement fails, as Lean terms one after another.",
            )
        return head + AT_WITNESS.format(witness=" ".join((arguments.evidence or "").split()))
    lean = (arguments.lean or "").strip()
    if not lean:
        raise BadArguments("refute proof: lean is missing", hint="Give a theorem that states ¬ (the statement).")
    if re.match(r"by\b", lean):
        return head.removesuffix("by\n") + lean + "\n"
    return lean


def _proof_of(negation: str, report: CheckReport) -> Lemma | None:
    accepted = [verdict.lemma for verdict in report.verdicts if verdict.lemma is not None]
    return next((lemma for lemma in accepted if lemma.statement.hash == negation), None)


def _refusal(report: CheckReport, *, expected: str, caller: Caller) -> NotLean | StatementMismatch:
    sizes = caller.policy.shown
    accepted = [verdict.lemma for verdict in report.verdicts if verdict.lemma is not None]
    if accepted:
        return StatementMismatch(
            "what was proved is not the negation",
            hint="State ¬ (…) around the whole statement.",
            expected=cut(expected, sizes.error_bytes),
            got=cut(accepted[0].statement.pretty, sizes.error_bytes),
        )
    return not_lean(
        report,
        "the negation is not proved",
        hint="The part stays as it is.",
        shown=sizes,
    )


def _done(doubt: Doubt, target: _Target, *, status: str, more: Facts) -> ToolReply:
    hit = f"; hits {', '.join(doubt.alternatives)}" if doubt.alternatives else ""
    facts: Facts = {
        "node": doubt.node,
        "status": status,
        "statement": one_line(target.statement, 300),
        "alternatives": list(doubt.alternatives),
        "parents": list(doubt.parents),
    }
    return ToolReply(headline=f"{doubt.node} is {status}{hit}", facts=facts | more)
