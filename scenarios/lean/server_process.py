"""A daemon of the run's own, as a child process that ends with this one."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.abc
import msgspec

from bus.errors import BadArguments, ConnectionLost, Internal, LeanUnavailable

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0
POLL_S = 0.05

# Runs in a fresh interpreter and becomes the daemon. The kernel then tells the daemon to stop when the runner is gone,
# even after kill -9; nothing but prctl(PR_SET_PDEATHSIG) does that without one more process to watch.
_GUARD = f"""
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, {int(signal.SIGTERM)})
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class ServerAddress(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach a server."""

    url: str
    """http://HOST:PORT"""
    token: str
    """The operator's token; a secret."""


class _Note(msgspec.Struct, frozen=True):
    url: str
    pid: int


@asynccontextmanager
async def own_server(data: Path, *, log: Path, options: tuple[str, ...] = ()) -> AsyncGenerator[ServerAddress]:
    """Run a daemon on `data` inside the block; afterwards neither it nor anything it started is left.

    Raises:
        Internal: it did not start; the message is what it said last.
    """
    with log.open("ab") as output:
        process = await anyio.open_process(
            _command(data, options),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C on a terminal is for the runner, which stops the daemon last
        )
    try:
        yield await _started(process, data, log)
    finally:
        await _stop(process)


def remote_server(url: str, *, token_file: Path | None) -> ServerAddress:
    """A server that runs already.

    Raises:
        BadArguments: no token for it, in the file or in ADAPTER_TOKEN.
    """
    try:
        token = token_file.expanduser().read_text(encoding="utf-8").strip() if token_file else ""
    except OSError as error:
        raise BadArguments(f"cannot read the token from {token_file}: {error.strerror or error}") from None
    token = token or os.environ.get("ADAPTER_TOKEN", "")
    if not token:
        hint = "name the server's DATA/operator.token with --token-file, or set ADAPTER_TOKEN"
        raise BadArguments(f"the server {url} wants a token", hint=hint)
    return ServerAddress(url=url, token=token)


def _command(data: Path, options: tuple[str, ...]) -> list[str]:
    serve = [sys.executable, "-m", "adapter_server.cli.main", "serve", "--data", str(data), "--port", "0", *options]
    if sys.platform != "linux":
        return serve
    return [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpid()), *serve]


async def _started(process: anyio.abc.Process, data: Path, log: Path) -> ServerAddress:
    with anyio.move_on_after(START_TIMEOUT_S):
        while process.returncode is None:
            with suppress(OSError, msgspec.DecodeError):
                # a note with another process id is what a killed daemon left
                note = msgspec.json.decode((data / "server.json").read_bytes(), type=_Note)
                if note.pid == process.pid:
                    return ServerAddress(url=note.url, token=(data / "operator.token").read_text().strip())
            await anyio.sleep(POLL_S)
        raise Internal(f"the server did not start: {_last_words(log)}", hint=f"its log is {log}")
    raise LeanUnavailable(f"the server was not ready after {START_TIMEOUT_S:g} s", hint=f"its log is {log}")


async def _stop(process: anyio.abc.Process) -> None:
    with anyio.CancelScope(shield=True), suppress(ProcessLookupError):
        with anyio.move_on_after(STOP_TIMEOUT_S):
            process.terminate()
            await process.wait()
            return
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def died(process_log: Path) -> ConnectionLost:
    """The error for a daemon that went away in the middle."""
    return ConnectionLost(f"the server went away: {_last_words(process_log)}", hint=f"its log is {process_log}")


def _last_words(log: Path) -> str:
    try:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    lines = [line for line in lines if not line.startswith("{")]  # those are of the log
    errors = [" ".join(lines[at : at + 2]) for at, line in enumerate(lines) if line.startswith("adapter-server: ")]
    words = errors or lines
    return (words or ["it said nothing"])[-1].removeprefix("adapter-server: ")
