"""`adapter-server serve`: the daemon in the foreground."""

import anyio

from adapter_server.daemon import serve
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings


def run_serve(settings: Settings) -> int:
    """Run the daemon until it is told to stop; the exit code is 0, or 130 after Ctrl-C.

    Raises:
        AdapterError: if it cannot start.
    """
    configure_logs(level=settings.log_level, form=settings.log_format)
    return anyio.run(serve, settings, backend_options={"use_uvloop": True})
