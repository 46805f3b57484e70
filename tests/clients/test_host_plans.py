import json
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from clients.agent_spec import AgentSpec
from clients.claude.plan import claude_host
from clients.codex.plan import codex_host
from clients.host_plan import PrivateFolder, private_folder
from clients.hosts import HOSTS

SPEC = AgentSpec(
    name="ada",
    url='http://127.0.0.1:1/mcp/e/a"da',
    token="token-7391",
    kind="codex",
    prompts={"team": "You are ada.", "role": "You prove."},
    skills={"prove": "---\nname: prove\n---\nProve."},
    model='m"x',
    reasoning="low",
)
PERSON = {
    "PATH": "/bin",
    "HOME": "/home/person",
    "OPENAI_API_KEY": "key-1",
    "ANTHROPIC_API_KEY": "key-2",
    "GITHUB_TOKEN": "theirs",
    "CODEX_HOME": "/home/person/.codex",
    "CLAUDE_CONFIG_DIR": "/home/person/.claude",
    "HTTPS_PROXY": "http://proxy:1",
    "NO_PROXY": "intranet",
}


@pytest.mark.parametrize("kind", HOSTS)
def test_an_agent_gets_nothing_of_the_person_but_the_way_to_the_model(kind: str, tmp_path: Path) -> None:
    host = HOSTS[kind](SPEC, PrivateFolder(tmp_path / "p"), program=Path("/bin/host"), environ=PERSON)
    environment = host.plan.environment
    assert "GITHUB_TOKEN" not in environment
    theirs = {name: value for name, value in environment.items() if "/home/person" in value}
    assert theirs == {}
    assert ("OPENAI_API_KEY" in environment, "ANTHROPIC_API_KEY" in environment) == (kind == "codex", kind == "claude")
    assert environment["NO_PROXY"] == "intranet,127.0.0.1,localhost,::1"
    assert environment["ADAPTER_TOKEN"] == "token-7391"


@pytest.mark.parametrize("kind", HOSTS)
def test_secrets_are_in_no_file_and_on_no_command_line(kind: str, tmp_path: Path) -> None:
    host = HOSTS[kind](SPEC, PrivateFolder(tmp_path / "p"), program=Path("/bin/host"), environ=PERSON)
    files = [path for path in (tmp_path / "p").rglob("*") if path.is_file()]
    texts = [*(path.read_text() for path in files), *host.plan.command]
    assert [text for text in texts if any(secret in text for secret in ("token-7391", "key-1", "key-2"))] == []
    assert {path.stat().st_mode & 0o077 for path in (*files, tmp_path / "p")} == {0}
    assert {"token-7391", "key-1" if kind == "codex" else "key-2"} <= set(host.plan.secrets)


def test_codex_is_told_all_in_its_own_form(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path)
    codex_host(SPEC, folder, program=Path("/bin/codex"), environ=PERSON)
    settings = tomllib.loads((folder.home / "config.toml").read_text())
    assert (settings["model"], settings["model_reasoning_effort"]) == ('m"x', "low")
    assert settings["sandbox_mode"] == "workspace-write"
    assert settings["mcp_servers"]["adapter"]["url"] == SPEC.url
    assert settings["mcp_servers"]["adapter"]["default_tools_approval_mode"] == "approve"
    assert settings["model_providers"]["endpoint"]["base_url"] == "https://api.openai.com/v1"
    assert (folder.workspace / "AGENTS.md").read_text() == "You are ada.\n\nYou prove.\n"
    assert (folder.home / "skills" / "prove" / "SKILL.md").read_text() == SPEC.skills["prove"]


def test_claude_code_is_told_all_in_its_own_form(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path)
    host = claude_host(SPEC, folder, program=Path("/bin/claude"), environ=PERSON, resume="s-1")
    entry = json.loads((folder.home / "mcp.json").read_text())["mcpServers"]["adapter"]
    assert (entry["url"], entry["alwaysLoad"]) == (SPEC.url, True)
    assert (folder.workspace / "CLAUDE.md").read_text() == "You are ada.\n\nYou prove.\n"
    assert (folder.workspace / ".claude" / "skills" / "prove" / "SKILL.md").read_text() == SPEC.skills["prove"]
    assert host.plan.command[-6:] == ("--model", 'm"x', "--effort", "low", "--resume", "s-1")


@pytest.mark.parametrize(
    ("kind", "login", "link"),
    [
        ("codex", ".codex/auth.json", "home/auth.json"),
        ("claude", ".claude/.credentials.json", "home/config/.credentials.json"),
    ],
)
def test_a_persons_login_is_linked_not_copied(kind: str, login: str, link: str, tmp_path: Path) -> None:
    original = tmp_path / "person" / login
    original.parent.mkdir(parents=True)
    original.write_text("{}")
    folder = PrivateFolder(tmp_path / "agent")
    for _ in range(2):
        HOSTS[kind](SPEC, folder, program=Path("/bin/x"), environ={"HOME": str(tmp_path / "person")})
    assert (folder.path / link).readlink() == original
    folder.remove()
    assert original.exists()


HOLD = """
import sys, time
from pathlib import Path
from clients.host_plan import private_folder
folder = private_folder("bob", parent=Path(sys.argv[1]))
folder.make()
folder.write("home/token", "secret")
print(folder.path, flush=True)
time.sleep(60)
"""


def test_what_a_killed_launcher_left_is_removed_at_the_next_start_and_what_is_in_use_stays(tmp_path: Path) -> None:
    mine = private_folder("ada", parent=tmp_path)
    (tmp_path / "adapter-agent-new-1").mkdir()  # being made by somebody else
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        left = Path(other.stdout.readline().strip())
        assert (left / "home/token").exists()
        assert mine.path.exists()
        private_folder("cid", parent=tmp_path).remove()
        assert left.exists()
        other.send_signal(signal.SIGKILL)
    private_folder("dan", parent=tmp_path).remove()
    mine.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["adapter-agent-new-1"]
