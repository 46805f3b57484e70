"""`adapter-server adapter`: adapter versions on disk, and which of them new episodes get."""

import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import anyio
import msgspec

from adapter_server.bundle import MAX_BUNDLE_BYTES, Bundle, default_bundle_folder, read_bundle
from adapter_server.champion import open_champions
from adapter_server.data_folder import DataFolder, open_data_folder
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from adapter_server.staging import read_files, stage_bundle, stage_files
from adapter_server.tar_files import read_tar, write_tar
from adapter_server.version_desk import VersionDesk
from adapter_server.versions import differences, facts_of, files_of, shown
from bus.errors import BadArguments, UnknownId
from bus.versions import VersionActivate, VersionMoved, VersionRollBack, VersionRow, VersionsList
from clients.plugin import KINDS, plugin_files

from .exit_codes import OK

T = TypeVar("T")
_TAR = (".tar", ".gz", ".tgz")


class AdapterCommands:
    """The commands on one data folder. Each prints, and returns the exit code."""

    def __init__(self, settings: Settings, *, is_json: bool) -> None:
        configure_logs(level="warning")
        self._settings = settings
        self._is_json = is_json
        self._folder: DataFolder = open_data_folder(settings.data_path)
        stage_bundle(default_bundle_folder(), self._folder.adapters)

    def list_all(self) -> int:
        """Print every version and what it is to new episodes."""
        listed = self._ask(lambda desk: desk.list_all(VersionsList()))
        return self._tell(listed, "\n".join(_row(row) for row in listed.versions))

    def show(self, word: str, file: str | None) -> int:
        """Print a version at a glance, or one of its files as it is.

        Raises:
            UnknownId, BadDataFolder: there is no such version or file, or the version is not whole.
        """
        files = self._files(word)
        if file is None:
            bundle = read_bundle(files)
            return self._tell(facts_of(bundle), _glance(bundle))
        if file not in files:
            raise UnknownId(f"the version has no file {file}", nearest=sorted(files))
        text = files[file].decode()
        return self._tell({"path": file, "text": text}, text.rstrip("\n"))

    def diff(self, before: str, after: str) -> int:
        """Print where two versions, staged ones or folders, differ.

        Raises:
            UnknownId, BadDataFolder: one of them is not there or not whole.
        """
        found = list(differences(self._files(before), self._files(after)))
        lines = [line for one in found for line in (f"{one.change} {one.path}", *(f"  {line}" for line in one.diff))]
        return self._tell({"from": before, "to": after, "files": found}, "\n".join(lines) or "no difference")

    def stage(self, source: Path) -> int:
        """Check the version in a folder and keep a copy.

        Raises:
            BadDataFolder: it is refused, with the reason.
        """
        return self._staged(read_files(source.expanduser()), source)

    def bring(self, source: Path) -> int:
        """The same from a file that `export` has written.

        Raises:
            BadArguments, BadDataFolder: it is refused, with the reason.
        """
        return self._staged(read_tar(source.expanduser(), max_bytes=MAX_BUNDLE_BYTES), source)

    def export(self, word: str, target: Path, host: str | None) -> int:
        """Write a version to a new folder or file, or as a plugin of a host.

        Raises:
            BadArguments: an unknown host, or the target is there already or cannot be written.
            UnknownId, BadDataFolder: there is no such version, or it is not whole.
        """
        if host is not None and host not in KINDS:
            raise BadArguments(f"there is no host {host}", hint=f"hosts are {', '.join(KINDS)}")
        files = self._files(word)
        bundle = read_bundle(files)
        if host is not None:
            files = plugin_files(
                host, version=bundle.id, prompts=bundle.prompts, skills=bundle.skills, source=files
            )  # fmt: skip
        target = target.expanduser()
        if host is None and target.suffix in _TAR:
            write_tar(target, files)
        else:
            _lay_out(target, files)
        return self._tell({"id": bundle.id, "host": host, "target": str(target)}, f"{shown(bundle.id)} is in {target}")

    def activate(self, word: str, epoch: int | None) -> int:
        """Put a version in use for the episodes that follow.

        Raises:
            Conflict: the epoch is another than the given one, or somebody else was faster.
            UnknownId, BadDataFolder: there is no such version, or it is not whole.
        """
        request = VersionActivate(version=word, epoch=epoch)
        return self._moved(self._ask(lambda desk: desk.activate(request)))

    def roll_back(self, word: str | None) -> int:
        """Put the version before in use again, or an earlier one.

        Raises:
            BadArguments: there is none before, or the named one was not in use.
            Conflict, UnknownId, BadDataFolder: as `activate`.
        """
        return self._moved(self._ask(lambda desk: desk.roll_back(VersionRollBack(version=word))))

    def _ask(self, work: Callable[[VersionDesk], Awaitable[T]]) -> T:
        """Let the desk work on the store, that of the running server or one that runs meanwhile."""
        note = self._folder.server()

        async def ask() -> T:
            async with open_champions(self._settings) as champions:
                return await work(VersionDesk(self._folder, champions, fixed=note.adapter if note else ""))

        return anyio.run(ask)

    def _files(self, word: str) -> Mapping[str, bytes]:
        """The files of a version; what has a slash in it, or is a folder, is a folder."""
        path = Path(word).expanduser()
        if "/" in word or path.is_dir():
            return files_of(path, self._folder.adapters)
        return self._ask(lambda desk: desk.files(word))

    def _staged(self, files: Mapping[str, bytes], source: Path) -> int:
        bundle = stage_files(files, self._folder.adapters, place=f"adapter version in {source}")
        return self._tell({"id": bundle.id, "name": bundle.manifest.name}, bundle.id)

    def _moved(self, moved: VersionMoved) -> int:
        before = moved.before
        told = f"new episodes get {shown(moved.bundle)}, epoch {moved.epoch}; before it was {shown(before.bundle)}"
        if (moved.bundle, moved.epoch) == (before.bundle, before.epoch):
            told = f"{shown(moved.bundle)} is in use already, epoch {moved.epoch}"
        if moved.fixed:
            print(f"but the server on this data folder gives all of them {shown(moved.fixed)}", file=sys.stderr)
        return self._tell(moved, told)

    def _tell(self, facts: object, text: str) -> int:
        print(msgspec.json.encode(facts).decode() if self._is_json else text)
        return OK


def _row(row: VersionRow) -> str:
    epochs = f"epoch {', '.join(map(str, row.epochs))}" if row.epochs else ""
    notes = [row.state, epochs, "built-in" if row.is_built_in else "", row.problem]
    return f"{shown(row.id)}  {row.name or '?':12}  {', '.join(note for note in notes if note)}"


def _glance(bundle: Bundle) -> str:
    disabled = [name for name in bundle.manifest.contracts if name not in bundle.tools]
    sizes = {f"prompts/{name}.md": text for name, text in bundle.prompts.items()}
    sizes |= {f"skills/{name}/SKILL.md": text for name, text in bundle.skills.items()}
    lines = [f"{bundle.id}  {bundle.manifest.name}", f"tools: {', '.join(bundle.tools)}"]
    lines += [f"disabled: {', '.join(disabled)}"] if disabled else []
    lines += [f"{path}: {len(text.encode())} bytes" for path, text in sorted(sizes.items())]
    return "\n".join([*lines, "policy.json: " + msgspec.json.encode(bundle.policy).decode()])


def _lay_out(target: Path, files: Mapping[str, bytes]) -> None:
    """Write the files to a new folder, all or none."""
    if target.exists():
        raise BadArguments(f"{target} is there already", hint="choose another folder")
    incoming = target.with_name(f".{target.name}-{uuid4().hex}")
    try:
        for path, content in files.items():
            file = incoming / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        incoming.rename(target)
    except OSError as error:
        raise BadArguments(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(incoming, ignore_errors=True)
