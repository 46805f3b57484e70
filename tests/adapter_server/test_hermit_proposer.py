"""The example that bridges a Hermit evolver, with the real package in a venv of its own."""

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.evolver.context import remove_context, write_context
from adapter_server.evolver.patch import NoChange, Patch, apply
from adapter_server.evolver.proposers.command import Command, CommandProposer
from adapter_server.evolver.proposing import ProposalContext
from adapter_server.staging import read_files
from bus.errors import BadPatch

pytestmark = pytest.mark.timeout(300)

PACKAGE = "hermit-harness==0.1.0"
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "hermit_proposer.py"
FILES = read_files(default_bundle_folder())
EVOLVER = """
from hermit.evolver.base import Evolver, StepResult

class Scripted(Evolver):
    def step(self, ctx):
        told = (ctx.workspace.learning_material / "step_0001" / "evidence.md").read_text()
        adapter = ctx.workspace.adapter
        for name in {names}:
            path = adapter / name
            path.write_text(path.read_text() + "\\nRead the goals first.\\n")
        checked = ctx.tools["check_spec"]()
        return StepResult(status={status!r}, summary=f"told {{told}}", rationale=f"valid: {{checked['ok']}}")
"""


@pytest.fixture(scope="session")
def hermit() -> Path:
    """Python of a venv that has the package; made once and kept in the cache."""
    cache = os.environ.get("ADAPTER_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "adapter-server"
    place = Path(cache).expanduser() / "clients" / PACKAGE.replace("==", "-")
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, timeout=60)
        install = [str(python), "-m", "pip", "install", "--quiet", PACKAGE]
        done = subprocess.run(install, capture_output=True, text=True, check=False, timeout=240)
        if done.returncode:
            pytest.skip(f"{PACKAGE} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
        (place / "complete").touch()
    return python


@pytest.fixture
def context(tmp_path: Path) -> Generator[ProposalContext]:
    made = write_context(tmp_path / "context", FILES, evidence="goals were ignored")
    yield made
    remove_context(made.folder)


def proposed(hermit: Path, context: ProposalContext, names: list[str], *, status: str = "done") -> Patch | NoChange:
    evolver = context.folder.parent / "evolver"
    evolver.mkdir()
    (evolver / "evolver.yaml").write_text("class: scripted.py:Scripted\n")
    (evolver / "scripted.py").write_text(EVOLVER.format(names=names, status=status))
    command = Command(arguments=[str(hermit), str(EXAMPLE), str(evolver)], timeout_s=60, name="hermit")
    return anyio.run(CommandProposer(command).propose, context)


def test_what_a_hermit_evolver_changes_is_a_proposal(hermit: Path, context: ProposalContext) -> None:
    patch = proposed(hermit, context, ["prompts/roles/prover.md"])
    assert isinstance(patch, Patch)
    assert patch.component == "prompts/roles/prover.md"
    assert patch.hypothesis == "told goals were ignored; valid: True"
    assert apply(FILES, patch)[patch.component].endswith(b"Read the goals first.\n")


def test_an_evolver_that_changes_nothing_proposes_no_change(hermit: Path, context: ProposalContext) -> None:
    assert proposed(hermit, context, []) == NoChange(reason="told goals were ignored; valid: True")


def test_an_evolver_that_changes_two_components_is_refused(hermit: Path, context: ProposalContext) -> None:
    with pytest.raises(BadPatch, match="one component can be changed at a time") as caught:
        proposed(hermit, context, ["prompts/roles/prover.md", "prompts/team.md"])
    assert caught.value.facts["cause"] == "crash"


def test_an_evolver_that_fails_is_refused(hermit: Path, context: ProposalContext) -> None:
    with pytest.raises(BadPatch, match="ended as failed"):
        proposed(hermit, context, [], status="failed")
