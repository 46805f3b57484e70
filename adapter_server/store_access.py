"""The store of a data folder for commands that look into it, whether a daemon runs on the folder or not."""

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
    """
    store = DataFolder(path=settings.data_path).store
    if settings.store_url is None and is_owned(store):
        with placed_socket(store) as socket:
            yield f"unix://{quote(str(socket))}"
        return
    async with open_store(settings) as address:
        yield address.url
