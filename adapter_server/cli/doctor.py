"""`adapter-server doctor`: what this machine offers, what is missing, and how to get it."""

import platform
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import anyio
import msgspec

from adapter_server.data_folder import FORMAT
from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs, hide_secrets
from adapter_server.settings import Settings
from adapter_server.store_folder import find_binary
from bus.errors import AdapterError, BadDataFolder, PortInUse
from lemma_store.lean.core_library import library_id, read_core_sources
from lemma_store.lean.sandbox import probe
from lemma_store.lean.toolchain import cache_folder, find_toolchain

from .exit_codes import OK, SERVICE_FAILURE

NEEDED_PYTHON = (3, 11)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One part that `serve` needs."""

    is_ok: bool
    """Whether `serve` can use it."""
    used: str
    """What would be used."""
    missing: str = ""
    """What is not there, when something is not."""
    how: str = ""
    """How to get it."""
    facts: dict[str, Any] = {}
    """Details for programs."""


def examine(settings: Settings) -> dict[str, Finding]:
    """Look at every part; nothing is left running and nothing is changed."""
    checks: dict[str, Callable[[Settings], Finding]] = {
        "python": _python,
        "store": _store,
        "lean": _lean,
        "sandbox": _sandbox,
        "data": _data,
        "port": _port,
    }
    return {name: _guarded(check, settings) for name, check in checks.items()}


def run_doctor(settings: Settings, *, is_json: bool) -> int:
    """Print the findings; the code is 0 when `serve` would work."""
    configure_logs(level="error")
    findings = examine(settings)
    is_ok = all(finding.is_ok for finding in findings.values())
    if is_json:
        print(msgspec.json.encode({"ok": is_ok, **msgspec.to_builtins(findings)}).decode())
        return OK if is_ok else SERVICE_FAILURE
    for name, finding in findings.items():
        print(f"{'ok     ' if finding.is_ok else 'MISSING'} {name:8} {finding.used}")
        for line in (finding.missing, finding.how):
            if line:
                print(f"                 {line}")
    return OK if is_ok else SERVICE_FAILURE


def _guarded(check: Callable[[Settings], Finding], settings: Settings) -> Finding:
    try:
        return check(settings)
    except AdapterError as error:
        return Finding(is_ok=False, used="nothing", missing=error.message, how=error.hint)


def _python(_settings: Settings) -> Finding:
    is_ok = sys.version_info >= NEEDED_PYTHON
    return Finding(
        is_ok=is_ok,
        used=f"{platform.python_implementation()} {platform.python_version()} at {sys.executable}",
        missing="" if is_ok else "Python 3.11 or newer is needed",
        how="" if is_ok else "install Python 3.11 and make the virtual environment with it",
    )


def _store(settings: Settings) -> Finding:
    if settings.store_url:
        anyio.run(_reach, settings)
        return Finding(
            is_ok=True, used=f"external server at {hide_secrets(settings.store_url)}", facts={"kind": "external"}
        )
    binary = find_binary(settings.store_binary)
    try:
        done = subprocess.run([str(binary), "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        how = "install valkey-server or redis-server, or set ADAPTER_REDIS_URL"
        return Finding(is_ok=False, used=str(binary), missing=f"the program does not run: {error}", how=how)
    version = done.stdout.strip()
    facts = {"kind": "embedded", "binary": str(binary), "version": version}
    return Finding(is_ok=True, used=f"embedded: {version} at {binary}", facts=facts)


async def _reach(settings: Settings) -> None:
    async with open_store(settings):
        pass


def _lean(_settings: Settings) -> Finding:
    toolchain = find_toolchain()
    core = cache_folder() / library_id(read_core_sources(), toolchain=toolchain)
    is_cached = core.is_dir()
    state = f"core library in {core}" if is_cached else "core library not built yet; the first start builds it"
    return Finding(
        is_ok=True,
        used=f"Lean {toolchain.version} in {toolchain.library}; {state}",
        facts={"toolchain": toolchain.id, "library": str(toolchain.library), "core": core.name, "is_cached": is_cached},
    )


def _sandbox(settings: Settings) -> Finding:
    how = "allow unprivileged user namespaces or Landlock; --unsafe-no-sandbox runs trusted texts without"
    try:
        report = probe()
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(is_ok=settings.unsafe_no_sandbox, used="nothing", missing=f"the probe failed: {error}", how=how)
    holding = [layer for layer, holds in report.layers.items() if holds]
    missing = "; ".join(f"{layer}: {reason}" for layer, reason in report.reasons.items())
    is_ok = report.is_sufficient or settings.unsafe_no_sandbox
    return Finding(
        is_ok=is_ok,
        used=", ".join(holding) or "nothing",
        missing=missing,
        how="" if report.is_sufficient else how,
        facts={"layers": report.layers, "is_sufficient": report.is_sufficient},
    )


def _data(settings: Settings) -> Finding:
    path = settings.data_path
    marker = path / "format"
    if not path.exists():
        return Finding(is_ok=True, used=f"{path} (will be made)", facts={"path": str(path)})
    try:
        found = marker.read_text(errors="replace") if marker.exists() else ""
        is_empty = not any(path.iterdir())
    except OSError as error:
        raise BadDataFolder(
            f"cannot use {path}: {error.strerror or error}", hint="choose another with --data"
        ) from None
    if found != FORMAT and not (is_empty and not found):
        raise BadDataFolder(f"{path} is not a data folder of this version", hint="choose another with --data")
    return Finding(is_ok=True, used=str(path), facts={"path": str(path)})


def _port(settings: Settings) -> Finding:
    from adapter_server.edge.listener import bind

    if settings.port == 0:
        return Finding(is_ok=True, used=f"{settings.host}, any free port", facts={"host": settings.host, "port": 0})
    try:
        bind(settings.host, settings.port).close()
    except PortInUse as error:
        how = error.hint or "choose another with --port, or 0 for any"
        return Finding(is_ok=False, used=f"{settings.host}:{settings.port}", missing=error.message, how=how)
    used = f"{settings.host}:{settings.port}"
    return Finding(is_ok=True, used=used, facts={"host": settings.host, "port": settings.port})
