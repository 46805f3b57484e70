"""Episodes as files: everything that belongs to one in a tar archive, with a digest of each part."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import msgspec

from blackboard.archive import EpisodeArchive
from blackboard.board import Board
from blackboard.chain import Entry
from blackboard.keys import is_episode_id
from bus.errors import BadArguments, Duplicate
from lemma_store.in_redis import LemmaIndex
from lemma_store.types import Lemma

from .bundle import bundle_id
from .data_folder import DataFolder
from .staging import stage_files
from .tar_files import read_tar, write_tar

FORMAT = "adapter-server episode 1"
MANIFEST, EVENTS, KEYS, LEMMAS = "manifest.json", "events.jsonl", "state.json", "lemmas.jsonl"
FOLDER, ADAPTERS = "folder/", "adapters/"
MAX_BYTES = 4 << 30

T = TypeVar("T")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What an archive contains.

    Attributes:
        format: version of the layout.
        episode: id of the episode.
        bundle: id of its adapter version.
        seq: number of its last event.
        files: path in the archive → SHA-256 of the content.
    """

    format: str
    episode: str
    bundle: str
    seq: int
    files: dict[str, str]


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the log; the body is text, because the chain seals it byte for byte."""

    seq: int
    kind: str
    actor: str
    at_ms: str
    body: str
    prev: str
    hash: str


async def export_episode(
    episode: str, target: Path, *, board: Board, index: LemmaIndex, folder: DataFolder
) -> Manifest:
    """Write an episode to a new file.

    Raises:
        UnknownId: there is no such episode.
        BadArguments: the file is there already.
    """
    archive = await board.archive(episode)
    bundle = (await board.meta(episode)).bundle
    # Modules are on the disk before the index names them, so the folder is read after the index.
    lemmas = await index.all(episode)
    parts = {
        EVENTS: b"".join(msgspec.json.encode(_line(entry)) + b"\n" for entry in archive.entries),
        KEYS: msgspec.json.encode(archive.keys),
        LEMMAS: b"".join(msgspec.json.encode(lemma) + b"\n" for lemma in lemmas),
    }
    parts |= dict(_files(folder.episodes / episode, FOLDER))
    parts |= dict(_files(folder.adapters / bundle, f"{ADAPTERS}{bundle}/"))
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in parts.items()}
    seq = archive.entries[-1].seq if archive.entries else 0
    manifest = Manifest(format=FORMAT, episode=episode, bundle=bundle, seq=seq, files=digests)
    write_tar(target, {MANIFEST: msgspec.json.format(msgspec.json.encode(manifest))} | parts)
    return manifest


async def import_episode(source: Path, *, board: Board, index: LemmaIndex, folder: DataFolder) -> Manifest:
    """Put an episode into a data folder under its id; all of it, or nothing.

    Raises:
        BadArguments: the file is no archive, or a part of it is not what the manifest or the log's chain says.
        Duplicate: an episode with the id is there.
    """
    manifest, parts = _read(source)
    target = folder.episodes / manifest.episode
    if target.exists():
        raise Duplicate(f"there is an episode {manifest.episode} already", id=manifest.episode)
    archive = _archive(manifest, parts)
    lemmas = _decode_lines(parts[LEMMAS], Lemma)
    _stage_version(manifest.bundle, parts, folder)
    incoming = folder.scratch / f"import-{uuid4().hex}"
    try:
        _lay_out(incoming, parts, FOLDER)
        await board.restore(archive)
        try:
            for lemma in lemmas:
                await index.put(manifest.episode, lemma)
            incoming.rename(target)
        except BaseException:
            await board.discard(archive)
            raise
    finally:
        shutil.rmtree(incoming, ignore_errors=True)
    return manifest


def _line(entry: Entry) -> _Line:
    fields = {name: getattr(entry, name) for name in Entry.__struct_fields__}
    return msgspec.convert(fields | {"body": entry.body.decode()}, _Line)


def _entry(line: _Line) -> Entry:
    fields = {name: getattr(line, name) for name in Entry.__struct_fields__}
    return msgspec.convert(fields | {"body": line.body.encode()}, Entry)


def _archive(manifest: Manifest, parts: Mapping[str, bytes]) -> EpisodeArchive:
    lines = _decode_lines(parts[EVENTS], _Line)
    entries = tuple(_entry(line) for line in lines)
    if (entries[-1].seq if entries else 0) != manifest.seq:
        raise BadArguments(f"the log does not end with event {manifest.seq}", hint="export the episode again")
    return EpisodeArchive(
        episode=manifest.episode, entries=entries, keys=msgspec.json.decode(parts[KEYS], type=dict[str, bytes])
    )


def _decode_lines(data: bytes, kind: type[T]) -> list[T]:
    return [msgspec.json.decode(line, type=kind) for line in data.splitlines() if line]


def _stage_version(bundle: str, parts: Mapping[str, bytes], folder: DataFolder) -> None:
    prefix = f"{ADAPTERS}{bundle}/"
    files = {path.removeprefix(prefix): content for path, content in parts.items() if path.startswith(prefix)}
    if bundle_id(files) != bundle:
        raise BadArguments(f"the archive does not hold the adapter version {bundle}", hint="export the episode again")
    stage_files(files, folder.adapters)


def _files(folder: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    """All ordinary files below a folder; what running checks keep there for themselves is left out."""
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.is_file() and not path.is_symlink() and not inner.parts[0].startswith("judge-"):
            yield prefix + inner.as_posix(), path.read_bytes()


def _lay_out(target: Path, parts: Mapping[str, bytes], prefix: str) -> None:
    target.mkdir(mode=0o700, parents=True)
    for path, content in parts.items():
        if path.startswith(prefix):
            file = target / path.removeprefix(prefix)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())


def _read(source: Path) -> tuple[Manifest, dict[str, bytes]]:
    parts = read_tar(source, max_bytes=MAX_BYTES)
    try:
        manifest = msgspec.json.decode(parts.pop(MANIFEST), type=Manifest)
    except (KeyError, msgspec.DecodeError) as error:
        raise BadArguments(f"{source} is no archive of an episode: {error}") from error
    if manifest.format != FORMAT or not is_episode_id(manifest.episode):
        raise BadArguments(f"{source} is of another version: {manifest.format[:80]!r}")
    changed = [
        path
        for path in sorted(manifest.files.keys() | parts.keys())
        if path not in parts or hashlib.sha256(parts[path]).hexdigest() != manifest.files.get(path)
    ]
    if changed or not {EVENTS, KEYS, LEMMAS} <= parts.keys():
        raise BadArguments(f"{source} was damaged: {', '.join(changed[:3])}", hint="export the episode again")
    return manifest, parts
