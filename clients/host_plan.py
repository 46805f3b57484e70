"""How a host is started: a private home, a private workspace, and nothing of the person's own configuration."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from .agent_spec import AgentSpec
from .host_protocol import HostProtocol

_PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy",
)  # fmt: skip
_LOOPBACK = "127.0.0.1,localhost,::1"


class HostPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that starting a host takes."""

    command: tuple[str, ...]
    environment: dict[str, str]
    workspace: Path
    secrets: tuple[str, ...]
    """Never to be written anywhere."""


class PrivateFolder:
    """Home and workspace of one agent, readable by its user only. No folder above them holds a project."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.home = path / "home"
        self.workspace = path / "workspace"

    def make(self) -> None:
        """Make the folders; what was in them stays."""
        for folder in (self.path, self.home, self.workspace):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, name: str, text: str) -> Path:
        """Write a file that only its user can read."""
        path = self.path / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def link_login(self, name: str, original: Path) -> None:
        """Let the host use a person's login, and only that; a renewed login is kept where it belongs."""
        link = self.path / name
        link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(original)

    def remove(self) -> None:
        """Remove the folders with all that is in them."""
        shutil.rmtree(self.path, ignore_errors=True)


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A started host's plan and the protocol that goes with it."""

    plan: HostPlan
    protocol: HostProtocol


def guidance(spec: AgentSpec) -> str:
    """What stands in AGENTS.md or CLAUDE.md."""
    parts = [spec.prompts.get("team", f"You are {spec.name}."), spec.prompts.get("role", "")]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """The little of our own environment that a host gets; what is on this machine is never asked from a proxy."""
    passed = {name: environ[name] for name in _PASSED_ON if name in environ}
    exempt = ",".join(filter(None, (environ.get("NO_PROXY", environ.get("no_proxy", "")), _LOOPBACK)))
    return passed | {"NO_PROXY": exempt, "no_proxy": exempt}
