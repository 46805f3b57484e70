"""Adapter versions as an operator sees them: which there are, what is in one, how two differ."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from blackboard.lineage import Reign
from bus.errors import BadDataFolder, UnknownId
from bus.versions import FileChange, VersionFacts, VersionRow, VersionState

from .bundle import Bundle, read_bundle
from .champion import Champion
from .staging import open_bundle, read_files, staged_ids

BUILT_IN, IN_USE = "built-in", "in-use"
_ID_START = re.compile(r"(ab1-)?[0-9a-f]{4,64}")
_ID_SHOWN = 16
"""Characters of an id that people are shown; commands take any unique start of at least four digits."""


def version_rows(adapters: Path, champion: Champion, reigns: Sequence[Reign], *, built_in: str) -> list[VersionRow]:
    """Every staged version; the one in use first, then those that were, the latest first."""
    epochs: dict[str, list[int]] = {built_in: [0]}
    for reign in reigns:
        epochs.setdefault(reign.bundle, []).append(reign.epoch)
    rows: list[VersionRow] = []
    for version in staged_ids(adapters):
        state: VersionState = (
            "in use" if version == champion.bundle else "was in use" if version in epochs else "staged"
        )
        name, problem = "", ""
        try:
            name = open_bundle(adapters, version).manifest.name
        except BadDataFolder as error:
            state, problem = "unusable", error.message
        rows.append(
            VersionRow(
                id=version, name=name, state=state, epochs=epochs.get(version, []), is_built_in=version == built_in,
                problem=problem,
            )
        )  # fmt: skip
    return sorted(rows, key=lambda row: (row.id != champion.bundle, -max(row.epochs, default=-1), row.id))


def find_version(word: str, adapters: Path, *, in_use: str, built_in: str) -> str:
    """The id that is meant: `in-use`, `built-in`, or the start of an id.

    Raises:
        UnknownId: none or several begin so.
    """
    if word in (IN_USE, BUILT_IN):
        return in_use if word == IN_USE else built_in
    staged = staged_ids(adapters)
    start = word if word.startswith("ab1-") else f"ab1-{word}"
    found = [version for version in staged if version.startswith(start)] if _ID_START.fullmatch(word) else []
    if len(found) != 1:
        what = "several adapter versions begin" if found else "no adapter version begins"
        raise UnknownId(
            f"{what} with {word!r}", hint="`adapter-server adapter list` shows them", nearest=(found or staged)[:3]
        )
    return found[0]


def files_of(source: Path | str, adapters: Path) -> dict[str, bytes]:
    """The files of a staged version by its id, or of a folder; checked.

    Raises:
        UnknownId, BadDataFolder: there is none, or it is not whole.
    """
    if isinstance(source, Path):
        files = read_files(source)
        read_bundle(files, place=f"adapter version in {source}")
        return files
    open_bundle(adapters, source)
    return read_files(adapters / source)


def differences(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Iterator[FileChange]:
    """Where two versions differ, by path."""
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        change = "added" if old is None else "removed" if new is None else "changed"
        lines = difflib.unified_diff(
            (old or b"").decode().splitlines(), (new or b"").decode().splitlines(), lineterm="", n=1
        )
        yield FileChange(path=path, change=change, diff=list(lines)[2:])


def facts_of(bundle: Bundle) -> VersionFacts:
    """A version at a glance."""
    return VersionFacts(
        id=bundle.id,
        name=bundle.manifest.name,
        tools={name: words.title for name, words in bundle.tools.items()},
        disabled=[name for name in bundle.manifest.contracts if name not in bundle.tools],
        policy=msgspec.to_builtins(bundle.policy),
        prompts={name: len(text.encode()) for name, text in sorted(bundle.prompts.items())},
        skills={name: len(text.encode()) for name, text in sorted(bundle.skills.items())},
    )


def shown(version: str) -> str:
    """An id as people read it."""
    return version[:_ID_SHOWN]
