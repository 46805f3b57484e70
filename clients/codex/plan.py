"""How Codex is started: its configuration file, its environment, its command line."""

import json
from collections.abc import Mapping
from pathlib import Path

from bus.errors import BadArguments
from clients.agent_spec import AgentSpec
from clients.host_plan import Host, HostPlan, PrivateFolder, guidance, passed_on

from .protocol import SERVER, CodexProtocol

KEY = "OPENAI_API_KEY"
ADDRESS = "OPENAI_BASE_URL"
TOKEN = "ADAPTER_TOKEN"  # noqa: S105 - the name of a variable
DEFAULT_ADDRESS = "https://api.openai.com/v1"
STARTUP_TIMEOUT_S = 30
CALL_TIMEOUT_S = 120

_QUIET = """\
approval_policy = "never"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
web_search = "disabled"

[features]
plugins = false
apps = false
multi_agent = false

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"

[sandbox_workspace_write]
network_access = false

[shell_environment_policy]
inherit = "core"
"""


def codex_host(
    spec: AgentSpec, folder: PrivateFolder, *, program: Path, environ: Mapping[str, str], resume: str | None = None
) -> Host:
    """Write the agent's home and workspace; `resume` is the id of a session that has ended and goes on.

    Raises:
        BadArguments: there is no login.
    """
    folder.make()
    folder.write("home/config.toml", configuration(spec, environ))
    folder.write("workspace/AGENTS.md", guidance(spec))
    for name, text in spec.skills.items():
        folder.write(f"home/skills/{name}/SKILL.md", text)
    key = environ.get(KEY, "")
    if not key:
        folder.link_login("home/auth.json", person_login(environ))
    environment = passed_on(environ) | {"HOME": str(folder.home), "CODEX_HOME": str(folder.home), TOKEN: spec.token}
    if key:
        environment[KEY] = key
    plan = HostPlan(
        command=(str(program), "app-server"),
        environment=environment,
        workspace=folder.workspace,
        secrets=(spec.token, key),
    )
    protocol = CodexProtocol(workspace=str(folder.workspace), effort=spec.reasoning, resume=resume)
    return Host(plan=plan, protocol=protocol)


def person_login(environ: Mapping[str, str]) -> Path:
    """The file that `codex login` writes.

    Raises:
        BadArguments: it is not there.
    """
    home = environ.get("CODEX_HOME") or str(Path(environ.get("HOME", "~")).expanduser() / ".codex")
    path = Path(home) / "auth.json"
    if not path.is_file():
        raise BadArguments("Codex has no login", hint=f"log in with `codex login`, or set {KEY}")
    return path.absolute()


def configuration(spec: AgentSpec, environ: Mapping[str, str]) -> str:
    """The text of config.toml."""
    head = ""
    if spec.model is not None:
        head += f"model = {_quoted(spec.model)}\n"
    if spec.reasoning is not None:
        head += f"model_reasoning_effort = {_quoted(spec.reasoning)}\n"
    tail = f"\n{server_table(spec.url)}"
    if environ.get(KEY):
        head += 'model_provider = "endpoint"\n'
        tail += f"""
[model_providers.endpoint]
name = "endpoint"
base_url = {_quoted(environ.get(ADDRESS, DEFAULT_ADDRESS))}
env_key = "{KEY}"
wire_api = "responses"
"""
    return head + _QUIET + tail


def server_table(url: str) -> str:
    """The adapter as an MCP server. Without the approval mode Codex refuses every tool that changes something."""
    return f"""\
[mcp_servers.{SERVER}]
url = {_quoted(url)}
bearer_token_env_var = "{TOKEN}"
startup_timeout_sec = {STARTUP_TIMEOUT_S}
tool_timeout_sec = {CALL_TIMEOUT_S}
required = true
default_tools_approval_mode = "approve"
"""


def _quoted(text: str) -> str:
    """A TOML basic string; JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False)
