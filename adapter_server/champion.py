"""Which adapter version new episodes get: a pointer in the store, changed by compare-and-set on version and epoch."""

import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import msgspec
import structlog

from blackboard.in_redis import EpisodeStore
from blackboard.lineage import Lineage, Reign
from bus.errors import BadArguments, BadDataFolder, UnknownId

from .bundle import Bundle, default_bundle_folder
from .data_folder import DataFolder, open_data_folder
from .settings import Settings
from .staging import open_bundle, stage_bundle
from .store_access import store_to_read

Because = Literal["promoted", "rolled_back", "restored"]

log = structlog.get_logger()


class Champion(msgspec.Struct, frozen=True, kw_only=True):
    """The version in use.

    Attributes:
        bundle: its id.
        epoch: how often the pointer was moved; 0 is the built-in version, before any move.
    """

    bundle: str
    epoch: int


class Champions:
    """The pointer of one store and its history. A version that is not staged and whole never gets there."""

    def __init__(self, lineage: Lineage, *, adapters: Path, built_in: str) -> None:
        self._lineage = lineage
        self._adapters = adapters
        self.built_in = built_in

    async def champion(self) -> Champion:
        """Return the version in use.

        Raises:
            StorageUnavailable: the store cannot be reached.
        """
        return self._last(await self._lineage.reigns())

    async def usable(self) -> Bundle:
        """Return the version in use, read and checked; when it is not whole, the last one before it that is.

        Raises:
            BadDataFolder: not even the built-in one is whole.
            StorageUnavailable: the store cannot be reached.
        """
        for version in dict.fromkeys([*reversed(self._undoable(await self._lineage.reigns())), self.built_in]):
            try:
                return open_bundle(self._adapters, version)
            except (UnknownId, BadDataFolder) as error:
                log.error("version_unusable", bundle=version, reason=error.message)  # noqa: TRY400 - expected, no trace
        raise BadDataFolder("no adapter version is whole", hint="start the server again: it stages the built-in one")

    async def history(self) -> list[Reign]:
        """Return all that was moved, oldest first; the built-in version of epoch 0 is not among it.

        Raises:
            StorageUnavailable: the store cannot be reached.
        """
        return await self._lineage.reigns()

    async def promote(self, *, expected: Champion, bundle: str) -> Champion:
        """Put a version in use instead of the expected one; running episodes keep theirs.

        Raises:
            Conflict: another one is in use; its facts are bundle and epoch.
            UnknownId, BadDataFolder: the version is not staged, or was changed on disk.
            StorageUnavailable: the store cannot be reached.
        """
        return await self._move(bundle, epoch=expected.epoch + 1, expected=expected, because="promoted")

    async def roll_back(self, *, to: str | None = None) -> Champion:
        """Put an earlier version in use again: the one before, or the last that was in use under the given id.

        Raises:
            BadArguments: there is none before, or the given one was not in use before this one.
            Conflict, UnknownId, BadDataFolder, StorageUnavailable: as `promote`.
        """
        reigns = await self._lineage.reigns()
        *earlier, current = self._undoable(reigns)
        target = to or (earlier[-1] if earlier else None)
        if target is None or target not in earlier:
            hint = f"earlier ones are {', '.join(earlier)}" if earlier else "there is none before it"
            raise BadArguments(f"cannot roll back from {current}{f' to {to}' if to else ''}", hint=hint)
        now = self._last(reigns)
        return await self._move(target, epoch=now.epoch + 1, expected=now, because="rolled_back")

    async def restore(self, champion: Champion) -> Champion:
        """Put back a pointer that the store has lost.

        Raises:
            Conflict: the store has one.
            UnknownId, BadDataFolder, StorageUnavailable: as `promote`.
        """
        if champion == Champion(bundle=self.built_in, epoch=0):
            return champion
        return await self._move(champion.bundle, epoch=champion.epoch, expected=None, because="restored")

    async def _move(self, bundle: str, *, epoch: int, expected: Champion | None, because: Because) -> Champion:
        open_bundle(self._adapters, bundle)
        at_ms = int(time.time() * 1000)
        reign = Reign(bundle=bundle, epoch=epoch, because=because, at_ms=at_ms, op=secrets.token_hex(8))
        pair = (expected.bundle, expected.epoch) if expected else None
        await self._lineage.append(reign, expected=pair, first=self.built_in)
        return Champion(bundle=bundle, epoch=epoch)

    def _last(self, reigns: Sequence[Reign]) -> Champion:
        if not reigns:
            return Champion(bundle=self.built_in, epoch=0)
        return Champion(bundle=reigns[-1].bundle, epoch=reigns[-1].epoch)

    def _undoable(self, reigns: Sequence[Reign]) -> list[str]:
        """The versions in use one after the other, without those that a rollback took back; the last is in use now."""
        stack = [self.built_in]
        for reign in reigns:
            if reign.because == "rolled_back":
                stack.pop()
                while stack and stack[-1] != reign.bundle:
                    stack.pop()
            if not stack or stack[-1] != reign.bundle:
                stack.append(reign.bundle)
        return stack


@asynccontextmanager
async def open_champions(settings: Settings) -> AsyncGenerator[Champions]:
    """The pointer of a data folder, whether a daemon runs on it or not.

    Not to be held open for long: without a daemon the block has the store for itself, and none can start meanwhile.

    Raises:
        BadDataFolder, StorageUnavailable: the folder or its store cannot be used.
    """
    folder = open_data_folder(settings.data_path)
    async with store_to_read(settings) as url, EpisodeStore.open(url) as store:
        yield champions_of(folder, store)


def champions_of(folder: DataFolder, store: EpisodeStore) -> Champions:
    """The pointer in an open store; the built-in version is staged in the folder.

    Raises:
        BadDataFolder: the folder cannot be written.
    """
    built_in = stage_bundle(default_bundle_folder(), folder.adapters)
    return Champions(Lineage(store), adapters=folder.adapters, built_in=built_in.id)
