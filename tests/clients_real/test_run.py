"""`adapter-server run` with the real clients, from the command line to the record."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from scenarios.lean.run_folder import RunFolder
from tests.adapter_server.conftest import DaemonProcess
from tests.model_endpoints.conversation import Answer, Call, Conversation
from tests.model_endpoints.proving import prove
from tests.model_endpoints.server import KEY, scripted_model

pytestmark = pytest.mark.timeout(150)


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "adapter_server.cli.main", "run", *args]


def wait_for_ever(seen: Conversation) -> Answer:
    if seen.last is None:
        return [Call(tool="digest")]
    return [Call(tool="wait", arguments={"for": ["mail"], "timeout_s": 45})]


@contextmanager
def working_run(folder: Path, environment: dict[str, str]) -> Generator[tuple[subprocess.Popen[str], list[int]]]:
    """A run whose hosts are at work, and their processes."""
    args = command("rev_rev", "--team", "codex,claude", "--model", "scripted", "--out", str(folder))
    with subprocess.Popen(args, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as runner:
        assert runner.stderr is not None
        opened = 0
        for line in runner.stderr:
            opened += "opens a session" in line
            if opened == 2:
                break
        hosts = [child for child in psutil.Process(runner.pid).children() if child.name() in ("codex", "claude")]
        assert len(hosts) == 2
        try:
            yield runner, [host.pid for host in hosts]
        finally:
            runner.kill()


def gone(pids: list[int]) -> bool:
    return psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], timeout=20)[1] == []


@pytest.mark.usefixtures("real_clients")
def test_a_mixed_team_with_a_tactician_is_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    args = command("append_nil", "--team", "codex:1,claude:1,tactician:1", "--model", "scripted", "--out", str(folder))
    with scripted_model(prove) as model:
        done = subprocess.run(
            [*args, "--json", "--time", "90"], env={**os.environ, **model.environment}, capture_output=True, text=True,
            timeout=140, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "solved"
    for name in ("codex-1", "claude-1"):
        session = result["agents"][name]["session"]
        assert session["exit_reason"] == "the episode has ended"
        assert session["sessions"] == 1
        assert abs(session["tool_calls"] - result["agents"][name]["calls"]) <= 1
        assert (folder / "agents" / f"{name}.jsonl").exists()
    assert result["agents"]["tactician-1"]["session"] is None
    kept = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert kept == []


@pytest.mark.usefixtures("real_clients")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_host_outlives_its_run(sent: signal.Signals, tmp_path: Path) -> None:
    with (
        scripted_model(wait_for_ever) as model,
        working_run(tmp_path / "run", {**os.environ, **model.environment}) as (runner, hosts),
    ):
        runner.send_signal(sent)
        assert gone(hosts)
        code = runner.wait(30)
    assert code == (130 if sent == signal.SIGINT else -signal.SIGKILL)


@pytest.mark.usefixtures("real_clients")
def test_a_run_is_completed_when_its_server_is_killed_and_started_again(tmp_path: Path) -> None:
    daemon = DaemonProcess(tmp_path / "own")
    daemon.start()
    try:
        with scripted_model(prove) as model:
            args = command("rev_rev", "--team", "codex,claude", "--model", "scripted", "--out", str(tmp_path / "run"))
            server = ["--server", daemon.url, "--token-file", str(daemon.folder.token_file), "--time", "100"]
            with subprocess.Popen(
                [*args, *server], env={**os.environ, **model.environment}, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True,
            ) as runner:  # fmt: skip
                assert runner.stderr is not None
                told: list[str] = []
                for line in runner.stderr:
                    told.append(line)
                    if " proves " in line and " proves " not in "".join(told[:-1]):
                        daemon.stop(signal.SIGKILL)
                        daemon.start()
                assert runner.wait(30) == 0, "".join(told)
    finally:
        daemon.stop()
    assert "the server cannot be reached; trying again" in "".join(told)
    assert RunFolder(tmp_path / "run").events()[-1].body["status"] == "solved"


@pytest.mark.usefixtures("real_clients")
def test_a_missing_login_stops_a_run_before_it_begins(tmp_path: Path) -> None:
    done = subprocess.run(
        command("rev_rev", "--team", "codex:1", "--out", str(tmp_path / "run")), capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "adapter-server: Codex has no login\n  log in with `codex login`, or set OPENAI_API_KEY\n"
    assert not (tmp_path / "run").exists()
