"""Stores and daemons for tests, each a real process."""
# redis-py leaves `**kwargs` of its commands without types.
# pyright: reportUnknownMemberType=false

import contextlib
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import psutil
from redis.asyncio import Redis
from redis.exceptions import RedisError

from adapter_server.embedded_store import StoreAddress
from adapter_server.store_folder import find_binary, is_locked

DAEMON = """
import signal, sys, anyio
from redis.asyncio import Redis
from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings

async def main():
    async with open_store(Settings(data=sys.argv[1])) as address:
        async with Redis.from_url(address.url) as client:
            await client.set("kept", "yes")
            print((await client.info("server"))["process_id"], flush=True)
        await anyio.sleep_forever()

configure_logs(form="json")
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background ignores it otherwise
anyio.run(main)
"""

WRITER = """
import sys, anyio
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings

async def main():
    once = Retry(NoBackoff(), 0)
    async with open_store(Settings(data=sys.argv[1])) as address, Redis.from_url(address.url, retry=once) as client:
        print((await client.info("server"))["process_id"], flush=True)
        while True:
            print(await client.incr("count"), flush=True)

configure_logs(form="json")
anyio.run(main)
"""


@contextlib.asynccontextmanager
async def connected(address: StoreAddress) -> AsyncGenerator[Redis]:
    async with Redis.from_url(address.url, decode_responses=True) as client:
        yield client


async def pid_of(client: Redis) -> int:
    return int((await client.info("server"))["process_id"])


async def is_gone(pid: int) -> bool:
    """Wait until a process has ended; a zombie counts as ended."""
    with anyio.move_on_after(10):
        while True:
            try:
                if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                    return True
            except psutil.NoSuchProcess:
                return True
            await anyio.sleep(0.01)
    return False


@contextlib.asynccontextmanager
async def daemon(data: str, *, program: str = DAEMON) -> AsyncGenerator[tuple[anyio.abc.Process, int]]:
    """Run a process that owns a store; yields it and the server's process id."""
    async with await anyio.open_process([sys.executable, "-c", program, data], stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            with anyio.fail_after(30):
                first = await process.stdout.receive()
            yield process, int(first.split()[0])
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


@contextlib.asynccontextmanager
async def stranger(folder: Path, *, socket: Path, holds_lock: bool) -> AsyncGenerator[anyio.abc.Process]:
    """Run a server that no daemon owns on an existing folder."""
    options = ["--port", "0", "--dir", str(folder), "--unixsocket", str(socket), "--appendonly", "yes"]
    with (folder / "server.lock").open("a+") as lock:
        if holds_lock:
            assert is_locked(lock.fileno())
        command = [str(find_binary()), *options]
        process = await anyio.open_process(command, stdout=subprocess.DEVNULL, pass_fds=[lock.fileno()])
    async with process:
        try:
            with anyio.fail_after(10):
                while not await anyio.Path(socket).exists():
                    await anyio.sleep(0.01)
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


async def comes_back(address: StoreAddress) -> int:
    """Wait until the store answers; return its process id."""
    while True:
        with contextlib.suppress(RedisError):
            async with connected(address) as client:
                return await pid_of(client)
        await anyio.sleep(0.02)
