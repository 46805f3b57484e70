"""The options of `adapter-server lemma`."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Exchange lemmas and problems with other tools.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else on stdout.")]


@app.command("export")
def export_lemmas(
    episode: Annotated[str, typer.Argument(help="Id of the episode.")],
    out: Annotated[Path, typer.Argument(help="Folder to make.")],
    *,
    form: Annotated[str, typer.Option("--format", help="leandojo: corpus.jsonl and split files.")] = "leandojo",
    data: Annotated[Path | None, typer.Option(help="Data folder; of a run: RUN/server.  [ADAPTER_DATA]")] = None,
    store_url: Annotated[
        str | None, typer.Option(help="External store of the data folder.  [ADAPTER_REDIS_URL]")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Write an episode's lemmas, with the definitions they are about, for tools that retrieve or learn."""
    from adapter_server.settings import load_settings

    from .lemma import run_lemma_export

    settings = load_settings({"data": data, "store_url": store_url})
    return run_lemma_export(episode, out, settings, form=form, is_json=as_json)


@app.command("problems")
def problems(
    repository: Annotated[str, typer.Argument(help="URL or folder of a Git repository, as lean-dojo takes it.")],
    out: Annotated[Path, typer.Argument(help="Folder to make.")],
    *,
    commit: Annotated[
        str | None, typer.Option(help="Commit or tag; default: what is checked out in the folder.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Write the open theorems of a repository as problem files. Needs the extra `dojo`."""
    from .lemma import run_lemma_problems

    return run_lemma_problems(repository, out, commit=commit, is_json=as_json)
