"""Open a problem: compile the operator's definitions, replay them, and lock the target's statement."""

from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from bus.errors import BadProblem, LeanUnavailable, NotLean

from . import checking
from .judge import Judge
from .lean.core_library import CoreLibrary
from .lean.elaboration import Elaboration, ForkServer
from .policy import ALLOWED_AXIOMS
from .problem_text import ProblemText
from .types import Problem, Statement
from .world import PROBLEM_MODULE, World, write_atomically

_HEADER = "prelude\nimport MiniCore\nset_option linter.all false\nset_option autoImplicit false\n"
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
    statement = Statement(text=text.statement, pretty=text.statement, hash="")
    return Problem(episode=episode, theorem=text.theorem, source=text.definitions, names=(), statement=statement)


async def lock(world: World, *, source: str, lean: ForkServer, judge: Judge, limits: checking.Limits) -> Problem:
    """Return the problem of `world` with its statement locked, written to its folder; `judge` holds its module.

    Raises:
        BadProblem: the definitions rest on axioms.
        NotLean, LeanUnavailable: see `checking.elaborate_statement`.
    """
    if foreign := judge.axioms - set(ALLOWED_AXIOMS):
        raise BadProblem(f"the definitions rest on the axiom {min(foreign)}", hint="define it, or prove it")
    text = world.problem.statement.text
    statement = await checking.elaborate_statement(text, world=world, lean=lean, judge=judge, limits=limits)
    problem = msgspec.structs.replace(world.problem, statement=statement, names=judge.names)
    await anyio.to_thread.run_sync(write_atomically, world.folder / "problem.lean", source.encode())
    await anyio.to_thread.run_sync(write_atomically, world.folder / "problem.json", msgspec.json.encode(problem))
    return problem


async def compile_definitions(definitions: str, *, lean: ForkServer, core: CoreLibrary) -> bytes:
    """Return the compiled module of an operator's definitions.

    Raises:
        BadProblem: the definitions use `sorry`.
        NotLean, LeanUnavailable: see `compile_problem`.
    """
    done = await lean.run(
        Elaboration(
            source=(_HEADER + definitions).encode(),
            lean_path=(str(core.folder),),
            module=PROBLEM_MODULE,
            wants_artifact=True,
            heartbeats=_HEARTBEATS,
            wall_ms=_WALL_MS,
        )
    )
    lines = _HEADER.count("\n")
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
