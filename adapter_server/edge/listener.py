"""The socket that the HTTP server listens on."""

import errno
import socket

from bus.errors import BadArguments, PortInUse

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
