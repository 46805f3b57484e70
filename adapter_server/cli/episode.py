"""`adapter-server episode`: an episode as a file, to keep it or to move it to another machine."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec

from adapter_server.data_folder import open_data_folder
from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from adapter_server.store_access import existing_folder, store_to_read
from adapter_server.transfer import Manifest, export_episode, import_episode
from blackboard.board import Board
from lemma_store.in_redis import LemmaIndex, connect

from .exit_codes import OK


def run_export(episode: str, target: Path, settings: Settings, *, is_json: bool) -> int:
    """Write an episode to a file; a daemon may run on the data folder meanwhile.

    Raises:
        UnknownId, BadArguments, BadDataFolder, StorageUnavailable: see `export_episode`.
    """
    configure_logs(level="warning")
    folder, path = existing_folder(settings), target.expanduser()

    async def export() -> Manifest:
        async with store_to_read(settings) as url, _stores(url) as (board, index):
            return await export_episode(episode, path, board=board, index=index, folder=folder)

    return _tell(anyio.run(export), target, is_json=is_json)


def run_import(source: Path, settings: Settings, *, is_json: bool) -> int:
    """Put an episode from a file into a data folder on which no daemon runs.

    Raises:
        Duplicate, BadArguments, BadDataFolder, StorageUnavailable: see `import_episode`.
    """
    configure_logs(level="warning")
    folder, path = open_data_folder(settings.data_path), source.expanduser()

    async def bring() -> Manifest:
        async with open_store(settings) as store, _stores(store.url) as (board, index):
            return await import_episode(path, board=board, index=index, folder=folder)

    return _tell(anyio.run(bring), source, is_json=is_json)


@asynccontextmanager
async def _stores(url: str) -> AsyncGenerator[tuple[Board, LemmaIndex]]:
    async with Board.open(url) as board, connect(url) as redis:
        yield board, LemmaIndex(redis, is_durable=True)


def _tell(manifest: Manifest, file: Path, *, is_json: bool) -> int:
    facts = {"episode": manifest.episode, "seq": manifest.seq, "files": len(manifest.files), "file": str(file)}
    text = f"{manifest.episode}: {manifest.seq} events, {len(manifest.files)} files, {file}"
    print(msgspec.json.encode(facts).decode() if is_json else text)
    return OK
