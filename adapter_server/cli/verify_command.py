"""The options of `adapter-server verify`."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Unsafe


def verify(
    path: Annotated[Path, typer.Argument(help="A run folder, the folder of a certificate, or a Lean file.")],
    *,
    theorem: Annotated[str | None, typer.Option(help="Theorem of the Lean file; default: its last one.")] = None,
    project: Annotated[
        Path | None, typer.Option(help="Lake project whose compiled modules and toolchain it uses.")
    ] = None,
    unsafe_no_sandbox: Unsafe = False,
    as_json: AsJson = False,
) -> int:
    """Check a finished proof from its files alone. Exit code 0 only if it is proved."""
    from .verify import run_verify

    return run_verify(path, theorem=theorem, project=project, is_unsafe=unsafe_no_sandbox, is_json=as_json)
