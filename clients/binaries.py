"""Where the hosts' programs are, and whether they are the versions that were tried."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec
import structlog

from bus.errors import BadArguments

VERSION_TIMEOUT_S = 30.0
_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")

log = structlog.get_logger()


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A host as a package."""

    kind: str
    title: str
    package: str
    """npm package."""
    tried: str
    """The version that the tests run. Older ones are refused: their options and messages differ."""
    variable: str
    """Environment variable that names another binary."""
    native: str
    """Path of the native binary below an npm prefix; `*` stands for the platform."""

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"npm install --global {self.package}@{self.tried}"


PROGRAMS = {
    "codex": Program(
        kind="codex",
        title="Codex",
        package="@openai/codex",
        tried="0.171.0",
        variable="ADAPTER_CODEX_BIN",
        native="node_modules/@openai/codex-*/vendor/*/bin/codex",
    ),
    "claude": Program(
        kind="claude",
        title="Claude Code",
        package="@anthropic-ai/claude-code",
        tried="2.1.332",
        variable="ADAPTER_CLAUDE_BIN",
        native="node_modules/@anthropic-ai/claude-code-*/claude",
    ),
}


def find_program(kind: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The host's program: the one that the environment names, else the one on PATH.

    Raises:
        BadArguments: it is not there, does not run, or is older than the version that was tried.
    """
    program = PROGRAMS[kind]
    named = environ.get(program.variable)
    found = named or shutil.which(kind, path=environ.get("PATH"))
    if found is None:
        raise BadArguments(f"{program.title} is not installed", hint=f"install it: {program.install}")
    path = Path(found)
    version = _version(path, program)
    if _key(version) < _key(program.tried):
        message = f"{program.title} {version} at {path} is older than {program.tried}"
        raise BadArguments(message, hint=f"install the version that was tried: {program.install}")
    if version != program.tried:
        log.warning("client_version_untried", client=kind, version=version, tried=program.tried)
    return path


def _version(path: Path, program: Program) -> str:
    try:
        done = subprocess.run(
            [str(path), "--version"], capture_output=True, text=True, timeout=VERSION_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"{program.title} at {path} does not run: {reason}"
        raise BadArguments(message, hint=f"install it: {program.install}") from None
    found = _NUMBERS.search(done.stdout)
    if found is None:
        said = done.stdout.strip()[:80]
        raise BadArguments(f"{path} is not {program.title}: it says {said!r}", hint=f"install it: {program.install}")
    return found[0]


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
