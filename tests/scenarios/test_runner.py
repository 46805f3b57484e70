"""A run from the command line to the certificate: its own server, real agents, real Lean."""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import msgspec
import psutil
import pytest

from adapter_server.cli.main import run_command
from clients.transcript import ToolCalled, read_transcript
from scenarios.lean.joined_calls import JoinedCall
from scenarios.lean.run_folder import RunFolder
from scenarios.lean.server_process import own_server

from .easy import EASY

pytestmark = pytest.mark.timeout(300)

FALSE = "theorem all_three : ∀ (n : Nat), n = 3 := by sorry\n"
ENDLESS = "theorem all_keep : ∀ (f : Nat → Nat) (n : Nat), f n = n := by sorry\n"
"""False, but no value of a function is tried."""


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "adapter_server.cli.main", *args]


def finished(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*args), capture_output=True, text=True, timeout=200, check=False)


def processes_on(folder: Path) -> list[psutil.Process]:
    """Whatever still runs on a folder."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["cmdline", "cwd"]):
        facts = process.info
        if str(folder) in " ".join(facts["cmdline"] or []) or str(facts["cwd"] or "").startswith(str(folder)):
            found.append(process)
    return found


@contextmanager
def working_team(tmp_path: Path) -> Generator[subprocess.Popen[str]]:
    """A run that is in the middle of its work and would go on for a long time."""
    (tmp_path / "endless.lean").write_text(ENDLESS)
    args = command("run", str(tmp_path / "endless.lean"), "--team", "tactician:2", "--out", str(tmp_path / "run"))
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as runner:
        assert runner.stderr is not None
        assert any("claims" in line for line in runner.stderr)
        yield runner
        runner.kill()


def calls_seen_by_both(folder: Path) -> Counter[str]:
    """Calls of each agent; none may be known to one side only."""
    calls = [msgspec.json.decode(line, type=JoinedCall) for line in (folder / "calls.jsonl").read_bytes().splitlines()]
    assert [call for call in calls if call.host is None or call.server is None] == []
    return Counter(call.agent for call in calls)


def end_by_themselves(folder: Path) -> bool:
    """Whether all that runs on a folder ends without being told to."""
    return psutil.wait_procs(processes_on(folder), timeout=30)[1] == []


def test_a_team_proves_a_theorem_and_the_proof_verifies_from_the_folder_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "easy.lean").write_text(EASY)
    folder = tmp_path / "run"
    done = finished("run", str(tmp_path / "easy.lean"), "--team", "tactician:2", "--out", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert list(result) == ["status", "seconds", "lemmas", "checks", "certificate", "agents"]
    assert result["status"] == "solved"
    assert set(result["agents"]) == {"tactician-1", "tactician-2"}
    assert Path(result["certificate"]).is_relative_to(folder)
    assert "theorem app_nil" in RunFolder(folder).proof_file.read_text()
    assert RunFolder(folder).events()[-1].kind == "episode_closed"
    assert {path.stem for path in folder.glob("agents/*.jsonl")} == set(result["agents"])
    told = [line for path in folder.glob("agents/*.jsonl") for line in read_transcript(path)]
    assert sum(isinstance(line.entry, ToolCalled) for line in told) == sum(
        one["calls"] for one in result["agents"].values()
    )
    assert calls_seen_by_both(folder) == {name: one["calls"] for name, one in result["agents"].items()}
    assert processes_on(tmp_path) == []

    assert run_command(["verify", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("proved: app_nil")

    again = finished("run", "--resume", str(folder), "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout) == result
    assert "this run has ended already: solved" in again.stderr


def test_a_team_refutes_a_false_theorem(tmp_path: Path) -> None:
    (tmp_path / "false.lean").write_text(FALSE)
    folder = RunFolder(tmp_path / "run")
    done = finished("run", str(tmp_path / "false.lean"), "--team", "tactician:1", "--out", str(folder.path), "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (4, "refuted"), done.stderr
    record = folder.record()
    assert record is not None
    assert record.reason == "the target is false: its negation is proved; it fails at (0 : Nat)"


def test_an_interrupted_run_leaves_nothing_behind_and_goes_on_in_the_same_episode(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder(tmp_path / "run")
    with working_team(tmp_path) as runner:
        runner.send_signal(signal.SIGINT)
        _, err = runner.communicate(timeout=100)
    assert runner.returncode == 130
    assert f"adapter-server run --resume {folder.path}" in err
    assert processes_on(tmp_path) == []
    record, before = folder.record(), folder.events()
    assert record is not None
    assert record.status == "interrupted"

    for _ in range(2):  # one that ran out of time can be resumed again
        done = finished("run", "--resume", str(folder.path), "--time", "1", "--json")
        assert done.returncode == 1, done.stderr
        assert json.loads(done.stdout)["status"] == "unsolved"
        after = folder.record()
        assert after is not None
        assert after.episode == record.episode
        assert after.seconds >= record.seconds + 1
        assert folder.events()[: len(before)] == before
        assert [event.seq for event in folder.events()] == list(range(1, len(folder.events()) + 1))
        assert processes_on(tmp_path) == []
        record, before = after, folder.events()

    assert finished("verify", str(folder.path)).stdout.startswith("not proved")
    assert run_command(["verify", str(folder.path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["is_proved"] is False


def test_a_killed_runner_takes_everything_with_it(tmp_path: Path) -> None:
    with working_team(tmp_path) as runner:
        assert processes_on(tmp_path) != []
        runner.kill()
        runner.wait(timeout=10)
        assert end_by_themselves(tmp_path)


def test_a_server_that_dies_in_the_middle_is_a_service_failure(tmp_path: Path) -> None:
    with working_team(tmp_path) as runner:
        note = json.loads((tmp_path / "run" / "server" / "server.json").read_text())
        psutil.Process(note["pid"]).kill()
        _, err = runner.communicate(timeout=60)
        assert runner.returncode == 3
        assert "adapter-server: the server went away: it said nothing" in err
        assert end_by_themselves(tmp_path)
    record = RunFolder(tmp_path / "run").record()
    assert record is not None
    assert record.status == "failed"


def test_a_problem_that_lean_refuses_is_bad_input_and_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.lean").write_text("theorem t : unknown_thing = 1 := by sorry\n")
    done = finished("run", str(tmp_path / "bad.lean"), "--out", str(tmp_path / "run"), "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown_thing" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()
    assert processes_on(tmp_path) == []


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_run_can_use_a_server_that_is_there_already(tmp_path: Path) -> None:
    (tmp_path / "easy.lean").write_text(EASY)
    async with own_server(tmp_path / "data", log=tmp_path / "server.log") as server:
        token = tmp_path / "data" / "operator.token"
        args = ["--server", server.url, "--token-file", str(token), "--team", "tactician:1", "--json"]
        folder = tmp_path / "run"
        done = await anyio.run_process(
            command("run", str(tmp_path / "easy.lean"), "--out", str(folder), *args), check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        result = json.loads(done.stdout)
        assert Path(result["certificate"]).is_relative_to(tmp_path / "data")
        assert not (folder / "server").exists()
        assert calls_seen_by_both(folder) == {"tactician-1": result["agents"]["tactician-1"]["calls"]}

        (tmp_path / "wrong").write_text("no token\n")
        args[3] = str(tmp_path / "wrong")
        other = command("run", str(tmp_path / "easy.lean"), "--out", str(tmp_path / "other"), *args)
        refused = await anyio.run_process(other, check=False)
        assert refused.returncode == 2
        assert b"does not accept the token" in refused.stderr
    assert processes_on(tmp_path) == []
