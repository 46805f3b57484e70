"""How Claude Code is started: its configuration files, its environment, its command line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bus.errors import BadArguments
from clients.agent_spec import AgentSpec
from clients.host_plan import Host, HostPlan, PrivateFolder, guidance, passed_on

from .protocol import SERVER, ClaudeProtocol

KEY = "ANTHROPIC_API_KEY"
ADDRESS = "ANTHROPIC_BASE_URL"
_CREDENTIALS = (KEY, "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
TOKEN = "ADAPTER_TOKEN"  # noqa: S105 - the name of a variable
CALL_TIMEOUT_MS = 120_000
TOOLS = "Read,Glob,Grep,Skill"
"""Of the host's own. Nothing here writes or runs; reading is confined to the workspace."""

_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "ENABLE_TOOL_SEARCH": "false",
}


def claude_host(
    spec: AgentSpec, folder: PrivateFolder, *, program: Path, environ: Mapping[str, str], resume: str | None = None
) -> Host:
    """Write the agent's home and workspace; `resume` is the id of a session that has ended and goes on.

    Raises:
        BadArguments: there is no login.
    """
    folder.make()
    servers = folder.write("home/mcp.json", json.dumps({"mcpServers": {SERVER: server_entry(spec.url)}}, indent=2))
    folder.write("workspace/CLAUDE.md", guidance(spec))
    for name, text in spec.skills.items():
        folder.write(f"workspace/.claude/skills/{name}/SKILL.md", text)
    credentials = {name: environ[name] for name in (*_CREDENTIALS, ADDRESS) if environ.get(name)}
    if not has_credentials(environ):
        folder.link_login("home/config/.credentials.json", person_login(environ))
    own = {"HOME": str(folder.home), "CLAUDE_CONFIG_DIR": str(folder.home / "config"), TOKEN: spec.token}
    plan = HostPlan(
        command=(str(program), *_arguments(spec, servers), *(("--resume", resume) if resume else ())),
        environment=passed_on(environ) | _QUIET | credentials | own,
        workspace=folder.workspace,
        secrets=(spec.token, *(credentials.get(name, "") for name in _CREDENTIALS)),
    )
    return Host(plan=plan, protocol=ClaudeProtocol())


def _arguments(spec: AgentSpec, servers: Path) -> list[str]:
    arguments = [
        "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
        "--mcp-config", str(servers), "--strict-mcp-config", "--allowedTools", f"mcp__{SERVER}",
        "--tools", TOOLS, "--permission-mode", "dontAsk", "--setting-sources", "project",
    ]  # fmt: skip
    if spec.model is not None:
        arguments += ["--model", spec.model]
    if spec.reasoning is not None:
        arguments += ["--effort", spec.reasoning]
    return arguments


def has_credentials(environ: Mapping[str, str]) -> bool:
    """Whether the environment has a key or a token for the model."""
    return any(environ.get(name) for name in _CREDENTIALS)


def person_login(environ: Mapping[str, str]) -> Path:
    """The file that `claude` writes when a person logs in.

    Raises:
        BadArguments: it is not there.
    """
    home = environ.get("CLAUDE_CONFIG_DIR") or str(Path(environ.get("HOME", "~")).expanduser() / ".claude")
    path = Path(home) / ".credentials.json"
    if not path.is_file():
        hint = f"log in with `claude` and /login, make a token with `claude setup-token`, or set {KEY}"
        raise BadArguments("Claude Code has no login", hint=hint)
    return path.absolute()


def server_entry(url: str) -> dict[str, Any]:
    """The adapter as an MCP server; the host fills in the token from its environment."""
    return {
        "type": "http",
        "url": url,
        "headers": {"Authorization": f"Bearer ${{{TOKEN}}}"},
        "timeout": CALL_TIMEOUT_MS,
        "alwaysLoad": True,
    }
