"""The store: an external Redis or Valkey by URL, or an embedded Valkey that lives and dies with this process.

Embedded, it answers a write only after the write is on the disk (`appendfsync always`), listens on a Unix socket in a
folder that only its owner can enter, and on no port. Two locks guard its folder. `owner.lock` is held by the daemon;
`server.lock` is inherited by the server process, so it tells when the last writer of the append-only file has gone,
however its daemon ended.
"""
# redis-py leaves `**kwargs` of its commands without types.
# pyright: reportUnknownMemberType=false

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import anyio
import anyio.abc
import msgspec
import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from bus.errors import BadArguments, StorageUnavailable
from bus.tasks import background_tasks

from .data_folder import DataFolder
from .logs import hide_secrets
from .settings import Settings
from .store_folder import find_binary, is_locked, last_line, owned, placed_socket

log = structlog.get_logger(__name__)

Durability = Literal["always", "everysec", "unknown"]

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 15.0
REACH_TIMEOUT_S = 5.0
POLL_S = 0.02
RESTART_PAUSE_S = 1.0

# Runs in a fresh interpreter and becomes the server. The kernel then ends the server when the daemon is gone, even
# after kill -9; nothing but prctl(PR_SET_PDEATHSIG) does that without one more process to watch.
_GUARD = f"""
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, {int(signal.SIGTERM)})
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class StoreAddress(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach the store.

    Attributes:
        url: for `redis.asyncio.Redis.from_url`; may contain a password.
        is_embedded: whether this process runs the server.
        durability: when an answered write is on the disk: at once, within a second, or the server does not promise it.
    """

    url: str
    is_embedded: bool
    durability: Durability


@contextlib.asynccontextmanager
async def open_store(settings: Settings, /) -> AsyncGenerator[StoreAddress]:
    """Make the store available inside the block.

    An embedded server that dies inside the block is started again; calls fail until it is back. What an earlier daemon
    left running on the same folder is stopped first: it would not end with this process.

    Raises:
        StorageUnavailable: the server cannot be reached or started.
        BadDataFolder: another daemon uses the folder.
        BadArguments: the URL is none of unix://, redis://, rediss://.
    """
    if settings.store_url:
        yield await _reach(settings.store_url)
        return
    folder = DataFolder(path=settings.data_path).store
    with owned(folder), placed_socket(folder) as socket:
        server = _Server(folder, socket=socket, binary=find_binary(settings.store_binary))
        await server.start()
        try:
            async with background_tasks() as tasks:
                tasks.start_soon(server.keep_running)
                yield StoreAddress(url=server.url, is_embedded=True, durability="always")
        finally:
            await server.stop()


async def _reach(url: str) -> StoreAddress:
    shown = hide_secrets(url)
    if not url.startswith(("unix://", "redis://", "rediss://")):
        raise BadArguments(f"the store's address {shown} does not start with unix://, redis:// or rediss://")
    try:
        async with _client(url) as client:
            await client.ping()
            durability = await _durability(client)
    except (RedisError, OSError, ValueError) as error:
        raise StorageUnavailable(
            f"the store at {shown} cannot be reached: {hide_secrets(str(error))}",
            hint="start it, correct ADAPTER_REDIS_URL, or leave that out to use the embedded store",
        ) from error
    if durability == "unknown":
        log.warning("store_durability_unknown", store=shown)
    return StoreAddress(url=url, is_embedded=False, durability=durability)


async def _durability(client: Redis) -> Durability:
    try:
        found = await client.config_get("appendonly", "appendfsync")
    except RedisError:  # this user may not ask
        return "unknown"
    match found.get("appendonly"), found.get("appendfsync"):
        case "yes", "always":
            return "always"
        case "yes", "everysec":
            return "everysec"
        case _:
            return "unknown"


def _client(url: str) -> Redis:
    return Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=REACH_TIMEOUT_S,
        socket_connect_timeout=REACH_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
    )


class _Server:
    """One server process at a time on one folder; start, keep_running and stop never run at the same time."""

    def __init__(self, folder: Path, *, socket: Path, binary: Path) -> None:
        self._folder = folder
        self._binary = binary
        self._socket = socket
        self._process: anyio.abc.Process | None = None
        self.url = f"unix://{quote(str(self._socket))}"

    async def start(self) -> None:
        """Return when the server answers; its file is loaded then."""
        with (self._folder / "server.lock").open("a+") as lock, (self._folder / "log").open("wb") as output:
            await self._take_lock(lock.fileno())
            await self._stop_stranger()
            self._process = await anyio.open_process(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                start_new_session=True,  # Ctrl-C on a terminal is for the daemon, which stops the server last
                pass_fds=[lock.fileno()],
            )
        try:
            await self._answered(self._process)
        except BaseException:
            await self.stop()
            raise
        log.info("store_started", pid=self._process.pid, binary=str(self._binary))

    def _command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
            "daemonize": "no",
            "loglevel": "warning",
        }
        server = [str(self._binary), *(part for name, value in options.items() for part in (f"--{name}", value))]
        if sys.platform != "linux":  # no death signal there: what a killed daemon leaves is stopped at the next start
            return server
        return [sys.executable, "-I", "-S", "-c", _GUARD, str(os.getpid()), *server]

    async def _take_lock(self, descriptor: int) -> None:
        """Wait until no server of an earlier daemon is left; ask one that stays to stop."""
        if is_locked(descriptor):
            return
        log.warning("store_left_over", folder=str(self._folder))
        with anyio.move_on_after(STOP_TIMEOUT_S):
            await self._stop_stranger()
            while not is_locked(descriptor):  # noqa: ASYNC110 - a lock of the kernel wakes no event
                await anyio.sleep(POLL_S)
            return
        raise StorageUnavailable(
            f"a store of an earlier run still works on {self._folder} and does not stop",
            hint=f"end the process that has {self._folder / 'server.lock'} open",
        )

    async def _stop_stranger(self) -> None:
        """Stop a server that listens on our socket, if it works on our folder."""
        try:
            async with _client(self.url) as client:
                found = (await client.config_get("dir")).get("dir")
                if found != str(self._folder.resolve()):
                    raise StorageUnavailable(f"the store behind {self._socket} works on {found}, not on {self._folder}")
                await client.shutdown(nosave=True)
        except (RedisError, OSError):  # nobody listens, or it is ending already
            return

    async def _answered(self, process: anyio.abc.Process) -> None:
        with anyio.move_on_after(START_TIMEOUT_S):
            while process.returncode is None:
                with contextlib.suppress(RedisError, OSError):
                    async with _client(self.url) as client:
                        await client.ping()
                    return
                await anyio.sleep(POLL_S)
        raise StorageUnavailable(
            f"the embedded store did not start: {last_line(self._folder / 'log')}", hint=f"see {self._folder / 'log'}"
        )

    async def keep_running(self) -> None:
        """Start the server again whenever it dies."""
        while True:
            if self._process is not None:
                code = await self._process.wait()
                log.error("store_died", code=code, said=last_line(self._folder / "log"))
            try:
                await self.start()
            except StorageUnavailable as error:
                log.warning("store_not_restarted", reason=error.message)
                await anyio.sleep(RESTART_PAUSE_S)

    async def stop(self) -> None:
        """Stop the server in order, or by force when it does not obey; after this it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(STOP_TIMEOUT_S), contextlib.suppress(ProcessLookupError):
                process.terminate()
                await process.wait()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            log.info("store_stopped", code=await process.wait())
