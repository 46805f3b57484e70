"""`adapter-server serve`: the daemon in the foreground."""

import gc

import anyio

from adapter_server.daemon import serve
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings

YOUNG_OBJECTS = 10_000
"""So many new objects are looked through for garbage at a time; a call makes some hundred."""


def run_serve(settings: Settings) -> int:
    """Run the daemon until it is told to stop; the exit code is 0, or 130 after Ctrl-C.

    Raises:
        AdapterError: if it cannot start.
    """
    configure_logs(level=settings.log_level, form=settings.log_format)
    gc.set_threshold(YOUNG_OBJECTS)
    return anyio.run(serve, settings, backend_options={"use_uvloop": True})
