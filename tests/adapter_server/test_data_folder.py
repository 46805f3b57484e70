"""A data folder is laid out once, recognised later, and never confused with something else."""

import os
from pathlib import Path

import pytest

from adapter_server.data_folder import FORMAT, open_data_folder
from bus.errors import BadDataFolder


def test_a_missing_folder_is_laid_out_for_its_owner_only(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path / "deep" / "data")
    assert folder.format_file.read_text() == FORMAT
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert {entry.name for entry in folder.path.iterdir()} == {"format", "store", "adapters", "episodes", "scratch"}


def test_an_empty_folder_is_taken_and_closed_to_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert open_data_folder(tmp_path).path == tmp_path
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path)
    token = folder.operator_token()
    (folder.episodes / "ep1").mkdir()
    again = open_data_folder(tmp_path)
    assert again == folder
    assert again.operator_token() == token
    assert (again.episodes / "ep1").is_dir()


def test_a_crash_while_laying_out_does_not_spoil_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".new-format-1234").write_text("adapter-ser")
    assert open_data_folder(tmp_path).format_file.read_text() == FORMAT


def test_another_version_is_refused_with_both_formats(tmp_path: Path) -> None:
    (tmp_path / "format").write_text("adapter-server data 2\n")
    with pytest.raises(BadDataFolder, match=r"data 2.*data 1") as caught:
        open_data_folder(tmp_path)
    assert caught.value.hint


def test_a_foreign_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(BadDataFolder, match=r"thesis\.tex"):
        open_data_folder(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadDataFolder, match="file"):
        open_data_folder(tmp_path / "file")


def test_a_place_that_cannot_be_written_is_named() -> None:
    with pytest.raises(BadDataFolder, match="/proc/nowhere"):
        open_data_folder(Path("/proc/nowhere"))


def test_the_operators_token_is_secret_and_hard_to_guess(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path)
    assert len(folder.operator_token()) >= 40
    folder.token_file.chmod(0o644)
    folder.operator_token()
    assert folder.token_file.stat().st_mode & 0o777 == 0o600


def test_the_servers_note_says_how_to_reach_it(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path)
    assert folder.server() is None
    folder.announce(url="http://127.0.0.1:1")
    note = folder.server()
    assert note is not None
    assert (note.url, note.pid) == ("http://127.0.0.1:1", os.getpid())
    folder.withdraw()
    assert folder.server() is None


def test_the_note_of_another_daemon_is_not_withdrawn(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path)
    folder.server_file.write_text('{"url": "http://127.0.0.1:1", "pid": 1}')
    folder.withdraw()
    assert folder.server() is not None


def test_a_torn_note_counts_as_none(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path)
    folder.server_file.write_bytes(b'{"url": "\xff')
    assert folder.server() is None
