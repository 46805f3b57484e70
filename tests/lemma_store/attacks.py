"""Attacks on the sandbox from inside: a callable runs in the place of Lean, with all that Lean could do."""

import ctypes
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

import msgspec
import pytest

from lemma_store.lean import sandbox
from lemma_store.lean.forkchild import guard
from lemma_store.lean.jobs import HEADER_BYTES, Confinement, Job, JobReport, Limits, decode_report, encode, frame

MACHINE = sandbox.probe().confinement
FULL = MACHINE
WITHOUT_NAMESPACES = msgspec.structs.replace(MACHINE, is_isolated=False)
NAMESPACES_ONLY = Confinement(is_isolated=MACHINE.is_isolated)
NOTHING = Confinement()

Action = Callable[[], int]

needs_namespaces = pytest.mark.skipif(not MACHINE.is_isolated, reason="this machine grants no user namespaces")
needs_landlock = pytest.mark.skipif(not MACHINE.landlock, reason="this kernel offers no Landlock")
layers = [
    pytest.param(FULL, id="all layers"),
    pytest.param(WITHOUT_NAMESPACES, id="without namespaces", marks=needs_landlock),
    pytest.param(NAMESPACES_ONLY, id="namespaces only", marks=needs_namespaces),
]
filtered = layers[:2]


class Attack:
    """Stands where Lean's library stands; Lean's entry point becomes the attack."""

    def __init__(self, action: Action) -> None:
        self._action = action

    def lean_main(self, _count: int, _arguments: object) -> int:
        return self._action()


class Attempt(msgspec.Struct, kw_only=True):
    """A guardian at work."""

    pid: int
    reply: int
    control: int

    def report(self) -> JobReport:
        with os.fdopen(self.reply, "rb") as file:
            data = file.read()
        os.close(self.control)
        os.waitpid(self.pid, 0)
        return decode_report(data[HEADER_BYTES:])


def start(
    action: Action,
    *,
    scratch: Path,
    confinement: Confinement = FULL,
    limits: Limits | None = None,
    lean_path: tuple[str, ...] = (),
) -> Attempt:
    job = Job(
        id=1,
        module="Attack",
        source=b"-- text\n",
        lean_path=lean_path,
        options=(),
        wants_artifact=True,
        limits=limits or Limits(wall_ms=10_000),
        confinement=confinement,
    )
    question_end, question = os.pipe()
    reply, reply_end = os.pipe()
    control_end, control = os.pipe()
    if (pid := os.fork()) == 0:
        guard(
            job.setting,
            lean=cast(ctypes.CDLL, Attack(action)),
            scratch=str(scratch),
            question=question_end,
            reply=reply_end,
            control=control_end,
            foreign=(question, reply, control),
        )
    with os.fdopen(question, "wb") as file:
        file.write(frame(encode(job)))
    os.close(question_end)
    os.close(reply_end)
    os.close(control_end)
    return Attempt(pid=pid, reply=reply, control=control)


def attack(action: Action, **options: object) -> JobReport:
    return start(action, **options).report()  # pyright: ignore[reportArgumentType]


def say(text: object) -> int:
    os.write(1, f"{text}\n".encode())
    return 0


def tried(*attempts: Callable[[], object]) -> Action:
    """Try each and print what came of it: the name of the error, or `done`."""

    def action() -> int:
        for attempt in attempts:
            try:
                attempt()
            except OSError as error:
                say(type(error).__name__)
            else:
                say("done")
        return 0

    return action


def listed(folder: str | Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in Path(folder).iterdir())


def names_of_living() -> set[str]:
    """The names of all processes, as they call themselves."""
    names: set[str] = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            names.add((entry / "comm").read_text().strip())
    return names


def only_child(parent: int, *, name: str) -> int:
    """Wait until the child of a process has given itself a name."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            with suppress(OSError):
                if Path(f"/proc/{child}/comm").read_text().strip() == name:
                    return int(child)
    raise AssertionError("the child never started")
