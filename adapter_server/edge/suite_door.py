"""The HTTP door of `/conformance`: whoever reaches it is served, for there is nothing of an episode behind it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from .transport import McpTransport

if TYPE_CHECKING:
    from adapter_server.conformance.server import ConformanceServer


class SuiteDoor:
    """An ASGI application for one address. Its answers are event streams: the suites want to see what comes before."""

    def __init__(self, server: "ConformanceServer", *, host: str) -> None:
        self._server = server
        self._transport = McpTransport(server.sdk, host=host, streams=True)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Serve inside the block."""
        async with self._transport.open():
            yield

    def close(self) -> None:
        """End the notification streams in order."""
        self._server.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._transport(scope, receive, send)
