"""Suites from the command line: real servers, real agents, real Lean; one stopped in the middle and gone on with."""

import gzip
import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import cast

import anyio
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.cli.main import run_command
from adapter_server.evolver.measuring import Measure, PlannedEpisode
from adapter_server.staging import stage_bundle
from bus.errors import InfraPause
from bus.records import Caps
from scenarios.lean.laboratory import LaboratorySettings, open_laboratory
from scenarios.lean.problem_files import shipped_text
from scenarios.lean.suite_folder import SuiteFolder
from scenarios.lean.suite_tasks import find_tasks

from .easy import EASY

pytestmark = pytest.mark.timeout(300)

HARD = shipped_text("times_comm")
"""Needs lemmas, so more than two checks."""


def bench(*args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "adapter_server.cli.main", "bench", *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_suite_that_was_stopped_goes_on_without_repeating_or_losing_anything(tmp_path: Path) -> None:
    problems = tmp_path / "problems"
    problems.mkdir()
    (problems / "a_broken.smt2").write_text("(prove (= 1")
    (problems / "b_easy.lean").write_text(EASY)
    (problems / "c_hard.lean").write_text(HARD)
    folder = SuiteFolder(tmp_path / "suite")
    limits = ("--team", "tactician:1", "--time", "120", "--checks", "2")
    with bench(str(problems), *limits, "--out", str(folder.path)) as first:
        assert first.stderr is not None
        assert any(line.startswith("[2/3] problems/b_easy: solved") for line in first.stderr)
        first.send_signal(signal.SIGINT)
        assert first.wait(100) == 130
    assert not folder.work.exists()
    files = sorted((folder.path / "records").iterdir())
    before = [(file, file.read_bytes(), file.stat().st_mtime_ns) for file in files]
    assert [file.stem for file in files] == ["problems__a_broken", "problems__b_easy"]

    with bench("--resume", "--out", str(folder.path), "--json") as second:
        out, err = second.communicate(timeout=200)
    assert second.returncode == 0, err
    assert "2 of 3 episodes were done before" in err
    assert [(file, file.read_bytes(), file.stat().st_mtime_ns) for file, _, _ in before] == before
    wanted = {"problems/a_broken": "invalid", "problems/b_easy": "solved", "problems/c_hard": "unsolved"}
    assert json.loads(out)["outcomes"] == wanted
    records = folder.records(folder.order().tasks)
    assert records["problems/a_broken"].reason.startswith("bad_problem: ")
    assert records["problems/b_easy"].counters["proved_s"] > 0
    assert "<svg" in folder.page_file.read_text()
    assert "problems/b_easy" in folder.page_file.read_text()
    kept = folder.kept("problems/b_easy")
    calls = gzip.decompress((kept / "calls.jsonl.gz").read_bytes()).splitlines()
    assert len(calls) == records["problems/b_easy"].spent.calls
    named = json.loads((kept / "certificate.json").read_text())["files"]
    assert {name: hashlib.sha256((kept / name).read_bytes()).hexdigest() for name in named} == named


@pytest.mark.parametrize(
    "args",
    [(), ("nowhere",), ("--resume",), ("compare", "--resume"), ("compare", "rev.lean", "--team", "tactician:1")],
)
def test_what_cannot_be_run_is_refused(
    args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rev.lean").write_text(EASY)
    assert run_command(["bench", *args]) == 2
    assert capsys.readouterr().err.startswith("adapter-server: ")
    assert [path.name for path in tmp_path.iterdir()] == ["rev.lean"]


def test_the_laboratory_measures_the_version_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "hard.lean").write_text(HARD)
    task = find_tasks([tmp_path / "hard.lean"])[0]
    source = tmp_path / "plain"
    for file in default_bundle_folder().rglob("*.*"):
        copy = source / file.relative_to(default_bundle_folder())
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    (source / "prompts" / "team.md").write_text("Prove it.\n")
    version = stage_bundle(source, tmp_path / "adapters").id
    settings = LaboratorySettings(team="tactician:1", caps=Caps(seconds=120, checks=2))

    async def work() -> None:
        async with open_laboratory(tmp_path / "lab", adapters=tmp_path / "adapters", settings=settings) as laboratory:
            measure: Measure = laboratory
            planned = PlannedEpisode(task=task, bundle=version, purpose="gate", seed=3, pair="p1", arm="challenger")
            (record,) = await measure.run([planned])
            assert (record.outcome, record.reason) == ("unsolved", "2 checks are used")
            assert 2 <= record.spent.checks <= 3
            assert (record.bundle, record.pair, record.arm) == (version, "p1", "challenger")
            assert (record.purpose, record.seed, record.caps) == ("gate", 3, settings.caps)
            assert all((tmp_path / "lab" / path).is_file() for path in record.traces)
            assert "tactician" in measure.key

    anyio.run(work)
    assert not (tmp_path / "lab" / "work").exists()


def test_a_laboratory_without_room_pauses_and_nothing_is_charged(tmp_path: Path) -> None:
    (tmp_path / "easy.lean").write_text(EASY)
    (tmp_path / "lab").write_text("a file where the folder should be")
    version = stage_bundle(default_bundle_folder(), tmp_path / "adapters").id
    settings = LaboratorySettings(team="tactician:1", caps=Caps(seconds=120))
    planned = PlannedEpisode(task=find_tasks([tmp_path / "easy.lean"])[0], bundle=version, purpose="gate", seed=1)

    async def work() -> None:
        async with open_laboratory(tmp_path / "lab", adapters=tmp_path / "adapters", settings=settings) as laboratory:
            with pytest.raises(InfraPause, match="cannot work") as caught:
                await laboratory.run([planned])
            assert set(cast("dict[str, float]", caught.value.facts["spent"]).values()) == {0.0}

    anyio.run(work)
