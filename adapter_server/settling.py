"""What the server does in episodes by itself: closing parents, assembling, ending what is out of time."""

import time
from typing import Self

import anyio
import anyio.abc
import structlog

from blackboard.board import Board
from blackboard.types import EpisodeMeta
from bus.errors import AdapterError, StorageUnavailable, UnknownId
from bus.messages import EpisodeState
from lemma_store.store import LemmaStore

from .data_folder import DataFolder
from .tools.closing import record_missing, settle
from .tools.falsity import SmallValues

RETRY_S = 1.0
TRIES = 60
LAST_CHANCE_S = 15.0
FALSITY_TRIES = 6
"""Small values that a new part is tried at."""

log = structlog.get_logger()


class Settling:
    """Background work on episodes. At most one task settles an episode at a time; none is lost while one runs."""

    def __init__(self, *, board: Board, lemma_store: LemmaStore, tasks: anyio.abc.TaskGroup) -> None:
        self._board = board
        self._lemma_store = lemma_store
        self._tasks = tasks
        self._running: set[str] = set()
        self._again: set[str] = set()
        self._compared: dict[str, int] = {}
        self._small_values = SmallValues(board=board, lemma_store=lemma_store)
        self._trying: set[str] = set()

    @classmethod
    async def recover(
        cls, folder: DataFolder, *, board: Board, lemma_store: LemmaStore, tasks: anyio.abc.TaskGroup
    ) -> Self:
        """Begin where the last daemon stopped: every open episode is settled and its clock runs on."""
        settling = cls(board=board, lemma_store=lemma_store, tasks=tasks)
        for path in sorted(folder.episodes.iterdir()):
            try:
                meta = await board.meta(path.name)
            except UnknownId:
                continue
            if meta.status == "open":
                tasks.start_soon(settling._prepare, path.name, name=f"prepare {path.name}")
                settling.nudge(path.name)
                settling.watch_time(path.name, seconds=meta.details.get("seconds"))
        return settling

    def nudge(self, episode: str) -> None:
        """Something changed in the episode: look soon whether something follows from it."""
        if episode in self._running:
            self._again.add(episode)
            return
        self._running.add(episode)
        self._tasks.start_soon(self._settle, episode, name=f"settle {episode}")

    def start_over(self, episode: str) -> None:
        """Lemmas were taken back: compare store and board from the beginning, and look what follows."""
        self._compared.pop(episode, None)
        self.nudge(episode)

    def watch_time(self, episode: str, *, seconds: float | None) -> None:
        """End the episode as unsolved when its time, counted from its opening, is over."""
        if seconds is not None:
            self._tasks.start_soon(self._expire, episode, seconds, name=f"expire {episode}")

    async def end(self, episode: str, status: EpisodeState, reason: str) -> EpisodeMeta:
        """End an episode; a target that is closed already is assembled first, and the episode is solved then."""
        with anyio.move_on_after(LAST_CHANCE_S):
            await self._settle_once(episode)
        meta = await self._board.close_episode(episode, status, reason)
        await self._lemma_store.release(episode)
        return meta

    async def _prepare(self, episode: str) -> None:
        """Agents go on where they stopped: their next check shall not wait until a library is replayed."""
        try:
            await self._lemma_store.prepare(episode)
        except AdapterError as error:
            log.warning("judge_not_prepared", episode=episode, code=error.code, reason=error.message)

    async def _settle(self, episode: str) -> None:
        try:
            for _ in range(TRIES):
                self._again.discard(episode)
                is_done = await self._settle_once(episode)
                if is_done and episode not in self._again:
                    self._try_new_parts(episode)
                    return
                if not is_done:
                    await anyio.sleep(RETRY_S)
        finally:
            self._running.discard(episode)
            if episode in self._again:
                self.nudge(episode)

    async def _settle_once(self, episode: str) -> bool:
        """False when it makes sense to try again."""
        try:
            if (await self._board.meta(episode)).status == "open":
                self._compared[episode] = await record_missing(
                    episode, board=self._board, lemma_store=self._lemma_store, after=self._compared.get(episode)
                )
                await settle(episode, board=self._board, lemma_store=self._lemma_store)
        except AdapterError as error:
            log.warning("settling_failed", episode=episode, code=error.code, reason=error.message)
            return not error.is_retryable
        except Exception:
            # A defect in one episode must not end the daemon under all others.
            log.exception("settling_broke", episode=episode)
        return True

    def _try_new_parts(self, episode: str) -> None:
        if episode not in self._trying:
            self._trying.add(episode)
            self._tasks.start_soon(self._look_for_false_parts, episode, name=f"small values {episode}")

    async def _look_for_false_parts(self, episode: str) -> None:
        try:
            is_any_false = await self._small_values.look(episode, tries=FALSITY_TRIES)
        except AdapterError as error:
            log.warning("parts_not_tried", episode=episode, code=error.code)
            return
        except Exception:
            # As above: a defect in one episode must not end the daemon under all others.
            log.exception("trying_parts_broke", episode=episode)
            return
        finally:
            self._trying.discard(episode)
        if is_any_false:
            self.nudge(episode)

    async def _expire(self, episode: str, seconds: float) -> None:
        is_over = False
        while not is_over:
            try:
                meta = await self._board.meta(episode)
                await anyio.sleep(max(0.0, seconds - (time.time() - meta.opened_at_ms / 1000)))
                await self.end(episode, "unsolved", f"{seconds:g} seconds are over")
                is_over = True
            except StorageUnavailable:
                await anyio.sleep(RETRY_S)
        log.info("episode_expired", episode=episode)
