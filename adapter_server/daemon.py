"""The composition root: every concrete part of the daemon is named here, and what listens in `edge/serving.py`."""

import gc
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
import structlog

from blackboard.board import Board
from blackboard.in_redis import EpisodeStore
from bus.hub import Hub
from bus.tasks import background_tasks
from lemma_store.in_redis import LemmaIndex, connect
from lemma_store.store import open_lemma_store

from .bundle import Bundle
from .call_list import CallList
from .champion import champions_of
from .control import control_methods, event_feed
from .data_folder import DataFolder, open_data_folder
from .edge.listener import bind, url_of
from .embedded_store import open_store
from .episodes import Episodes
from .reply_files import open_replies
from .settings import Settings
from .settling import Settling
from .staging import open_bundle, stage_bundle
from .tokens import Tokens
from .tools.dispatcher import Dispatcher
from .version_desk import VersionDesk
from .withdrawing import Withdrawing

log = structlog.get_logger()


class Daemon(msgspec.Struct, frozen=True, kw_only=True):
    """A running daemon."""

    url: str
    operator_token: str
    folder: DataFolder


@asynccontextmanager
async def running_daemon(settings: Settings) -> AsyncGenerator[Daemon]:
    """Serve inside the block. At its end nothing that was started here is left, and all that was acknowledged is kept.

    Raises:
        BadDataFolder, PortInUse, StorageUnavailable, LeanUnavailable, NoSandbox: if it cannot start.
    """
    folder = open_data_folder(settings.data_path)
    listener = bind(settings.host, settings.port)
    try:
        url = url_of(listener, settings.host)
        async with (
            _serving_loading(),
            open_store(settings) as store,
            EpisodeStore.open(store.url) as episode_store,
            connect(store.url) as redis,
            open_lemma_store(
                folder.episodes,
                index=LemmaIndex(redis, is_durable=store.durability == "always"),
                scratch=folder.scratch,
                workers=settings.workers,
                unsafe=settings.unsafe_no_sandbox,
                project=settings.project_path,
            ) as lemma_store,
            open_replies(folder.episodes, Board(episode_store)) as replies,
            background_tasks() as tasks,
        ):
            board, fixed = Board(episode_store), _fixed_version(settings, folder)
            champions = champions_of(folder, episode_store)
            settling = await Settling.recover(folder, board=board, lemma_store=lemma_store, tasks=tasks)
            episodes = Episodes(
                board=board,
                lemma_store=lemma_store,
                folder=folder,
                champions=champions,
                fixed=fixed,
                settling=settling,
                tokens=Tokens(folder.operator_token()),
                address=lambda: url,
            )
            dispatcher = Dispatcher(
                board=board, lemma_store=lemma_store, on_change=settling.nudge, tasks=tasks, replies=replies
            )
            withdrawing = Withdrawing(folder, board=board, lemma_store=lemma_store, on_change=settling.start_over)
            versions = VersionDesk(folder, champions, fixed=fixed.id if fixed else "")
            hub = Hub(
                control_methods(episodes, CallList(folder.episodes, board), withdrawing, versions), event_feed(board)
            )
            serving = await anyio.to_thread.run_sync(_load_serving)
            token = folder.operator_token()
            async with serving(listener, dispatcher, episodes, hub, settings=settings, operator_token=token):
                folder.announce(url=url, adapter=fixed.id if fixed else "")
                log.info("daemon_started", url=url, data=str(folder.path))
                try:
                    yield Daemon(url=url, operator_token=token, folder=folder)
                finally:
                    folder.withdraw()
                    log.info("daemon_stopping")
    finally:
        listener.close()


async def serve(settings: Settings) -> int:
    """Run a daemon until SIGTERM or SIGINT and return the exit code.

    Raises:
        AdapterError: as `running_daemon`.
    """
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with running_daemon(settings):
            # Code stays as long as the process: looking through it for garbage would stop all calls for a tenth of a
            # second.
            gc.freeze()
            async for received in signals:
                log.info("signal_received", signal=received.name)
                return 130 if received == signal.SIGINT else 0
    return 0


@asynccontextmanager
async def _serving_loading() -> AsyncGenerator[None]:
    """Load what speaks MCP in a thread, while store and Lean start: it is half of the time that a start takes."""
    async with background_tasks() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, _load_serving)
        yield


def _load_serving() -> Callable[..., AbstractAsyncContextManager[None]]:
    from .edge.serving import serving

    return serving


def _fixed_version(settings: Settings, folder: DataFolder) -> Bundle | None:
    """The version for episodes that name none, by id or by folder; without it they get the one in use."""
    if not settings.adapter:
        return None
    if settings.adapter.startswith("ab1-"):
        return open_bundle(folder.adapters, settings.adapter)
    return stage_bundle(Path(settings.adapter).expanduser(), folder.adapters)
