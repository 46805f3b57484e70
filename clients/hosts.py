"""The hosts that can be driven, found and made ready."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from .agent_spec import AgentSpec
from .binaries import find_program
from .claude.plan import claude_host, has_credentials
from .claude.plan import person_login as claude_login
from .codex.plan import KEY as CODEX_KEY
from .codex.plan import codex_host
from .codex.plan import person_login as codex_login
from .host_plan import Host, PrivateFolder, private_folder
from .hosted import FollowingLimits, HostedAgent, Tell


class MakeHost(Protocol):
    """Writes an agent's home and workspace and says how to start the host there."""

    def __call__(
        self,
        spec: AgentSpec,
        folder: PrivateFolder,
        *,
        program: Path,
        environ: Mapping[str, str],
        resume: str | None = None,
    ) -> Host:
        """See `codex_host` and `claude_host`."""
        ...


HOSTS: dict[str, MakeHost] = {"codex": codex_host, "claude": claude_host}


def find_hosts(kinds: Iterable[str], environ: Mapping[str, str]) -> dict[str, Path]:
    """The programs of the kinds that are hosts; other kinds need nothing.

    Raises:
        BadArguments: a program or its login is missing; the hint is the command that helps.
    """
    programs = {kind: find_program(kind, environ) for kind in sorted(set(kinds)) if kind in HOSTS}
    if "codex" in programs and not environ.get(CODEX_KEY):
        codex_login(environ)
    if "claude" in programs and not has_credentials(environ):
        claude_login(environ)
    return programs


def hosted_agent(
    spec: AgentSpec, *, program: Path, logs: Path, limits: FollowingLimits, tell: Tell | None = None
) -> HostedAgent:
    """An agent that is ready to be run, in a private folder that is removed at its end."""
    logs.mkdir(parents=True, exist_ok=True)
    make = HOSTS[spec.kind]

    def prepare(spec: AgentSpec, folder: PrivateFolder, resume: str | None) -> Host:
        return make(spec, folder, program=program, environ=os.environ, resume=resume)

    folder = private_folder(spec.name, parent=Path(tempfile.gettempdir()))
    return HostedAgent(spec, prepare=prepare, folder=folder, logs=logs, limits=limits, tell=tell)
