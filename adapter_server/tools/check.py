"""`check`: Lean text in, verdicts out; what the judge accepts enters the store and closes parts."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio
import msgspec

from adapter_server.policy import ReplySizes
from blackboard.board import Board
from blackboard.types import LemmaNote
from bus.errors import Deadline, LeaseLost, NotLean, StaleFence
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, Lemma, Verdict

from .arguments import CheckArguments
from .caller import Caller
from .job import unfinished
from .jobs import Job, Jobs
from .news import one_line
from .reply import Facts, ToolReply, cut

INLINE_S = 40.0
"""How long a call waits for its check when its author does not say."""


async def check(
    arguments: CheckArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore, jobs: Jobs | None
) -> ToolReply:
    """Judge a text. A stale fence is said, and does not cost the author what was proved.

    What takes longer than `wait_s` goes on as a job, where the adapter version has a tool to follow it.

    Raises:
        UnsafeSource, TooLarge: if the text is not taken at all.
        NotLean: if mode is statement and the statement is none.
        Deadline: if it took longer than `wait_s` and cannot become a job.
        QueueFull: if the author has too many jobs already.
        UnknownId: if there is no such node.
    """
    if arguments.mode == "full" and jobs is not None and "job" in caller.version.tools:
        return await _judge_as_job(arguments, caller=caller, board=board, lemma_store=lemma_store, jobs=jobs)
    with _within(arguments.wait_s):
        if arguments.mode == "statement":
            return await _read_statement(arguments, caller=caller, board=board, lemma_store=lemma_store)
        return await _judge(arguments, caller=caller, board=board, lemma_store=lemma_store)


async def _judge_as_job(
    arguments: CheckArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore, jobs: Jobs
) -> ToolReply:
    async def work(job: Job) -> ToolReply:
        return await _judge(arguments, caller=caller, board=board, lemma_store=lemma_store, job=job)

    key = msgspec.json.encode([arguments.source, arguments.node, arguments.fence]).decode()
    job = jobs.start(caller, key, work)
    reply = await jobs.result(caller, job, wait_s=INLINE_S if arguments.wait_s is None else arguments.wait_s)
    return unfinished(job) if reply is None else reply


async def _judge(
    arguments: CheckArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore, job: Job | None = None
) -> ToolReply:
    node = (await board.node(caller.episode, arguments.node)).id if arguments.node else None
    stale = await _stale(caller, board, node=node, fence=arguments.fence)
    report = await lemma_store.check(caller.episode, author=caller.agent, source=arguments.source)
    closes: dict[str, tuple[str, ...]] = {}
    with anyio.CancelScope(shield=True):
        closes |= await record_report(report, node=node, caller=caller, board=board, job=job)
    facts = _facts(report, closes, caller.policy.shown) | ({"stale": stale} if stale else {})
    if report.is_repeat:
        facts["checked_before"] = True
    if known := await _said_before(report, caller, lemma_store):
        facts["same_in_other_order"] = known
    return ToolReply(headline=_headline(report, closes), facts=facts, is_settled=_is_settled(report))


async def _said_before(report: CheckReport, caller: Caller, lemma_store: LemmaStore) -> dict[str, str]:
    """New lemmas that say what an earlier one says with hypotheses in another order: their names and its."""
    found: dict[str, str] = {}
    for lemma in (verdict.lemma for verdict in report.verdicts if verdict.lemma and verdict.is_new):
        earlier = await lemma_store.reordered(caller.episode, lemma.statement.order_free_hash)
        if earlier is not None and earlier.statement.hash != lemma.statement.hash:
            found[lemma.name] = earlier.name
    return found


async def record_report(
    report: CheckReport, *, node: str | None, caller: Caller, board: Board, job: Job | None = None
) -> dict[str, tuple[str, ...]]:
    """Tell the board what was accepted and that the check is over; returns lemma id → nodes that it closed.

    Where nothing ran, no check is told of, unless its author waits for that news.
    """
    closes: dict[str, tuple[str, ...]] = {}
    for verdict in report.verdicts:
        if verdict.lemma is not None:
            recorded = await board.record_lemma(caller.episode, caller.agent, lemma_note(verdict.lemma))
            closes[verdict.lemma.id] = recorded.closed
    if report.is_repeat and not (job and job.known_as):
        return closes
    outcomes = [verdict.outcome for verdict in report.verdicts]
    await board.record_check(
        caller.episode,
        caller.agent,
        node,
        [verdict.lemma.name for verdict in report.verdicts if verdict.lemma],
        outcomes.count("rejected"),
        outcomes.count("undecided"),
        int(report.elaborate_ms + report.judge_ms),
        job=job.known_as if job else None,
    )
    return closes


async def _stale(caller: Caller, board: Board, *, node: str | None, fence: int | None) -> Facts | None:
    if node is None or fence is None:
        return None
    try:
        await board.confirm_fence(caller.episode, caller.agent, node, fence)
    except (StaleFence, LeaseLost) as error:
        return error.to_fields()
    return None


async def _read_statement(
    arguments: CheckArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore
) -> ToolReply:
    statement = await lemma_store.elaborate(caller.episode, arguments.source)
    facts: Facts = {"statement": statement.pretty, "hash": statement.hash}
    same = [node.id for node in await board.nodes(caller.episode) if node.statement_hash == statement.hash]
    same += [note.name for note in await board.lemmas(caller.episode) if note.statement_hash == statement.hash]
    if not same and (lemma := await lemma_store.reordered(caller.episode, statement.order_free_hash)):
        same.append(lemma.name)
    if not same and (node := await board.reordered(caller.episode, statement.order_free_hash)):
        same.append(node.id)
    if same:
        facts["same_as"] = same
    return ToolReply(headline=f"Lean reads: {one_line(statement.pretty)}", facts=facts)


def lemma_note(lemma: Lemma) -> LemmaNote:
    """What the plan needs to know of a lemma."""
    return LemmaNote(
        id=lemma.id,
        name=lemma.name,
        statement=lemma.statement.pretty,
        statement_hash=lemma.statement.hash,
        author=lemma.author,
        uses=lemma.uses,
    )


def not_lean(report: CheckReport, message: str, *, hint: str, shown: ReplySizes) -> NotLean:
    """The error of a tool whose text was not accepted, with what Lean and the judge said of it."""
    return NotLean(
        message,
        hint=hint,
        messages=_errors(report, shown),
        goals=_goals(report, shown),
        reasons=[cut(reason, 400) for verdict in report.verdicts for reason in verdict.reasons][: shown.errors],
    )


def _errors(report: CheckReport, shown: ReplySizes) -> list[Facts]:
    errors = [message for message in report.messages if message.severity == "error"][: shown.errors]
    return [{"line": one.line, "column": one.column, "text": cut(one.text, shown.error_bytes)} for one in errors]


def _goals(report: CheckReport, shown: ReplySizes) -> list[str]:
    return [cut(goal, shown.goal_bytes) for goal in report.goals[: shown.goals]]


def _facts(report: CheckReport, closes: dict[str, tuple[str, ...]], shown: ReplySizes) -> Facts:
    errors = sum(message.severity == "error" for message in report.messages)
    facts: Facts = {
        "verdicts": [_verdict(verdict, closes) for verdict in report.verdicts],
        "errors": _errors(report, shown),
        "goals": _goals(report, shown),
        "ms": round(report.elaborate_ms + report.judge_ms),
    }
    if errors > shown.errors or len(report.goals) > shown.goals:
        facts["left_out"] = {
            "errors": max(errors - shown.errors, 0),
            "goals": max(len(report.goals) - shown.goals, 0),
        }
    return facts


def _verdict(verdict: Verdict, closes: dict[str, tuple[str, ...]]) -> Facts:
    facts: Facts = {"name": verdict.name, "outcome": verdict.outcome}
    if verdict.lemma is not None:
        facts |= {
            "lemma": verdict.lemma.name,
            "statement": cut(verdict.lemma.statement.pretty, 600),
            "closes": list(closes.get(verdict.lemma.id, ())),
            "is_new": verdict.is_new,
        }
    else:
        facts["reasons"] = [cut(reason, 400) for reason in verdict.reasons[:4]]
    return facts


def _headline(report: CheckReport, closes: dict[str, tuple[str, ...]]) -> str:
    accepted = [verdict.lemma.name for verdict in report.verdicts if verdict.lemma]
    closed = [node for nodes in closes.values() for node in nodes]
    if accepted:
        tail = f"; closes {', '.join(closed)}" if closed else ""
        more = len(report.verdicts) - len(accepted)
        return f"accepted {', '.join(accepted)}{tail}" + (f"; {more} not accepted" if more else "")
    errors = [message for message in report.messages if message.severity == "error"]
    if errors:
        return f"not accepted: line {errors[0].line}: {one_line(errors[0].text, 200)}"
    reasons = [reason for verdict in report.verdicts for reason in verdict.reasons]
    return f"not accepted: {one_line(reasons[0], 200) if reasons else 'the text states no theorem'}"


def _is_settled(report: CheckReport) -> bool:
    return bool(report.verdicts) and all(verdict.outcome == "accepted" for verdict in report.verdicts)


@contextmanager
def _within(seconds: float | None) -> Generator[None]:
    if seconds is None:
        yield
        return
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError as error:
        raise Deadline(f"the check was not finished after {seconds:g} s", hint="Check less at once.") from error
