"""The options of `adapter-server run`; the work is imported when it is done."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Out, Seconds, Seed, Team, Unsafe


def run(
    problem: Annotated[
        str | None, typer.Argument(help="A .smt2 (TIP) or .lean file, or the name of a shipped problem.")
    ] = None,
    *,
    team: Team = "tactician:5",
    seconds: Seconds = 60.0,
    out: Out = None,
    project: Annotated[
        Path | None, typer.Option(help="Lake project whose toolchain and modules the problem uses.")
    ] = None,
    theorem: Annotated[
        str | None, typer.Option(help="An open theorem of the Lean file or the project; the rest of its file is left.")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    server: Annotated[str | None, typer.Option(help="Use the daemon at this URL instead of one of its own.")] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="Operator token for --server: DATA/operator.token.  [ADAPTER_TOKEN]")
    ] = None,
    seed: Seed = 0,
    model: Annotated[
        list[str] | None, typer.Option(help="Model of codex and claude agents: NAME or KIND=NAME, also several times.")
    ] = None,
    reasoning: Annotated[
        list[str] | None, typer.Option(help="How long they think, in the host's words: VALUE or KIND=VALUE.")
    ] = None,
    agent_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that each of them may use.")] = None,
    agent_turns: Annotated[int | None, typer.Option(min=1, help="Turns that each of them may take.")] = None,
    agent_seconds: Annotated[float | None, typer.Option(min=1, help="Seconds that each of them may work.")] = None,
    unsafe_no_sandbox: Unsafe = False,
    as_json: AsJson = False,
) -> int:
    """Let a team prove a problem. Exit code 0: solved, 1: unsolved, 2: bad input, 3: a service failed, 4: refuted."""
    from .run import go_on, hosting_of, start_run

    if resume is not None:
        return go_on(resume, problem=problem, seconds=seconds, token_file=token_file, is_json=as_json)
    hosting = hosting_of(
        models=model or (), reasoning=reasoning or (), tokens=agent_tokens, turns=agent_turns, seconds=agent_seconds
    )
    return start_run(
        problem, team=team, seconds=seconds, out=out, server=server, token_file=token_file, seed=seed, hosting=hosting,
        project=project, theorem=theorem, is_unsafe=unsafe_no_sandbox, is_json=as_json,
    )  # fmt: skip
