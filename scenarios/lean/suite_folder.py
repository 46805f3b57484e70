"""The folder of a suite: what was asked for, one record per episode, what is kept of each, and the summary."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from bus.errors import BadArguments
from bus.messages import Event
from bus.records import Caps, EpisodeRecord, Task

from .run_folder import read_order, write_whole
from .team import Hosting

FORMAT = "adapter-server suite 1"
Mode = Literal["full", "unshared", "isolated"]
"""full: a team. unshared: a team whose members do not use each other's lemmas. isolated: each on its own, at once."""


class SuiteOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for: enough to go on after an interruption."""

    format: str = FORMAT
    arm: str = ""
    """Its name in a comparison."""
    tasks: list[Task]
    team: str
    mode: Mode = "full"
    roles: tuple[str, ...] = ()
    """Roles that the members ask for; without it the adapter version decides."""
    seed: int = 0
    caps: Caps
    """Of each episode."""
    jobs: int = 1
    """Episodes at a time."""
    adapter: str = ""
    """Folder of the adapter version; empty for the one that ships with the server."""
    hosting: Hosting = Hosting()
    project: str = ""
    """Lake project that the problems are from; empty when they need none."""


class SuiteFolder(msgspec.Struct, frozen=True):
    """Names inside a suite's folder."""

    path: Path

    @property
    def order_file(self) -> Path:
        """What was asked for."""
        return self.path / "suite.json"

    @property
    def work(self) -> Path:
        """Server and run folders of the episodes under way; removed afterwards."""
        return self.path / "work"

    @property
    def page_file(self) -> Path:
        """The report."""
        return self.path / "report.html"

    @property
    def summary_file(self) -> Path:
        """The counts as JSON."""
        return self.path / "summary.json"

    def record_file(self, task: str) -> Path:
        """The record of a task's episode."""
        return self.path / "records" / f"{slug(task)}.json"

    def kept(self, task: str) -> Path:
        """What is kept of a task's episode: events, proof, certificate and the modules that it names."""
        return self.path / "kept" / slug(task)

    def order(self) -> SuiteOrder:
        """What was asked for.

        Raises:
            BadArguments: the folder holds no suite, or one of another version.
        """
        order = read_order(self.order_file, SuiteOrder, what="suite")
        if order.format != FORMAT:
            raise BadArguments(f"{self.path} was made by another version: {order.format}")
        return order

    def save_record(self, record: EpisodeRecord) -> None:
        """Keep a record; from now on the episode counts as done."""
        file = self.record_file(record.task)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, msgspec.json.format(msgspec.json.encode(record), indent=1).decode() + "\n")

    def record(self, task: str) -> EpisodeRecord:
        """The record of a task that is done."""
        return msgspec.json.decode(self.record_file(task).read_bytes(), type=EpisodeRecord)

    def records(self, tasks: Sequence[Task]) -> dict[str, EpisodeRecord]:
        """Records of the tasks that are done, by task id."""
        return {task.id: self.record(task.id) for task in tasks if self.record_file(task.id).exists()}

    def events(self, task: str) -> list[list[Event]]:
        """The kept events of a task's episode; several lists when its agents were isolated."""
        files = sorted(self.kept(task).glob("events*.jsonl.gz"))
        return [
            [msgspec.json.decode(line, type=Event) for line in gzip.decompress(file.read_bytes()).splitlines()]
            for file in files
        ]

    def disk_bytes(self) -> int:
        """How much the folder holds now."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())


def new_suite_folder(path: Path, order: SuiteOrder) -> SuiteFolder:
    """Make the folder of a new suite.

    Raises:
        BadArguments: it exists and is not empty, or cannot be written.
    """
    folder = SuiteFolder(path.expanduser().absolute())
    if folder.order_file.exists():
        hint = "add --resume to go on with it, or name another folder with --out"
        raise BadArguments(f"{path} holds a suite already", hint=hint)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        if any(folder.path.iterdir()):
            raise BadArguments(f"{path} is not empty", hint="name an empty or a new folder with --out")
        write_whole(folder.order_file, msgspec.json.format(msgspec.json.encode(order), indent=1).decode() + "\n")
    except OSError as error:
        raise BadArguments(f"cannot make the suite folder {path}: {error.strerror or error}") from None
    return folder


def slug(task: str) -> str:
    """A task id as a file name."""
    return task.replace("/", "__")
