"""The HTTP door of `/conformance`: whoever reaches it is served, for there is nothing of an episode behind it."""

from typing import TYPE_CHECKING

from .transport import McpTransport

if TYPE_CHECKING:
    from adapter_server.conformance.server import ConformanceServer


class SuiteDoor(McpTransport):
    """An ASGI application for one address. Its answers are event streams: the suites want to see what comes before."""

    def __init__(self, server: "ConformanceServer", *, host: str) -> None:
        super().__init__(server.sdk, host=host, streams=True)
        self._server = server

    def close(self) -> None:
        """End the notification streams in order."""
        self._server.close()
