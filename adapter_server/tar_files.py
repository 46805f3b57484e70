"""Files in a tar archive: written whole or not at all, read without trust."""

import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from uuid import uuid4

from bus.errors import BadArguments


def write_tar(target: Path, parts: Mapping[str, bytes]) -> None:
    """Write path → content to a new archive, compressed when its name ends in .gz or .tgz.

    Raises:
        BadArguments: the file is there already, or cannot be written.
    """
    if target.exists():
        raise BadArguments(f"{target} is there already", hint="choose another file")
    incoming = target.with_name(f".{target.name}-{uuid4().hex}")
    try:
        with tarfile.open(incoming, "w:gz" if target.suffix in (".gz", ".tgz") else "w") as tar:
            for path, content in parts.items():
                member = tarfile.TarInfo(path)
                member.size, member.mode = len(content), 0o600
                tar.addfile(member, io.BytesIO(content))
        incoming.rename(target)
    except OSError as error:
        raise BadArguments(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        incoming.unlink(missing_ok=True)


def read_tar(source: Path, *, max_bytes: int) -> dict[str, bytes]:
    """Read path → content; nothing is written, so that no name in it can lead anywhere.

    Raises:
        BadArguments: it cannot be read, is too large, has a name twice, an absolute one or one with `..`, or something
            that is no plain file.
    """
    try:
        with tarfile.open(source) as tar:
            return dict(_members(tar, max_bytes))
    except (OSError, tarfile.TarError, EOFError) as error:
        raise BadArguments(f"{source} is not such an archive: {error}") from error


def _members(tar: tarfile.TarFile, left: int) -> Iterator[tuple[str, bytes]]:
    seen: set[str] = set()
    for member in tar:
        path = PurePosixPath(member.name)
        left -= member.size
        file = tar.extractfile(member) if member.isreg() else None
        if file is None or path.is_absolute() or ".." in path.parts or left < 0 or path.as_posix() in seen:
            raise tarfile.TarError(f"{member.name[:80]!r} does not belong into it")
        seen.add(path.as_posix())
        yield path.as_posix(), file.read()
