"""Bad input gets one clear message and a defined exit code."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from adapter_server.cli.main import run_command


def spoken(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = run_command(list(args))
    out, err = capsys.readouterr()
    return code, out, err


def test_help_names_every_command_and_loads_no_heavy_package() -> None:
    script = (
        "import sys; sys.argv = ['adapter-server', '--help']\n"
        "from adapter_server.cli.main import run_command\n"
        "code = run_command(['--help'])\n"
        "print(sorted({'mcp', 'redis', 'uvicorn', 'rich', 'anyio', 'starlette'} & set(sys.modules)))\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    for command in ("serve", "demo", "run", "verify", "doctor", "version"):
        assert f"\n  {command} " in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = spoken(capsys, "version")
    assert (code, out) == (0, "0.1.0\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run"], "adapter-server: no problem was named"),
        (["run", "nothing.smt2"], "adapter-server: nothing.smt2 does not exist"),
        (["run", "broken.smt2"], "adapter-server: broken.smt2: line 1, column 1: this parenthesis is never closed"),
        (["run", "real.smt2"], "adapter-server: real.smt2: line 1, column 20: unsupported: the type Real"),
        (["run", "closed.lean"], "adapter-server: closed.lean: line 1, column 1: the theorem t is not open"),
        (["run", "rev_rev", "--team", "oracle:2"], "adapter-server: there is no agent of kind oracle"),
        (["demo", "--team", "oracle"], "adapter-server: there is no agent of kind oracle"),
        (["run", "rev_rev", "--model", "oracle=m"], "adapter-server: --model 'oracle=m' is not of the form"),
        (["run", "rev_rev", "--team", "5"], "adapter-server: the team '5' is not of the form"),
        (["run", "rev_rev", "--out", "."], "adapter-server: . is not empty"),
        (["run", "--resume", "."], "adapter-server: "),
        (["run", "rev_rev", "--resume", "."], "adapter-server: --resume knows its problem"),
        (["run", "rev_rev", "--server", "http://127.0.0.1:9"], "adapter-server: the server http://127.0.0.1:9 wants a"),
        (["run", "rev_rev", "--time", "0"], "Usage: "),
        (["run", "rev_rev", "--unknown"], "Usage: "),
        (["verify", "nothing"], "adapter-server: nothing is not a folder and no Lean file"),
        (["serve", "--port", "70000"], "adapter-server: the settings are wrong"),
        (["unknown"], "Usage: "),
    ],
)
def test_bad_input_exits_2_with_one_message(
    args: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADAPTER_TOKEN", raising=False)
    (tmp_path / "broken.smt2").write_text("(prove")
    (tmp_path / "real.smt2").write_text("(prove (forall ((n Real)) (= n n)))")
    (tmp_path / "closed.lean").write_text("theorem t : 1 = 1 := rfl")
    code, out, err = spoken(capsys, *args)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert "Traceback" not in err
    assert not any(path.is_dir() and any(path.rglob("server.log")) for path in tmp_path.iterdir())


def test_a_server_that_is_not_there_exits_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADAPTER_TOKEN", "x")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        code, _, err = spoken(capsys, "run", "rev_rev", "--server", url, "--out", str(tmp_path / "run"), "--json")
    assert code == 3
    assert err.startswith("adapter-server: no server answers at ")


def served(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "adapter_server.cli.main", "serve", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_port_in_use_a_foreign_folder_and_an_absent_store_exit_3(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = served("--data", str(tmp_path / "data"), "--port", port)
    assert done.returncode == 3
    assert f"adapter-server: port {port} on 127.0.0.1 cannot be used" in done.stderr

    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "format").write_text("adapter-server data 0\n")
    done = served("--data", str(tmp_path / "old"), "--port", "0")
    assert done.returncode == 3
    assert "was made by another version" in done.stderr

    done = served("--data", str(tmp_path / "data"), "--port", "0", "--store-url", "redis://:secret@127.0.0.1:9")
    assert done.returncode == 3
    assert "cannot be reached" in done.stderr
    assert "secret" not in done.stderr


def test_doctor_answers_programs_with_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = spoken(capsys, "doctor", "--json", "--port", "0", "--data", str(tmp_path / "data"))
    found = json.loads(out)
    assert code == 0
    assert found["ok"] is True
    assert {"python", "store", "lean", "sandbox", "data", "port"} <= set(found)
    assert not (tmp_path / "data").exists()


def test_a_reader_that_leaves_early_hears_no_complaint() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "adapter_server.cli.main", "version"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [(KeyboardInterrupt(), 130, ""), (ZeroDivisionError("oops"), 3, "ZeroDivisionError: oops")],
)
def test_neither_an_interruption_nor_a_defect_looks_like_an_answer(
    failure: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_name: str) -> str:
        raise failure

    monkeypatch.setattr("importlib.metadata.version", fail)
    found, _, err = spoken(capsys, "version")
    assert found == code
    assert said in err


def test_a_daemon_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    args = ["serve", "--data", str(tmp_path / "data"), "--port", "0", "--log-format", "json"]
    command = [sys.executable, "-m", "adapter_server.cli.main", *args]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as daemon:
        assert daemon.stderr is not None
        assert any("daemon_started" in line for line in daemon.stderr)
        daemon.terminate()
        daemon.communicate(timeout=60)
    assert daemon.returncode == 0
    assert not (tmp_path / "data" / "server.json").exists()
