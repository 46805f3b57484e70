"""How a host is started: a private home, a private workspace, and nothing of the person's own configuration."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from .agent_spec import AgentSpec
from .host_protocol import HostProtocol

_PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy",
)  # fmt: skip
_PREFIX, _LOCK = "adapter-agent-", "owner.lock"
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
        self._lock: int | None = None

    def own(self) -> None:
        """Hold it until `remove`, or until this process ends however that happens."""
        hidden = self.path / f"{_LOCK}.new"  # who finds the file under its own name finds it locked
        self._lock = os.open(hidden, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        hidden.rename(self.path / _LOCK)

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
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def private_folder(name: str, *, parent: Path) -> PrivateFolder:
    """A new folder for an agent; those of launchers that were killed are removed first, with the tokens in them."""
    for left in parent.glob(f"{_PREFIX}*"):
        if _is_left(left):
            shutil.rmtree(left, ignore_errors=True)
    folder = PrivateFolder(Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-", dir=parent)))
    folder.own()
    return folder


def _is_left(folder: Path) -> bool:
    """Whether no process holds the folder any more; one that is being made has no lock yet."""
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


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
