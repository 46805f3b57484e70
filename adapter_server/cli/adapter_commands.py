"""The options of `adapter-server adapter`; the work is imported when it is done."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, Data, StoreUrl

if TYPE_CHECKING:
    from .adapter import AdapterCommands

Version = Annotated[str, typer.Argument(help="Start of an id, in-use, or built-in.")]
VersionOrFolder = Annotated[str, typer.Argument(help="Start of an id, in-use, built-in, or a folder.")]

app = typer.Typer(help="Adapter versions: what agents see, and which of them new episodes get.", no_args_is_help=True)


@app.command("list")
def list_versions(*, data: Data = None, store_url: StoreUrl = None, as_json: AsJson = False) -> int:
    """Print every version and what it is to new episodes."""
    return _commands(data, store_url, is_json=as_json).list_all()


@app.command()
def show(
    version: VersionOrFolder = "in-use",
    *,
    file: Annotated[str | None, typer.Option(help="Print this file of it, such as prompts/team.md.")] = None,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Print what is in a version."""
    return _commands(data, store_url, is_json=as_json).show(version, file)


@app.command()
def diff(
    before: VersionOrFolder,
    after: VersionOrFolder,
    *,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Print where two versions differ."""
    return _commands(data, store_url, is_json=as_json).diff(before, after)


@app.command()
def stage(
    folder: Annotated[Path, typer.Argument(help="Folder of a version.")],
    *,
    data: Data = None,
    as_json: AsJson = False,
) -> int:
    """Check a version, keep a copy, print its id. Nothing uses it yet."""
    return _commands(data, None, is_json=as_json).stage(folder)


@app.command()
def activate(
    version: Version,
    *,
    epoch: Annotated[int | None, typer.Option(min=0, help="Only if this is the epoch now.")] = None,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Put a version in use: the next episodes get it, running ones keep theirs."""
    return _commands(data, store_url, is_json=as_json).activate(version, epoch)


@app.command()
def rollback(
    *,
    to: Annotated[str | None, typer.Option(help="An earlier version instead of the one before.")] = None,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Put the version before in use again: the next episodes get it."""
    return _commands(data, store_url, is_json=as_json).roll_back(to)


@app.command("export")
def export_version(
    version: VersionOrFolder,
    target: Annotated[Path, typer.Argument(help="Folder to make, or a .tar, .tar.gz or .tgz file.")],
    *,
    host: Annotated[str | None, typer.Option(help="As a plugin folder of codex or claude.")] = None,
    data: Data = None,
    store_url: StoreUrl = None,
    as_json: AsJson = False,
) -> int:
    """Write a version to a new folder or file."""
    return _commands(data, store_url, is_json=as_json).export(version, target, host)


@app.command("import")
def import_version(
    file: Annotated[Path, typer.Argument(help="What `adapter export` has written to a file.")],
    *,
    data: Data = None,
    as_json: AsJson = False,
) -> int:
    """Check a version in a file, keep a copy, print its id."""
    return _commands(data, None, is_json=as_json).bring(file)


def _commands(data: Path | None, store_url: str | None, *, is_json: bool) -> "AdapterCommands":
    from adapter_server.settings import load_settings

    from .adapter import AdapterCommands

    return AdapterCommands(load_settings({"data": data, "store_url": store_url}), is_json=is_json)
