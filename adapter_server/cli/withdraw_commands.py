"""The options of `adapter-server revoke` and `recheck`."""

from pathlib import Path
from typing import Annotated

import typer

_Data = Annotated[Path | None, typer.Option(help="Data folder; a daemon may run on it.  [ADAPTER_DATA]")]
_StoreUrl = Annotated[str | None, typer.Option(help="External store of the data folder.  [ADAPTER_REDIS_URL]")]
_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]


def revoke(
    episode: Annotated[str, typer.Argument(help="Id of the episode.")],
    lemma: Annotated[str, typer.Argument(help="The lemma's id, the beginning of it, or its stored name.")],
    *,
    reason: Annotated[str, typer.Option(help="Shown to whoever proves it again.")] = "revoked by the operator",
    data: _Data = None,
    store_url: _StoreUrl = None,
    as_json: _AsJson = False,
) -> int:
    """Take a lemma back, with all that rests on it and a certificate that does."""
    from adapter_server.settings import load_settings

    from .withdraw import run_revoke

    settings = load_settings({"data": data, "store_url": store_url})
    return run_revoke(episode, lemma, settings, reason=reason, is_json=as_json)


def recheck(
    episode: Annotated[list[str] | None, typer.Argument(help="Ids of episodes.")] = None,
    *,
    is_all: Annotated[bool, typer.Option("--all", help="Every episode of the data folder.")] = False,
    data: _Data = None,
    store_url: _StoreUrl = None,
    as_json: _AsJson = False,
) -> int:
    """Judge everything again in new kernels and revoke what they refuse. Exit code 1 when something was revoked."""
    from adapter_server.settings import load_settings

    from .withdraw import run_recheck

    settings = load_settings({"data": data, "store_url": store_url})
    return run_recheck(episode or [], settings, is_all=is_all, is_json=as_json)
