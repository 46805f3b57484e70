"""What operators do with adapter versions: look, keep, put in use, take back."""

from collections.abc import Mapping

import msgspec

from blackboard.lineage import Reign
from bus.errors import Conflict
from bus.versions import (
    VersionActivate,
    VersionDiff,
    VersionExported,
    VersionFacts,
    VersionInUse,
    VersionMoved,
    VersionRef,
    VersionReign,
    VersionRollBack,
    VersionsDiffer,
    VersionsList,
    VersionsListed,
    VersionStage,
)

from .bundle import read_bundle
from .champion import Champion, Champions
from .data_folder import DataFolder
from .staging import stage_files
from .versions import IN_USE, differences, facts_of, files_of, find_version, version_rows


class VersionDesk:
    """The versions of one data folder and the pointer of its store. Every change is whole or not at all.

    Versions are named by the start of an id, `in-use` or `built-in`. All methods raise UnknownId or BadDataFolder for a
    version that is not there or not whole, and StorageUnavailable without the store.
    """

    def __init__(self, folder: DataFolder, champions: Champions, *, fixed: str = "") -> None:
        self._folder = folder
        self._champions = champions
        self._fixed = fixed

    async def list_all(self, _: VersionsList) -> VersionsListed:
        """Every version, and what it is to new episodes."""
        champion, reigns = await self._champions.champion(), await self._champions.history()
        rows = version_rows(self._folder.adapters, champion, reigns, built_in=self._champions.built_in)
        history = [_told(reign) for reign in reigns]
        return VersionsListed(in_use=_in_use(champion), history=history, versions=rows, fixed=self._fixed)

    async def show(self, request: VersionRef) -> VersionFacts:
        """One version at a glance."""
        return facts_of(read_bundle(await self.files(request.version)))

    async def diff(self, request: VersionDiff) -> VersionsDiffer:
        """Where two versions differ."""
        before, after = await self.id_of(request.before), await self.id_of(request.after)
        adapters = self._folder.adapters
        files = list(differences(files_of(before, adapters), files_of(after, adapters)))
        return VersionsDiffer(before=before, after=after, files=files)

    async def stage(self, request: VersionStage) -> VersionFacts:
        """Check a version and keep it; nothing uses it yet."""
        files = {path: text.encode() for path, text in request.files.items()}
        return facts_of(stage_files(files, self._folder.adapters))

    async def export(self, request: VersionRef) -> VersionExported:
        """All files of a version."""
        version = await self.id_of(request.version)
        files = {path: content.decode() for path, content in files_of(version, self._folder.adapters).items()}
        return VersionExported(id=version, files=files)

    async def activate(self, request: VersionActivate) -> VersionMoved:
        """Put a version in use for the episodes that follow.

        Raises:
            Conflict: the epoch is another than the given one, or somebody else was faster.
        """
        bundle, before = await self.id_of(request.version), await self._champions.champion()
        if request.epoch is not None and request.epoch != before.epoch:
            message = f"the version in use is {before.bundle} at epoch {before.epoch}, not {request.epoch}"
            raise Conflict(message, bundle=before.bundle, epoch=before.epoch)
        if before.bundle == bundle:
            return self._moved(before, before)
        return self._moved(before, await self._champions.promote(expected=before, bundle=bundle))

    async def roll_back(self, request: VersionRollBack) -> VersionMoved:
        """Put the version before in use again, or an earlier one.

        Raises:
            BadArguments: there is none before, or the named one was not in use.
            Conflict: somebody else was faster.
        """
        to = None if request.version is None else await self.id_of(request.version)
        before = await self._champions.champion()
        return self._moved(before, await self._champions.roll_back(to=to))

    async def id_of(self, word: str) -> str:
        """The id that is meant."""
        in_use = (await self._champions.champion()).bundle if word == IN_USE else ""
        return find_version(word, self._folder.adapters, in_use=in_use, built_in=self._champions.built_in)

    async def files(self, word: str) -> Mapping[str, bytes]:
        """The files of a version."""
        return files_of(await self.id_of(word), self._folder.adapters)

    def _moved(self, before: Champion, after: Champion) -> VersionMoved:
        return VersionMoved(bundle=after.bundle, epoch=after.epoch, before=_in_use(before), fixed=self._fixed)


def _in_use(champion: Champion) -> VersionInUse:
    return VersionInUse(bundle=champion.bundle, epoch=champion.epoch)


def _told(reign: Reign) -> VersionReign:
    return msgspec.convert(msgspec.to_builtins(reign), VersionReign)
