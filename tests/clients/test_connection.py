import json
import tomllib
from pathlib import Path

import pytest

from bus.errors import BadArguments
from clients.connection import add, take_back

URL = "http://127.0.0.1:8765/mcp/e/ada"


@pytest.mark.parametrize("before", [None, "", 'model = "x"', 'model = "x"\n\n[features]\nplugins = true\n'])
def test_a_codex_file_gets_the_server_and_is_given_back_byte_for_byte(before: str | None, tmp_path: Path) -> None:
    file = tmp_path / "codex" / "config.toml"
    if before is not None:
        file.parent.mkdir()
        file.write_text(before)
    added = add("codex", file, URL)
    assert tomllib.loads(file.read_text())["mcp_servers"]["adapter"]["url"] == URL
    take_back(added)
    assert (file.read_text() if file.exists() else None) == before


@pytest.mark.parametrize("before", [None, "{}", '{"mcpServers":   {"other": {"command": "x"}}, "more": 1}'])
def test_a_claude_file_gets_the_server_and_is_given_back_byte_for_byte(before: str | None, tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    if before is not None:
        file.write_text(before)
    added = add("claude", file, URL)
    assert json.loads(file.read_text())["mcpServers"]["adapter"]["url"] == URL
    take_back(added)
    assert (file.read_text() if file.exists() else None) == before


@pytest.mark.parametrize(("kind", "name"), [("codex", "config.toml"), ("claude", ".mcp.json")])
def test_changes_that_a_person_made_meanwhile_are_kept(kind: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    added = add(kind, file, URL)
    if kind == "codex":
        file.write_text('model = "new"\n\n' + file.read_text() + '[mcp_servers.other]\ncommand = "x"\n')
    else:
        settings = json.loads(file.read_text())
        settings["mcpServers"]["other"] = {"command": "x"}
        file.write_text(json.dumps(settings))
    take_back(added)
    text = file.read_text()
    servers = (
        tomllib.loads(text)["mcp_servers"] if kind == "codex" else json.loads(text)["mcpServers"]
    )  # fmt: skip
    assert servers == {"other": {"command": "x"}}


def test_a_file_that_is_gone_needs_nothing(tmp_path: Path) -> None:
    added = add("codex", tmp_path / "config.toml", URL)
    (tmp_path / "config.toml").unlink()
    take_back(added)


@pytest.mark.parametrize(("kind", "name"), [("codex", "config.toml"), ("claude", ".mcp.json")])
def test_a_second_server_of_the_same_name_is_refused(kind: str, name: str, tmp_path: Path) -> None:
    add(kind, tmp_path / name, URL)
    with pytest.raises(BadArguments, match="already"):
        add(kind, tmp_path / name, URL)


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 1}'])
def test_a_file_that_is_no_configuration_is_left_alone(text: str, tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text(text)
    with pytest.raises(BadArguments, match=r"\.mcp\.json"):
        add("claude", file, URL)
    assert file.read_text() == text
