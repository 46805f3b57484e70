"""All that listens: the doors, and the HTTP server before them. To load it takes longer than all else of the daemon."""

import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
import anyio.abc

from adapter_server.settings import Settings
from adapter_server.tools.dispatcher import Dispatcher
from bus.hub import Hub
from bus.tasks import background_tasks

from .application import application
from .bus_door import BusDoor
from .door import Authenticator, McpDoor
from .http_server import GRACE_S, HttpServer
from .server import McpServer
from .suite_door import SuiteDoor

LAST_WORDS_S = 0.2
"""For answers to calls that were cut off to leave, before the sessions that carry them are closed."""

Door = McpDoor | SuiteDoor


@asynccontextmanager
async def serving(
    listener: socket.socket,
    dispatcher: Dispatcher,
    episodes: Authenticator,
    hub: Hub,
    *,
    settings: Settings,
    operator_token: str,
) -> AsyncGenerator[None]:
    """Answer requests inside the block; at its end streams close before connections, so that none is waited for."""
    mcp = McpDoor(McpServer(dispatcher), episodes, host=settings.host)
    suites = _suite_door(settings.host) if settings.conformance else None
    http = HttpServer(application(mcp=mcp, bus=BusDoor(hub, operator_token=operator_token), suites=suites))
    doors: Sequence[Door] = [mcp, suites] if suites else [mcp]
    stop = anyio.Event()
    async with background_tasks() as tasks:
        try:
            for door in doors:
                await tasks.start(_open_until, door, stop)
            tasks.start_soon(http.run_on, listener)
            await http.is_started.wait()
            yield
        finally:
            http.should_exit = True
            for door in doors:
                door.close()
            with anyio.CancelScope(shield=True), anyio.move_on_after(2 * GRACE_S):
                await anyio.sleep(LAST_WORDS_S)
                stop.set()
                await http.is_stopped.wait()


async def _open_until(door: Door, stop: anyio.Event, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Keep the door open. In a task of its own, so that errors of the block around it are not wrapped by it."""
    async with door.open():
        task_status.started()
        await stop.wait()


def _suite_door(host: str) -> SuiteDoor:
    """Imports what it serves only when it is wanted: a daemon shall start fast."""
    from adapter_server.conformance.server import ConformanceServer

    return SuiteDoor(ConformanceServer(), host=host)
