"""Run one text through the pipeline: intake, elaboration in the sandbox, judgement, publication."""

import contextlib
import functools
import re
import tempfile
import time

import anyio
import msgspec

from bus.errors import LeanUnavailable, NotLean

from .blocks import Block
from .intake import Text, blocks_at, blocks_that_mention, take_in, without
from .judge import Judge
from .lean.elaboration import Elaborated, Elaboration, ForkServer
from .lean.messages import LeanMessage
from .publication import MAX_TRIES, Outdated, Publication
from .tasks import Answer, Artifact, Question
from .types import CheckReport, Outcome, Statement, Verdict
from .world import PROBLEM_MODULE, World

_JUDGE_MS_EACH = 30
_MODULE = "Check"
_STATEMENT = "Statement.given"
_ROUNDS = 24
_PRECISE_ROUNDS = 4
"""After these, what mentions a failed declaration is set aside with it, so that long chains end."""
_FAILED_TEXT = re.compile(r"^(?:unsolved goals|.*?)\n(?P<goals>.*⊢.*)$", re.DOTALL)
_MAX_GOALS, _MAX_GOAL_CHARS = 4, 1_500


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one check may use."""

    heartbeats: int = 4_000
    wall_ms: int = 20_000
    judge_ms: int = 20_000


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """What a statement is elaborated with."""

    world: World
    lean: ForkServer
    judge: Judge
    limits: Limits


class _Run(msgspec.Struct, kw_only=True):
    """What the rounds of one check found out."""

    text: Text | None
    imports: tuple[str, ...]
    elaborated: Elaborated | None = None
    failed: dict[str, Verdict] = {}
    """By the author's name of a theorem that is not judged."""

    messages: list[LeanMessage] = []
    elaborate_ms: float = 0.0


def header(text: Text, world: World) -> tuple[str, tuple[str, ...]]:
    """Return the header for `text` and the modules it imports: library, problem and the lemmas it mentions."""
    lemmas = [f"L.{lemma.id}" for lemma in world.mentioned(text.words)]
    imports = (*world.core.imports, PROBLEM_MODULE, *lemmas)
    lines = [
        "prelude",
        *(f"import {module}" for module in imports),
        "set_option autoImplicit false",
        "set_option linter.all false",
    ]
    return "\n".join(lines) + "\n", imports


def footer(text: Text) -> str:
    """Return what makes Lean write the equations of the text's definitions, so that others can work with them."""
    line = (
        "theorem Footer.of_{0} : True := by first | (have := @_root_.{1}.eq_1; exact True.intro) | exact True.intro\n"
    )
    return "\n" + "".join(line.format(at, name) for at, name in enumerate(text.definitions))


async def check(source: str, *, author: str, tools: Tools, publication: Publication) -> CheckReport:
    """Check every theorem of `source` and publish what the judge accepts.

    Declarations with errors are set aside and the rest is elaborated again, so honest neighbours are still judged.
    The same text of several authors is checked once, and not again when Lean has refused it.

    Raises:
        UnsafeSource, TooLarge: intake refuses the text as a whole.
        StorageUnavailable: an accepted lemma could not be made durable; it counts as not accepted.
    """
    text = take_in(source)
    head, imports = header(text, tools.world)
    run = functools.partial(_check, text, head, imports, author=author, tools=tools, publication=publication)
    return await tools.world.repeats.once(source, imports, run)


async def _check(
    text: Text, head: str, imports: tuple[str, ...], *, author: str, tools: Tools, publication: Publication
) -> CheckReport:
    run = await _elaborate(text, head, imports, tools)
    began = time.monotonic()
    verdicts = dict(run.failed)
    if run.text is not None and run.elaborated is not None:
        outcome = await _judge(run, author=author, tools=tools, publication=publication)
        verdicts.update({verdict.name: verdict for verdict in outcome})
    for name in text.theorems:
        verdicts.setdefault(name, Verdict(name=name, outcome="rejected", reasons=("Lean compiled no such theorem",)))
    ordered = [verdicts[name] for name in dict.fromkeys((*text.theorems, *verdicts))]
    return CheckReport(
        verdicts=tuple(ordered),
        messages=tuple(run.messages),
        goals=tuple(_goals(run.messages)),
        elaborate_ms=run.elaborate_ms,
        judge_ms=(time.monotonic() - began) * 1000,
        is_lasting=run.text is None and all(verdict.outcome == "rejected" for verdict in ordered),
    )


async def _elaborate(text: Text, head: str, imports: tuple[str, ...], tools: Tools) -> _Run:
    run = _Run(text=text, imports=imports)
    for number in range(_ROUNDS):
        assert run.text is not None
        done = await tools.lean.run(
            Elaboration(
                source=(head + run.text.source + footer(run.text)).encode(),
                lean_path=tools.world.lean_path,
                module=_MODULE,
                wants_artifact=True,
                heartbeats=tools.limits.heartbeats,
                wall_ms=tools.limits.wall_ms,
            )
        )
        run.elaborate_ms += done.wall_ms
        said = _shifted(done.messages, head.count("\n"))
        known = {(message.line, message.column, message.text) for message in run.messages}
        run.messages += [message for message in said if (message.line, message.column, message.text) not in known]
        run.elaborated = done
        if done.outcome != "finished" or done.exit_code == 0 or run.elaborate_ms > tools.limits.wall_ms:
            break
        errors = [message for message in said if message.severity == "error"]
        if not _set_aside(run, errors, with_users=number >= _PRECISE_ROUNDS):
            break
    return run


def _set_aside(run: _Run, errors: list[LeanMessage], *, with_users: bool) -> bool:
    """Take the declarations with errors out of the text, and perhaps their users; return whether a theorem is left."""
    text = run.text
    assert text is not None
    failed: list[Block] = []
    for error in errors:
        for block in blocks_at(text, [(error.line, error.column)]):
            failed.append(block)
            for name in block.theorems:
                run.failed.setdefault(name, _failed(name, error))
    if with_users:
        failed += (users := blocks_that_mention(text, failed))
        for name in (name for block in users for name in block.theorems):
            reason = "it seems to rest on something in this text that failed: submit it by itself"
            run.failed.setdefault(name, Verdict(name=name, outcome="undecided", reasons=(reason,)))
    run.text = without(text, failed)
    if run.text is None:
        for name in text.theorems:
            run.failed.setdefault(name, _failed(name, errors[0] if errors else None))
    return run.text is not None


async def _judge(run: _Run, *, author: str, tools: Tools, publication: Publication) -> list[Verdict]:
    text, done, world, judge = run.text, run.elaborated, tools.world, tools.judge
    assert text is not None
    assert done is not None
    if done.outcome != "finished" or done.exit_code != 0 or done.artifact is None:
        reason = done.reason or f"Lean ended with {done.outcome}"
        return [
            Verdict(name=name, outcome="undecided", reasons=(f"{done.outcome}: {reason}",)) for name in text.theorems
        ]
    with tempfile.TemporaryDirectory(prefix="judge-", dir=world.folder) as folder:
        artifact = await _save(done.artifact, folder)
        for _ in range(MAX_TRIES):
            task = Artifact(
                path=artifact,
                imports=run.imports,
                theorems=text.theorems,
                definitions=text.definitions,
                world=world.stamp,
                folder=folder,
            )
            answer = await judge.ask(task, limit_ms=tools.limits.judge_ms + _JUDGE_MS_EACH * len(text.theorems))
            if answer.status != "done":
                return [_whole(name, answer) for name in text.theorems]
            with contextlib.suppress(Outdated):
                return await publication.publish(answer.judged, author=author, text=text, world=world, judge=judge)
    reason = "other checks took its names again and again; submit it again"
    return [Verdict(name=name, outcome="undecided", reasons=(reason,)) for name in text.theorems]


def _whole(name: str, answer: Answer) -> Verdict:
    outcome: Outcome = "rejected" if answer.status == "refused" else "undecided"
    return Verdict(name=name, outcome=outcome, reasons=(answer.reason,))


def _failed(name: str, error: LeanMessage | None) -> Verdict:
    # By its kind and not its words: a limit decides nothing.
    outcome: Outcome = "undecided" if error and error.kind.startswith("runtime.") else "rejected"
    reason = error.text.split("\n", maxsplit=1)[0][:300] if error else "Lean refuses the text"
    return Verdict(name=name, outcome=outcome, reasons=(reason,))


async def _save(data: bytes, folder: str) -> str:
    path = anyio.Path(folder) / f"{_MODULE}.olean"
    await path.write_bytes(data)
    return str(path)


def refuse_unbalanced(text: Text) -> None:
    """Refuse a statement that would end before the bracket that the server puts around it."""
    if not text.is_balanced:
        raise NotLean("the statement closes a bracket that it does not open", messages=[])


async def elaborate_statement(statement: str, tools: Tools) -> Statement:
    """Return the closed proposition that `statement` is, as a kernel term's hash and text.

    Raises:
        NotLean: Lean refuses it, or it needs more than the problem's and the lemmas' constants.
        UnsafeSource, TooLarge: intake refuses the text.
        LeanUnavailable: it could not be decided.
    """
    text = take_in(statement)
    refuse_unbalanced(text)
    head, imports = header(text, tools.world)
    # `universe` here is for authors who write `Type u`; unused ones leave no trace in the term.
    opening = f"{head}universe u v w\ntheorem {_STATEMENT} : (\n"
    whole = f"{opening}{text.source}\n) := sorry\n"
    return await state(
        whole, theorem=_STATEMENT, text=statement, lines=opening.count("\n"), imports=imports, tools=tools
    )


async def state(
    source: str, *, theorem: str, text: str, lines: int, imports: tuple[str, ...], tools: Tools
) -> Statement:
    """Return what the only theorem of `source` states, whose proof is `sorry` and whose first `lines` are the server's.

    Raises:
        NotLean, LeanUnavailable: as `elaborate_statement`.
    """
    world, limits = tools.world, tools.limits
    done = await tools.lean.run(
        Elaboration(
            source=source.encode(),
            lean_path=world.lean_path,
            module=_MODULE,
            wants_artifact=True,
            heartbeats=limits.heartbeats,
            wall_ms=limits.wall_ms,
        )
    )
    errors = [item for item in _shifted(done.messages, lines) if item.severity == "error"]
    if done.outcome != "finished":
        raise LeanUnavailable(f"the statement could not be elaborated: {done.outcome}")
    if errors or done.artifact is None:
        raise NotLean(
            f"Lean refuses the statement: {errors[0].text.splitlines()[0] if errors else 'no reason given'}",
            hint="write one closed proposition, such as `∀ {a : Type} (x : list a), f x = x`",
            messages=[msgspec.to_builtins(item) for item in errors[:5]],
        )
    with tempfile.TemporaryDirectory(prefix="judge-", dir=world.folder) as folder:
        task = Question(path=await _save(done.artifact, folder), imports=imports, theorem=theorem)
        return _statement(text, await tools.judge.ask(task, limit_ms=limits.judge_ms))


def _statement(text: str, answer: Answer) -> Statement:
    if answer.status == "refused":
        raise NotLean(f"this is no statement for the plan: {answer.reason}", messages=[])
    if answer.status != "done":
        raise LeanUnavailable(f"the statement could not be judged: {answer.reason}")
    found = answer.judged[0]
    return Statement(
        text=text, pretty=found.pretty, hash=found.statement_hash, order_free_hash=found.order_free_hash,
        universes=found.universes,
    )  # fmt: skip


def _shifted(messages: tuple[LeanMessage, ...], lines: int) -> list[LeanMessage]:
    """Return messages with positions in the author's text; those about the header point to its first line."""
    return [msgspec.structs.replace(item, line=max(1, item.line - lines)) for item in messages]


def _goals(messages: list[LeanMessage]) -> list[str]:
    found: list[str] = []
    for message in messages:
        match = _FAILED_TEXT.match(message.text) if message.severity == "error" else None
        if match:
            found += [goal.strip() for goal in match["goals"].split("\n\n") if "⊢" in goal]
    return [goal[:_MAX_GOAL_CHARS] for goal in found[:_MAX_GOALS]]
