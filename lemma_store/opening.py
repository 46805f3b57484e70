"""Open a problem: compile the operator's definitions, replay them, and lock the target's statement."""

from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from bus.errors import BadProblem, CallerError, LeanUnavailable, NotLean

from .checking import Tools, elaborate_statement, state
from .lean.core_library import CoreLibrary
from .lean.elaboration import Elaboration, ForkServer
from .policy import ALLOWED_AXIOMS
from .problem_text import ProblemText
from .types import Problem, Statement
from .world import PROBLEM_MODULE, write_atomically

MAX_CONTEXT_BYTES = 256_000
"""Sources of a project's modules that agents can read."""

_HEARTBEATS, _WALL_MS = 200_000, 60_000


async def draft_problem(
    episode: str, *, text: ProblemText, folder: Path, lean: ForkServer, core: CoreLibrary
) -> Problem:
    """Compile the definitions into `folder` and return the problem, its statement not yet locked.

    Raises:
        BadProblem: the definitions use `sorry`.
        NotLean: Lean refuses the definitions.
        LeanUnavailable: a limit was hit; nothing was decided.
    """
    artifact = await compile_definitions(text.definitions, lean=lean, core=core)
    await anyio.to_thread.run_sync(write_atomically, folder / "modules" / f"{PROBLEM_MODULE}.olean", artifact)
    context = await anyio.to_thread.run_sync(_context, core)
    return msgspec.structs.replace(unlocked(episode, text, core), context=context)


def unlocked(episode: str, text: ProblemText, core: CoreLibrary) -> Problem:
    """Return a problem whose statement is not yet locked."""
    statement = Statement(text=text.statement, pretty=text.statement, hash="")
    return Problem(
        episode=episode,
        theorem=text.theorem,
        source=text.definitions,
        names=(),
        statement=statement,
        imports=core.imports,
        library=core.id,
    )


def _context(core: CoreLibrary) -> str:
    """Return the sources that the library has for reading, or the names of those that would be too long."""
    parts: list[str] = []
    for module in core.modules:
        if module.source is not None:
            text = module.source.read_text(encoding="utf-8", errors="replace").strip()
            is_short = sum(map(len, parts)) + len(text) <= MAX_CONTEXT_BYTES
            parts.append(f"-- module {module.name}\n{text if is_short else '-- too long to be shown'}\n")
    return "\n".join(parts)


async def lock(text: ProblemText, *, source: str, tools: Tools) -> Problem:
    """Return the problem with its statement locked, written to its folder; the judge holds its module.

    Raises:
        BadProblem: the definitions rest on axioms.
        NotLean, LeanUnavailable: see `lock_statement`.
    """
    world, judge = tools.world, tools.judge
    if foreign := judge.axioms - set(ALLOWED_AXIOMS):
        raise BadProblem(f"the definitions rest on the axiom {min(foreign)}", hint="define it, or prove it")
    statement = await lock_statement(text, tools)
    problem = msgspec.structs.replace(world.problem, statement=statement, names=judge.names)
    await anyio.to_thread.run_sync(write_atomically, world.folder / "problem.lean", source.encode())
    await anyio.to_thread.run_sync(write_atomically, world.folder / "problem.json", msgspec.json.encode(problem))
    return problem


async def lock_statement(text: ProblemText, tools: Tools) -> Statement:
    """Return what the target states where it stands, with a text that states the same at the top of any file.

    Raises:
        BadProblem: there is no such text.
        NotLean, LeanUnavailable: see `checking.elaborate_statement`.
    """
    core = tools.world.core
    if text.is_plain and core.is_embedded:
        return await elaborate_statement(text.statement, tools)
    head = core.header(PROBLEM_MODULE)
    wanted = await state(
        head + text.posed,
        theorem=text.theorem,
        text=text.statement,
        lines=head.count("\n"),
        imports=(*core.imports, PROBLEM_MODULE),
        tools=tools,
    )
    for candidate in (text.statement, wanted.pretty):
        try:
            found = await elaborate_statement(candidate, tools)
        except CallerError:
            continue
        if (found.hash, found.universes) == (wanted.hash, wanted.universes):
            return found
    raise BadProblem(
        f"the statement of {text.theorem} cannot be written outside of its section: {wanted.pretty}",
        hint="state it with full names, without `variable` and local notation",
    )


async def compile_definitions(definitions: str, *, lean: ForkServer, core: CoreLibrary) -> bytes:
    """Return the compiled module of an operator's definitions.

    Raises:
        BadProblem: the definitions use `sorry`.
        NotLean: Lean refuses them.
        LeanUnavailable: a limit was hit; nothing was decided.
    """
    head = core.header()
    done = await lean.run(
        Elaboration(
            source=(head + definitions).encode(),
            lean_path=core.lean_path,
            module=PROBLEM_MODULE,
            wants_artifact=True,
            heartbeats=_HEARTBEATS,
            wall_ms=_WALL_MS,
        )
    )
    lines = head.count("\n")
    errors = [item for item in done.messages if item.severity == "error"]
    if done.outcome != "finished":
        raise LeanUnavailable(f"the problem's definitions could not be compiled: {done.outcome} {done.reason}".strip())
    if errors or done.artifact is None:
        first = errors[0] if errors else None
        shown = f"line {first.line - lines}: {first.text.splitlines()[0]}" if first else "no reason given"
        raise NotLean(
            f"Lean refuses the problem: {shown}",
            messages=[
                msgspec.to_builtins(msgspec.structs.replace(item, line=item.line - lines)) for item in errors[:5]
            ],
        )
    if any(item.kind == "hasSorry" for item in done.messages):
        raise BadProblem(
            "the definitions above the target use `sorry`", hint="only the target may have the proof `by sorry`"
        )
    return done.artifact
