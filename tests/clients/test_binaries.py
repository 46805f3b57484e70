from pathlib import Path

import pytest

from bus.errors import BadArguments
from clients.binaries import PROGRAMS, find_program
from clients.hosts import find_hosts

HOSTS = ["codex", "claude"]


def program(folder: Path, name: str, says: str, code: int = 0) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("kind", HOSTS)
def test_a_missing_program_is_told_with_the_command_that_installs_it(kind: str, tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match="is not installed") as caught:
        find_program(kind, {"PATH": str(tmp_path)})
    assert caught.value.hint == f"install it: npm install --global {PROGRAMS[kind].package}@{PROGRAMS[kind].tried}"


@pytest.mark.parametrize("kind", HOSTS)
def test_an_old_program_is_told_with_the_command_that_renews_it(kind: str, tmp_path: Path) -> None:
    program(tmp_path, kind, f"{kind} 0.9.1")
    with pytest.raises(BadArguments, match=r"0\.9\.1 .* is older than") as caught:
        find_program(kind, {"PATH": str(tmp_path)})
    assert PROGRAMS[kind].install in caught.value.hint


@pytest.mark.parametrize("kind", HOSTS)
@pytest.mark.parametrize(("says", "code"), [("something else", 0), ("", 3)])
def test_a_program_that_is_something_else_is_refused(kind: str, says: str, code: int, tmp_path: Path) -> None:
    program(tmp_path, kind, says, code)
    with pytest.raises(BadArguments, match=str(tmp_path / kind)) as caught:
        find_program(kind, {"PATH": str(tmp_path)})
    assert PROGRAMS[kind].install in caught.value.hint


@pytest.mark.parametrize("kind", HOSTS)
def test_the_environment_may_name_another_program(kind: str, tmp_path: Path) -> None:
    path = program(tmp_path, "mine", PROGRAMS[kind].tried)
    assert find_program(kind, {"PATH": "/nowhere", PROGRAMS[kind].variable: str(path)}) == path
    with pytest.raises(BadArguments, match="does not run"):
        find_program(kind, {PROGRAMS[kind].variable: str(tmp_path / "gone")})


@pytest.mark.parametrize(
    ("kind", "login", "key"),
    [
        ("codex", "log in with `codex login`, or set OPENAI_API_KEY", "OPENAI_API_KEY"),
        (
            "claude",
            "log in with `claude` and /login, make a token with `claude setup-token`, or set ANTHROPIC_API_KEY",
            "ANTHROPIC_API_KEY",
        ),
    ],
)
def test_a_missing_login_is_told_with_the_command_that_logs_in(kind: str, login: str, key: str, tmp_path: Path) -> None:
    path = program(tmp_path, kind, PROGRAMS[kind].tried)
    environ = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    with pytest.raises(BadArguments, match="has no login") as caught:
        find_hosts([kind], environ)
    assert caught.value.hint == login
    assert find_hosts([kind], {**environ, key: "k"}) == {kind: path}
    name = ".codex/auth.json" if kind == "codex" else ".claude/.credentials.json"
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text("{}")
    assert find_hosts([kind], environ) == {kind: path}


def test_other_kinds_need_no_program() -> None:
    assert find_hosts(["tactician"], {}) == {}
