"""Options that several commands have, with the same words in each."""

from pathlib import Path
from typing import Annotated

import typer

Team = Annotated[str, typer.Option(help="Who works: KIND:COUNT[,KIND:COUNT…]. Kinds: tactician, codex, claude.")]
Seconds = Annotated[float, typer.Option("--time", min=0.1, help="Seconds for the team.")]
Out = Annotated[Path | None, typer.Option(help="Run folder to make; default: runs/PROBLEM-N.")]
Seed = Annotated[int, typer.Option(min=0, help="What the agents' choices depend on.")]
Data = Annotated[Path | None, typer.Option(help="Data folder.  [ADAPTER_DATA]")]
StoreUrl = Annotated[str | None, typer.Option(help="External store of the data folder.  [ADAPTER_REDIS_URL]")]
Unsafe = Annotated[
    bool,
    typer.Option(
        "--unsafe-no-sandbox",
        envvar="ADAPTER_UNSAFE_NO_SANDBOX",
        help="Where none holds, run Lean text without a sandbox.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
