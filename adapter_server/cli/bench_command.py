"""The options of `adapter-server bench`; the work is imported when it is done."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Seed


def bench(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders, .smt2 and .lean files, .txt lists of them. The word compare first: see below."),
    ] = None,
    *,
    team: Annotated[str, typer.Option(help="Who works: KIND:COUNT[,KIND:COUNT…].")] = "tactician:5",
    seconds: Annotated[float, typer.Option("--time", min=0.1, help="Seconds for each problem.")] = 60.0,
    checks: Annotated[int | None, typer.Option(min=1, help="Lean checks for each problem.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Problems at a time.")] = 1,
    only: Annotated[
        str, typer.Option(help="Only problems whose id or name matches, such as 'lemma_*,prod/prop_1?'.")
    ] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="So many at most, evenly spread.")] = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Folder to make; default: runs/suite-N.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the suite in --out.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="At the end, verify every certificate from its folder alone.")
    ] = False,
    adapter: Annotated[Path | None, typer.Option(help="Folder of an adapter version.")] = None,
    project: Annotated[
        Path | None, typer.Option(help="Lake project: prove its open theorems, or those of PATHS, with its toolchain.")
    ] = None,
    model: Annotated[list[str] | None, typer.Option(help="As in `run`.")] = None,
    reasoning: Annotated[list[str] | None, typer.Option(help="As in `run`.")] = None,
    agent_tokens: Annotated[int | None, typer.Option(min=1, help="As in `run`.")] = None,
    as_json: AsJson = False,
) -> int:
    """Let a team prove every problem of a suite. Records, a summary and a report are kept in --out.

    `bench compare PATHS` runs each problem with one agent, with isolated agents, with a team that does not share lemmas
    and with the whole team, under equal limits, and tests whether the differences are more than chance.
    """
    from .bench import start_suite
    from .run import hosting_of

    hosting = hosting_of(models=model or (), reasoning=reasoning or (), tokens=agent_tokens, turns=None, seconds=None)
    return start_suite(
        paths or (), team=team, seconds=seconds, checks=checks, jobs=jobs, only=only, limit=limit, seed=seed, out=out,
        is_resumed=resume, is_verified=verify, adapter=adapter, hosting=hosting, project=project,
        is_json=as_json,
    )  # fmt: skip
