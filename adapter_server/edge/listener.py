"""The HTTP server: a socket of its own, run inside the daemon's event loop, stopped by the daemon."""

import errno
import socket
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import uvicorn
from starlette.types import ASGIApp

from bus.errors import BadArguments, PortInUse

GRACE_S = 3
BACKLOG = 512


def bind(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        PortInUse: if another process has the port, or it is reserved.
        BadArguments: if the host is no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise PortInUse(
                f"port {port} on {host} cannot be used: {error.strerror}",
                hint="Choose another with --port, or 0 for any.",
            ) from error
        raise BadArguments(
            f"cannot listen on {host}: {error.strerror or error}", hint="Give another --host."
        ) from error
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket, host: str) -> str:
    """The address of a bound socket as agents on this machine write it."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}"


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
