"""The doctor says what `serve` would use, and what is missing and how to get it, without changing anything."""

import socket
from pathlib import Path

import anyio.to_thread
import pytest

from adapter_server.cli import doctor
from adapter_server.cli.doctor import examine, run_doctor
from adapter_server.data_folder import open_data_folder
from adapter_server.embedded_store import open_store
from adapter_server.settings import Settings


def settings(tmp_path: Path, **changes: object) -> Settings:
    return Settings(data=str(tmp_path / "data"), **({"port": 0} | changes))  # pyright: ignore[reportArgumentType]


def test_a_machine_that_has_everything_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    findings = examine(settings(tmp_path))
    assert all(finding.is_ok for finding in findings.values()), findings
    assert findings["lean"].facts["toolchain"].startswith("lean-4.35.0-")
    assert isinstance(findings["lean"].facts["is_cached"], bool)
    assert findings["store"].facts["kind"] == "embedded"
    assert findings["sandbox"].facts["is_sufficient"] is True
    assert run_doctor(settings(tmp_path), is_json=False) == 0
    assert "ok      lean" in capsys.readouterr().out
    assert not (tmp_path / "data").exists()


def test_each_missing_part_is_named_with_a_way_to_get_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "format").write_text("something else\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        wanted = settings(tmp_path, port=port, store_url="redis://:secret@127.0.0.1:9")
        findings = examine(wanted)
        assert run_doctor(wanted, is_json=False) == 3
    assert {name for name, finding in findings.items() if not finding.is_ok} == {"store", "data", "port"}
    for name in ("store", "data", "port"):
        assert findings[name].missing
        assert findings[name].how
    out = capsys.readouterr().out
    assert out.count("MISSING") == 3
    assert "secret" not in out


def test_a_store_program_that_is_none_is_missing(tmp_path: Path) -> None:
    finding = examine(settings(tmp_path, store_binary="/no/such/program"))["store"]
    assert not finding.is_ok
    assert "/no/such/program is not a program" in finding.missing


def test_a_store_program_that_does_not_run_is_missing(tmp_path: Path) -> None:
    finding = examine(settings(tmp_path, store_binary="false"))["store"]
    assert not finding.is_ok
    assert finding.missing.startswith("the program does not run")


@pytest.mark.anyio
async def test_a_store_that_answers_is_used(tmp_path: Path) -> None:
    async with open_store(settings(tmp_path)) as store:
        wanted = settings(tmp_path, store_url=store.url)
        finding = (await anyio.to_thread.run_sync(examine, wanted))["store"]
    assert finding.is_ok
    assert finding.used.startswith("external server at unix://")


def test_an_old_python_and_a_machine_without_a_sandbox_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("no processes left")

    monkeypatch.setattr(doctor, "NEEDED_PYTHON", (99, 0))
    monkeypatch.setattr(doctor, "probe", fail)
    findings = examine(settings(tmp_path))
    assert not findings["python"].is_ok
    assert not findings["sandbox"].is_ok
    assert "no processes left" in findings["sandbox"].missing
    assert examine(settings(tmp_path, unsafe_no_sandbox=True))["sandbox"].is_ok


def test_data_folders_and_ports_that_can_be_used_are_said_so(tmp_path: Path) -> None:
    open_data_folder(tmp_path / "data")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    findings = examine(settings(tmp_path, port=port))
    assert findings["data"].is_ok
    assert findings["port"].is_ok
    assert findings["port"].facts == {"host": "127.0.0.1", "port": port}


def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    finding = examine(settings(tmp_path))["data"]
    assert not finding.is_ok
    assert "cannot use" in finding.missing
