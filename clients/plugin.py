"""An adapter version as a plugin of Codex or Claude Code, for people who start their agents themselves."""

import json
from collections.abc import Mapping

from .codex.plan import CALL_TIMEOUT_S, STARTUP_TIMEOUT_S
from .codex.protocol import SERVER

KINDS = ("codex", "claude")
NAME = "adapter-server"
TEAM_SKILL = "join-the-team"
_VARIABLES = ("ADAPTER_AGENT", "ADAPTER_EPISODE", "ADAPTER_DATA", "ADAPTER_SERVER", "ADAPTER_TOKEN")
"""What the relay reads from the environment: who the agent is and where the server."""

_TEAM_HEAD = """\
---
name: join-the-team
description: How this team proves a Lean theorem together and what each role is for; read it before the first tool call.
---
"""


def plugin_files(
    kind: str, *, version: str, prompts: Mapping[str, str], skills: Mapping[str, str], source: Mapping[str, bytes]
) -> dict[str, bytes]:
    """The files of the plugin, path → content.

    Args:
        kind: codex or claude.
        version: id of the adapter version.
        prompts: its prompts, by name.
        skills: its skills, by name.
        source: its own files, which the server is started with.
    """
    build = _codex if kind == "codex" else _claude
    files = build(version, {TEAM_SKILL: _team(prompts), **skills})
    files["README.md"] = _readme(kind, version)
    content = {path: text.encode() for path, text in files.items()}
    return content | {f"version/{path}": data for path, data in source.items()}


def _codex(version: str, skills: Mapping[str, str]) -> dict[str, str]:
    """A marketplace of one plugin: Codex installs plugins from marketplaces only."""
    market = {
        "name": NAME,
        "plugins": [
            {
                "name": NAME,
                "source": {"source": "local", "path": f"./plugins/{NAME}"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Productivity",
            }
        ],
    }
    manifest = _manifest(version) | {"skills": "./skills/", "mcpServers": "./.mcp.json"}
    server = _relay() | {
        "env_vars": list(_VARIABLES),
        "required": True,
        "startup_timeout_sec": STARTUP_TIMEOUT_S,
        "tool_timeout_sec": CALL_TIMEOUT_S,
        "default_tools_approval_mode": "approve",
    }
    plugin = {
        ".codex-plugin/plugin.json": _json(manifest),
        ".mcp.json": _json({"mcpServers": {SERVER: server}}),
        **{f"skills/{name}/SKILL.md": text for name, text in skills.items()},
    }
    return {".agents/plugins/marketplace.json": _json(market)} | {
        f"plugins/{NAME}/{path}": text for path, text in plugin.items()
    }


def _claude(version: str, skills: Mapping[str, str]) -> dict[str, str]:
    return {
        ".claude-plugin/plugin.json": _json(_manifest(version)),
        ".mcp.json": _json({"mcpServers": {SERVER: _relay() | {"alwaysLoad": True}}}),
        **{f"skills/{name}/SKILL.md": text for name, text in skills.items()},
    }


def _manifest(version: str) -> dict[str, object]:
    return {
        "name": NAME,
        "version": f"1.0.0+{version.removeprefix('ab1-')[:12]}",
        "description": "Prove Lean theorems together with other agents.",
        "license": "Apache-2.0",
    }


def _relay() -> dict[str, object]:
    return {"command": "adapter-server", "args": ["connect", "stdio"]}


def _team(prompts: Mapping[str, str]) -> str:
    """The team's prompt and all roles as one skill; who the agent is, it learns from `digest`."""
    text = prompts["team"].replace("{{agent}}", "one agent").replace("{{role}}", "with a role")
    roles = [
        f"## As {name.removeprefix('roles/')}\n\n{words.strip()}\n"
        for name, words in sorted(prompts.items())
        if name.startswith("roles/")
    ]
    return "\n".join([_TEAM_HEAD + text, *roles])


def _readme(kind: str, version: str) -> str:
    start = {
        "codex": f"codex plugin marketplace add .\ncodex plugin add {NAME}@{NAME}\nADAPTER_AGENT=ada codex",
        "claude": "ADAPTER_AGENT=ada claude --plugin-dir .",
    }[kind]
    return f"""\
# Adapter version {version}

Data for the adapter server, and the same words as a plugin. `adapter-server` has to be on the PATH.

    adapter-server serve --adapter ./version      # serves exactly this version
    {start.replace(chr(10), chr(10) + "    ")}

The agent joins the only episode of the server on this machine; ADAPTER_EPISODE names another, ADAPTER_DATA another
data folder, ADAPTER_SERVER and ADAPTER_TOKEN a server elsewhere and its operator token.
"""


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
