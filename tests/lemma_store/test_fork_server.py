"""Elaboration in forked children: what comes back, in what order, and what is left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from bus.errors import LeanUnavailable, NoSandbox, QueueFull
from lemma_store.lean import elaboration as elaborations
from lemma_store.lean.core_library import CoreLibrary
from lemma_store.lean.elaboration import Elaboration, ForkServer
from lemma_store.lean.jobs import Confinement
from lemma_store.lean.sandbox import SandboxReport
from lemma_store.lean.toolchain import LIBRARY_SHA256, Toolchain, find_toolchain, verify_toolchain
from tests.lemma_store.lean_files import (
    ENDLESS,
    GOOD,
    HEADER,
    descriptors,
    endless,
    file,
    files_below,
    running_processes,
    until_dead,
    until_one_waits,
)

pytestmark = pytest.mark.anyio


async def test_checks_run_at_once_and_wait_their_turn(lean: ForkServer, core: CoreLibrary):
    outcomes: list[str] = []

    async def run(elaboration: Elaboration) -> None:
        outcomes.append((await lean.run(elaboration)).outcome)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, endless(core))
            async with anyio.create_task_group() as others:
                for _ in range(6):
                    others.start_soon(run, file(GOOD, core))
            tasks.cancel_scope.cancel()

    assert outcomes == ["finished"] * 6


async def test_a_full_queue_refuses_at_once(toolchain: Toolchain, core: CoreLibrary, tmp_path: Path):
    async with (
        ForkServer(toolchain, scratch=tmp_path, is_wrapped=False, workers=1, queue=2) as lean,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(3):
            tasks.start_soon(lean.run, endless(core))
        await running_processes(lean.pid)

        with pytest.raises(QueueFull):
            await lean.run(file(GOOD, core))

        tasks.cancel_scope.cancel()


async def test_cancelling_kills_the_check_and_frees_its_worker(toolchain: Toolchain, core: CoreLibrary, tmp_path: Path):
    async with ForkServer(toolchain, scratch=tmp_path, is_wrapped=False, workers=1) as lean:
        processes: list[int] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lean.run, endless(core))
            processes += await running_processes(lean.pid)
            tasks.cancel_scope.cancel()

        for process in processes:
            await until_dead(process)
        with anyio.fail_after(5):
            assert (await lean.run(file(GOOD, core))).outcome == "finished"


async def test_a_killed_fork_server_is_replaced_and_leaves_nothing(lean: ForkServer, core: CoreLibrary):
    outcomes: list[str] = []
    processes: list[int] = []

    async def run() -> None:
        outcomes.append((await lean.run(endless(core))).outcome)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        processes += await running_processes(lean.pid)
        assert lean.pid
        os.kill(lean.pid, signal.SIGKILL)

    assert outcomes == ["crashed"]
    for process in processes:
        await until_dead(process)
    assert (await lean.run(file(GOOD, core))).outcome == "finished"


async def test_a_killed_guardian_is_a_crash_of_its_check_only(lean: ForkServer, core: CoreLibrary):
    outcomes: list[str] = []
    processes: list[int] = []
    before = lean.pid

    async def run() -> None:
        outcomes.append((await lean.run(endless(core))).outcome)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        processes += await running_processes(lean.pid)
        os.kill(processes[0], signal.SIGKILL)

    await until_dead(processes[1])
    assert outcomes == ["crashed"]
    assert (await lean.run(file(GOOD, core))).outcome == "finished"
    assert lean.pid == before


def folders_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


DAEMON = """
import sys, anyio
from pathlib import Path
from lemma_store.lean.elaboration import Elaboration, ForkServer
from lemma_store.lean.toolchain import find_toolchain
source, folder, scratch = sys.argv[1:]
async def main():
    async with ForkServer(find_toolchain(), scratch=Path(scratch), is_wrapped=False) as lean:
        print(lean.pid, flush=True)
        await lean.run(Elaboration(source=source.encode(), lean_path=(folder,), heartbeats=0, wall_ms=60_000))
anyio.run(main)
"""


async def test_nothing_survives_the_death_of_the_daemon(core: CoreLibrary, tmp_path: Path):
    command = [sys.executable, "-c", DAEMON, HEADER + ENDLESS, str(core.folder), str(tmp_path)]
    async with await anyio.open_process(command, stderr=subprocess.DEVNULL) as daemon:
        assert daemon.stdout
        with anyio.fail_after(10):
            said = await daemon.stdout.receive()
            while not said.strip().rpartition(b"\n")[2].isdigit():
                said += await daemon.stdout.receive()
        server = int(said.split()[-1])
        processes = [server, *await running_processes(server, checks=2)]
        daemon.kill()
        for process in processes:
            await until_dead(process)


async def test_many_checks_leave_no_process_no_descriptor_and_no_file(
    lean: ForkServer, core: CoreLibrary, tmp_path: Path
):
    await lean.run(file(GOOD, core, wants_artifact=True))
    assert lean.pid
    await until_one_waits(lean.pid)
    before = descriptors(lean.pid)

    async with anyio.create_task_group() as tasks:
        for _ in range(40):
            tasks.start_soon(lean.run, file(GOOD, core, wants_artifact=True))

    await until_one_waits(lean.pid)
    assert descriptors(lean.pid) == before
    assert files_below(tmp_path / "scratch") == []


async def test_closing_the_server_ends_what_runs_and_clears_its_folder(
    toolchain: Toolchain, core: CoreLibrary, tmp_path: Path
):
    processes: list[int] = []
    async with anyio.create_task_group() as tasks:
        async with ForkServer(toolchain, scratch=tmp_path / "scratch", is_wrapped=False) as lean:
            tasks.start_soon(lean.run, endless(core))
            processes += await running_processes(lean.pid, checks=2)
        tasks.cancel_scope.cancel()

    for process in processes:
        await until_dead(process)
    assert folders_in(tmp_path / "scratch") == []


async def test_checks_work_with_each_layer_missing(lean: ForkServer, core: CoreLibrary):
    full = lean.sandbox.confinement
    for confinement in (Confinement(), Confinement(landlock=full.landlock, is_filtered=full.is_filtered), full):
        lean.sandbox = SandboxReport(layers={}, reasons={}, confinement=confinement)
        done = await lean.run(file(GOOD, core, wants_artifact=True))
        assert (done.outcome, done.exit_code) == ("finished", 0), confinement
        assert done.artifact


async def test_a_machine_without_a_sandbox_is_refused_unless_told_otherwise(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    start = elaborations.start_fork_server

    async def start_on_a_poor_machine(toolchain: Toolchain, **options: Any):
        link, _ = await start(toolchain, **options)
        return link, SandboxReport(layers={}, reasons={}, confinement=Confinement(is_filtered=True))

    monkeypatch.setattr(elaborations, "start_fork_server", start_on_a_poor_machine)

    with pytest.raises(NoSandbox):
        async with ForkServer(toolchain, scratch=tmp_path):
            pass
    async with ForkServer(toolchain, scratch=tmp_path, is_wrapped=False, unsafe=True) as lean:
        assert lean.pid


async def test_a_closed_server_takes_nothing_more(toolchain: Toolchain, core: CoreLibrary, tmp_path: Path):
    async with ForkServer(toolchain, scratch=tmp_path) as lean:
        pass

    with pytest.raises(LeanUnavailable):
        await lean.run(file(GOOD, core))


async def test_an_error_of_the_user_passes_through_as_it_is(toolchain: Toolchain, tmp_path: Path):
    with pytest.raises(ZeroDivisionError):
        async with ForkServer(toolchain, scratch=tmp_path):
            raise ZeroDivisionError


async def test_a_terminated_fork_server_clears_its_folder(lean: ForkServer, tmp_path: Path):
    assert lean.pid
    server = lean.pid
    os.kill(server, signal.SIGTERM)
    await until_dead(server)

    assert folders_in(tmp_path / "scratch") == []


async def test_a_library_that_is_not_lean_cannot_be_started(tmp_path: Path):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"nothing")

    with pytest.raises(LeanUnavailable, match=r"broken\.so"):
        async with ForkServer(Toolchain(library=broken, version="0", id="broken"), scratch=tmp_path):
            pass


async def test_only_the_pinned_bytes_are_the_toolchain(tmp_path: Path):
    other = tmp_path / "libleanshared.so"
    other.write_bytes(b"something else")

    with pytest.raises(LeanUnavailable):
        verify_toolchain(other, cache=tmp_path / "cache")
    with pytest.raises(LeanUnavailable):
        verify_toolchain(other, cache=tmp_path / "cache")
    assert LIBRARY_SHA256[:16] in find_toolchain().id
