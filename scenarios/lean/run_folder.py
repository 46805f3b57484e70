"""The folder of one run: what was asked for, what the server keeps, what the agents said, how it ended."""

import json
import re
import secrets
import shutil
from pathlib import Path
from typing import TypeVar

import msgspec

from bus.errors import BadArguments
from bus.messages import Event

from .run_record import FORMAT, RunOrder, RunRecord

T = TypeVar("T")


class RunFolder(msgspec.Struct, frozen=True):
    """Names inside a run folder."""

    path: Path

    @property
    def order_file(self) -> Path:
        """What was asked for."""
        return self.path / "run.json"

    @property
    def problem_file(self) -> Path:
        """The Lean text of the problem."""
        return self.path / "problem.lean"

    @property
    def data(self) -> Path:
        """Data folder of the run's own server."""
        return self.path / "server"

    @property
    def server_log(self) -> Path:
        """Log of the run's own server."""
        return self.path / "server.log"

    @property
    def nursery_log(self) -> Path:
        """Log of the run's own nursery; those of the agents are beside it in a folder."""
        return self.path / "nursery.log"

    @property
    def events_file(self) -> Path:
        """The episode's events, one JSON object a line."""
        return self.path / "events.jsonl"

    @property
    def record_file(self) -> Path:
        """How the run ended."""
        return self.path / "record.json"

    @property
    def proof_file(self) -> Path:
        """The assembled proof, when solved."""
        return self.path / "proof.lean"

    @property
    def calls_file(self) -> Path:
        """Every tool call of every agent, as its host saw it and as the server did."""
        return self.path / "calls.jsonl"

    @property
    def agent_logs(self) -> Path:
        """Folder with what the agents wrote, NAME.log each."""
        return self.path / "agents"

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)

    def save_order(self, order: RunOrder) -> None:
        """Keep what was asked for."""
        write_whole(self.order_file, _pretty(order))

    def order(self) -> RunOrder:
        """What was asked for.

        Raises:
            BadArguments: the folder holds no run, or one of another version.
        """
        order = read_order(self.order_file, RunOrder, what="run")
        if order.format != FORMAT:
            raise BadArguments(f"{self.path} was made by another version: {order.format}")
        return order

    def save_record(self, record: RunRecord) -> None:
        """Keep how the run ended."""
        write_whole(self.record_file, _pretty(record))

    def record(self) -> RunRecord | None:
        """How the run ended, if it did."""
        try:
            return msgspec.json.decode(self.record_file.read_bytes(), type=RunRecord)
        except (OSError, msgspec.DecodeError):
            return None

    def last_seq(self) -> int:
        """Number of the last event that is kept; a line that a crash cut off is removed."""
        try:
            lines = self.events_file.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return 0
        while lines:
            try:
                return msgspec.json.decode(lines[-1], type=Event).seq
            except msgspec.DecodeError:
                lines.pop()
                self.events_file.write_bytes(b"".join(lines))
        return 0

    def keep_event(self, event: Event) -> None:
        """Append an event."""
        with self.events_file.open("ab") as file:
            file.write(msgspec.json.encode(event) + b"\n")

    def events(self) -> list[Event]:
        """The kept events."""
        if not self.events_file.exists():
            return []
        return [msgspec.json.decode(line, type=Event) for line in self.events_file.read_bytes().splitlines()]


def new_run_folder(path: Path, order: RunOrder) -> RunFolder:
    """Make the folder of a new run.

    Raises:
        BadArguments: it exists and is not empty, or cannot be written.
    """
    folder = RunFolder(path.expanduser().absolute())
    if folder.order_file.exists():
        hint = f"continue it with --resume {path}, or name another folder with --out"
        raise BadArguments(f"{path} holds a run already", hint=hint)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        if any(folder.path.iterdir()):
            raise BadArguments(f"{path} is not empty", hint="name an empty or a new folder with --out")
        folder.problem_file.write_text(order.problem.source, encoding="utf-8")
        folder.save_order(order)
    except OSError as error:
        raise BadArguments(f"cannot make the run folder {path}: {error.strerror or error}") from None
    return folder


def free_path(parent: Path, stem: str) -> Path:
    """`parent/stem-N` with the smallest N that is higher than every one taken."""
    pattern = re.compile(re.escape(stem) + r"-([0-9]+)")
    names = [entry.name for entry in parent.iterdir()] if parent.is_dir() else []
    taken = [int(match[1]) for name in names if (match := pattern.fullmatch(name))]
    return parent / f"{stem}-{max(taken, default=0) + 1}"


def read_order(file: Path, kind: type[T], *, what: str) -> T:
    """What was asked for, from the file that a folder keeps of it.

    Raises:
        BadArguments: the folder holds nothing of the kind, or it cannot be understood.
    """
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except OSError:
        raise BadArguments(f"{file.parent} holds no {what}: there is no {file.name} in it") from None
    except msgspec.DecodeError as error:
        raise BadArguments(f"{file} cannot be understood: {error}") from None


def _pretty(value: msgspec.Struct) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=2) + "\n"


def write_whole(path: Path, text: str) -> None:
    """Write a file so that others see all of it or none."""
    draft = path.with_name(f".new-{path.name}-{secrets.token_hex(4)}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
