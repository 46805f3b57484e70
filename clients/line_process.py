"""A child process that speaks JSON, one object a line."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.abc

from .transcript import blotted

MAX_LINE_BYTES = 64 * 1024 * 1024

# Becomes the host in a fresh interpreter. The kernel then kills the host when this process is gone, even after kill -9.
_GUARD = f"""
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, {int(signal.SIGKILL)})
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class LineProcess:
    """A running host in a process group of its own."""

    def __init__(self, process: anyio.abc.Process, log: Path, secrets: Sequence[str]) -> None:
        self._process = process
        self._log = log
        self._secrets = secrets

    @property
    def pid(self) -> int:
        """Process and process group id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.returncode

    async def send(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Write messages; a process that has ended does not get them, and says so by its end."""
        assert self._process.stdin is not None
        for message in messages:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                await self._process.stdin.send(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    async def messages(self) -> AsyncGenerator[dict[str, Any]]:
        """What it says until it closes its output; lines that are no JSON object go to the log."""
        assert self._process.stdout is not None
        async for line in _lines(self._process.stdout):
            try:
                message: object = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict):
                yield cast("dict[str, Any]", message)
            elif line.strip():
                self._keep(line.decode(errors="replace"))

    async def keep_complaints(self) -> None:
        """Write its standard error to the log, without secrets, until it is closed."""
        assert self._process.stderr is not None
        async for line in _lines(self._process.stderr):
            self._keep(line.decode(errors="replace"))

    async def wait(self) -> int:
        """Until it ends."""
        return await self._process.wait()

    async def stop(self, grace_s: float) -> None:
        """Close its input, which asks it to end; end the whole group by force when it does not."""
        assert self._process.stdin is not None
        with anyio.CancelScope(shield=True):
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                await self._process.stdin.aclose()
            with anyio.move_on_after(grace_s):
                await self._process.wait()
            self._signal(signal.SIGTERM)
            with anyio.move_on_after(grace_s):
                await self._process.wait()
            self._signal(signal.SIGKILL)
            await self._process.wait()
            await self._process.aclose()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _keep(self, line: str) -> None:
        with self._log.open("a", encoding="utf-8") as file:
            file.write(blotted(line, self._secrets).rstrip("\n") + "\n")


async def start(
    command: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path, secrets: Sequence[str]
) -> LineProcess:
    """Start a host.

    Raises:
        OSError: if the program cannot be started.
    """
    guard = [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpid())] if sys.platform == "linux" else []
    process = await anyio.open_process(
        [*guard, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        cwd=folder,
        start_new_session=True,
    )
    return LineProcess(process, log, secrets)


async def _lines(stream: anyio.abc.ByteReceiveStream) -> AsyncGenerator[bytes]:
    rest = bytearray()
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for chunk in stream:
            rest += chunk
            if b"\n" in chunk:
                *lines, tail = bytes(rest).split(b"\n")
                rest = bytearray(tail)
                for line in lines:
                    yield line
            if len(rest) > MAX_LINE_BYTES:
                rest.clear()
    if rest:
        yield bytes(rest)
