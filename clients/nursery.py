"""Tacticians without a start of their own: forks of one process in which all that they import is loaded."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import anyio
import anyio.abc
import msgspec
import structlog

from .agent_spec import TACTICIAN, AgentSpec, passed_on

LOG = structlog.get_logger()
BORN_S = 60.0
"""How long an order may take; the first one waits until everything is loaded."""

COMMAND = (sys.executable, "-m", "clients.tactician.nursery_process")


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a fork needs to know. Its lifeline, the file that it writes to, and a socket for `News` travel with it."""

    environment: dict[str, str]


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What is told about a fork on its own socket: its process id once, then how it ended."""

    pid: int = 0
    exit_code: int | None = None
    error: str = ""
    """Why there is no fork."""


class ForkedProcess:
    """A running fork. It ends when its lifeline is closed, which nobody but this object holds."""

    def __init__(self, pid: int, lifeline: int, news: socket.socket) -> None:
        self.pid = pid
        self._lifeline = lifeline
        self._news = news
        self._exit_code: int | None = None
        self._waiting = anyio.Lock()

    @property
    def returncode(self) -> int | None:
        """None while it runs. One whose nursery was lost has been killed with it."""
        if self._exit_code is None:
            with suppress(BlockingIOError):
                told = _read(self._news)
                self._exit_code = -signal.SIGKILL if told is None else told.exit_code
        return self._exit_code

    async def wait(self) -> int:
        """Until it ends."""
        async with self._waiting:  # a descriptor can be waited for once
            while (code := self.returncode) is None:
                await anyio.wait_readable(self._news)
        return code

    async def aclose(self) -> None:
        """Give back what belongs to it."""
        if self._news.fileno() >= 0:
            self._news.close()
            os.close(self._lifeline)


class Nursery:
    """Forks tacticians. Its process waits for the end of this one, and is started again when it was lost."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: anyio.abc.Process | None = None
        self._orders: socket.socket | None = None
        self._beginning = anyio.Lock()

    async def begin(self) -> None:
        """Start the process, unless it was; it loads while its caller does something else.

        Raises:
            OSError: it cannot be started.
        """
        await self._replace(None)

    async def end(self) -> None:
        """End the process with all that it has forked."""
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
            await self._process.aclose()
            self._process = None

    async def fork(self, environment: Mapping[str, str], *, output: BinaryIO) -> ForkedProcess:
        """A tactician with this environment and no other, in a session of its own; it writes to `output`.

        Raises:
            OSError: there is none.
        """
        await self.begin()
        process = self._process
        try:
            return await self._born(environment, output)
        except ConnectionError:
            LOG.warning("nursery_lost", log=str(self._log))
        await self._replace(process)
        return await self._born(environment, output)

    async def _replace(self, lost: anyio.abc.Process | None) -> None:
        async with self._beginning:
            if self._process is not lost:  # somebody else has replaced it
                return
            await self.end()
            self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs, self._log.open("ab") as log:
                self._process = await anyio.open_process(
                    COMMAND,
                    stdin=theirs.fileno(),
                    stdout=log,
                    stderr=log,
                    env=passed_on() | {"PYTHONUNBUFFERED": "1"},
                    start_new_session=True,
                )
        LOG.info("nursery_started", pid=self._process.pid)

    async def _born(self, environment: Mapping[str, str], output: BinaryIO) -> ForkedProcess:
        assert self._orders is not None
        news, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        news.setblocking(False)
        theirs_lifeline, lifeline = os.pipe()
        try:
            with theirs:
                order = msgspec.json.encode(Order(environment=dict(environment)))
                socket.send_fds(self._orders, [order], [theirs_lifeline, output.fileno(), theirs.fileno()])
            return ForkedProcess(await self._pid(news), lifeline, news)
        except BaseException:
            news.close()
            os.close(lifeline)
            raise
        finally:
            os.close(theirs_lifeline)

    async def _pid(self, news: socket.socket) -> int:
        with anyio.fail_after(BORN_S):
            await anyio.wait_readable(news)
        told = _read(news)
        if told is None:
            raise ConnectionResetError(f"the nursery was lost; its log is {self._log}")
        if told.error:
            raise OSError(told.error)
        return told.pid


@asynccontextmanager
async def open_nursery(log: Path, *, at_once: bool) -> AsyncGenerator[Nursery]:
    """A nursery inside the block; afterwards neither it nor a fork of it is left.

    Args:
        log: where its own complaints go; those of an agent are in the agent's log.
        at_once: begin to load now; otherwise the first order begins it.

    Raises:
        OSError: it cannot be started.
    """
    nursery = Nursery(log)
    try:
        if at_once:
            await nursery.begin()
        yield nursery
    finally:
        with anyio.CancelScope(shield=True):
            await nursery.end()


def can_be_forked(spec: AgentSpec) -> bool:
    """Whether a nursery can do what the agent's command does."""
    return sys.platform == "linux" and spec.command == TACTICIAN


def _read(news: socket.socket) -> News | None:
    """The next news, None when there will be none; raises BlockingIOError when there is none yet."""
    try:
        told = news.recv(65536)
    except ConnectionError:
        return None
    return msgspec.json.decode(told, type=News) if told else None
