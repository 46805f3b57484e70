"""The HTTP server: run inside the daemon's event loop on a socket that it is given, stopped by the daemon."""

import socket
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp

GRACE_S = 3


class HttpServer(uvicorn.Server):
    """uvicorn without its own signal handlers: the daemon decides when to stop, by `should_exit`."""

    def __init__(self, app: ASGIApp) -> None:
        self.is_started = anyio.Event()
        self.is_stopped = anyio.Event()
        super().__init__(
            uvicorn.Config(
                app,
                http="httptools",
                ws="websockets-sansio",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE_S,
                ws_max_size=16 * 1024 * 1024,
            )
        )

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self.is_started.set()

    async def run_on(self, listener: socket.socket) -> None:
        """Answer on a bound socket until `should_exit` is set and requests have had their time to finish."""
        try:
            await self.serve(sockets=[listener])
        finally:
            self.is_stopped.set()
