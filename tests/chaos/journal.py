"""What an agent of the chaos runs meant to do and what was acknowledged: lines of JSON that outlive its process."""

import os
from pathlib import Path

import msgspec


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call that changes something."""

    number: int
    kind: str
    """`say`, `check`, `plan`, `claim` or `release`."""

    word: str
    """Unique in the run: text of the message, name of the theorem or part; for a release the part."""

    fence: int = 0
    """Of the lease that a release gives back."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of an operation, or its end."""

    operation: Operation
    outcome: str = ""
    """Empty at the beginning; `done`, or the code of an error that is no reason to try again."""

    fence: int = 0
    node: str = ""


class Journal:
    """The file of one agent."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, entry: Entry) -> None:
        """Append an entry; it is in the file even when this process is killed right after."""
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, msgspec.json.encode(entry) + b"\n")
        os.close(file)

    def read(self) -> list[Entry]:
        """Return everything that was written whole."""
        lines = self._path.read_bytes().split(b"\n")[:-1] if self._path.exists() else []
        return [msgspec.json.decode(line, type=Entry) for line in lines]
