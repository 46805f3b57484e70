"""The store of a data folder for commands that look into it, whether a daemon runs on the folder or not."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import quote

from bus.errors import BadDataFolder

from .data_folder import FORMAT, DataFolder
from .embedded_store import open_store
from .settings import Settings
from .store_folder import is_owned, placed_socket


def existing_folder(settings: Settings) -> DataFolder:
    """Return the data folder, which must be there.

    Raises:
        BadDataFolder: it is none, or of another version.
    """
    folder = DataFolder(path=settings.data_path)
    if not folder.format_file.is_file() or folder.format_file.read_text(errors="replace") != FORMAT:
        raise BadDataFolder(f"{folder.path} is not a data folder of this version", hint="name it with --data")
    return folder


@asynccontextmanager
async def store_to_read(settings: Settings) -> AsyncGenerator[str]:
    """Yield the address of the store: that of the running daemon, or one that runs for the length of the block.

    Raises:
        StorageUnavailable: the store cannot be reached or started.
        BadDataFolder: the daemon on the folder has another store.
    """
    folder = DataFolder(path=settings.data_path)
    store = folder.store
    if settings.store_url is None and is_owned(store):
        with placed_socket(store) as socket:
            yield f"unix://{quote(str(socket))}"
        return
    if settings.store_url is None and (note := folder.server()) is not None and _runs(note.pid):
        raise BadDataFolder(
            f"the server on {folder.path}, process {note.pid}, keeps its state in a store of its own",
            hint="name the store with --store-url",
        )
    async with open_store(settings) as address:
        yield address.url


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
