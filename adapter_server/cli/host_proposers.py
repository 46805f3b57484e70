"""Codex and Claude Code as proposers: the command proposer with the arguments that let them read and nothing else."""

import json
from collections.abc import Mapping

from adapter_server.evolver.proposers.command import Command, CommandProposer
from clients.binaries import find_program

TIMEOUT_S = 900.0
INSTRUCTION = (
    "Read README.md in the folder {context} and do what it says: read the other files there, find the one change that "
    "helps most, and answer with the JSON object that README.md describes and nothing else. Change no file.\n"
)
CODEX_KEY = "OPENAI_API_KEY"
CODEX_ADDRESS = "OPENAI_BASE_URL"


def host_proposer(kind: str, *, model: str = "", environ: Mapping[str, str]) -> CommandProposer:
    """A proposer played by `codex` or `claude` with the person's own login, or with the key in the environment.

    Raises:
        BadArguments: the program is missing.
    """
    program = str(find_program(kind, environ))
    arguments = _codex(model, environ) if kind == "codex" else _claude(model)
    command = Command(arguments=[program, *arguments], timeout_s=TIMEOUT_S, name=kind, instruction=INSTRUCTION)
    return CommandProposer(command, environment=environ)


def _claude(model: str) -> list[str]:
    arguments = [
        "-p", "--output-format", "text", "--tools", "Read,Glob,Grep", "--permission-mode", "dontAsk",
        "--strict-mcp-config", "--setting-sources", "project", "--add-dir={context}",
    ]  # fmt: skip
    return [*arguments, "--model", model] if model else arguments


def _codex(model: str, environ: Mapping[str, str]) -> list[str]:
    arguments = [
        "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--cd", "{context}",
        "--output-last-message", "{out}",
    ]  # fmt: skip
    if model:
        arguments += ["--model", model]
    if environ.get(CODEX_KEY):
        address = environ.get(CODEX_ADDRESS, "https://api.openai.com/v1")
        provider = {"name": "endpoint", "base_url": address, "env_key": CODEX_KEY, "wire_api": "responses"}
        arguments += ["-c", 'model_provider="endpoint"']
        for name, value in provider.items():
            arguments += ["-c", f"model_providers.endpoint.{name}={json.dumps(value)}"]
    return [*arguments, "-"]
