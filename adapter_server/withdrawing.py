"""Taking lemmas back in an episode: out of the store, the plan and the final proof."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import structlog

from blackboard.board import Board
from bus.withdrawals import LemmaRevoke, LemmasRecheck, Withdrawal, Withdrawn
from lemma_store.assembly import CERTIFICATE
from lemma_store.store import AGAIN, LemmaStore
from lemma_store.types import Lemma

from .data_folder import DataFolder
from .tools.closing import SERVER, forget_assembly

log = structlog.get_logger()


class Withdrawing:
    """What operators may do with lemmas; `on_change` is told of an episode that lost some."""

    def __init__(
        self, folder: DataFolder, *, board: Board, lemma_store: LemmaStore, on_change: Callable[[str], object]
    ) -> None:
        self._folder = folder
        self._board = board
        self._lemma_store = lemma_store
        self._on_change = on_change

    async def revoke(self, request: LemmaRevoke) -> Withdrawal:
        """Take a lemma back and all that rests on it.

        Raises:
            UnknownId: there is no such episode or lemma.
            StorageUnavailable: nothing was revoked.
        """
        had_certificate = self._has_certificate(request.episode)
        gone = await self._lemma_store.revoke(request.episode, request.lemma, reason=request.reason)
        return await self._told(
            request.episode, gone, reasons={}, reason=request.reason, had_certificate=had_certificate
        )

    async def recheck(self, request: LemmasRecheck) -> Withdrawal:
        """Judge everything again in a new kernel, and take back what it refuses with all that rests on it.

        Raises:
            UnknownId: there is no such episode.
            LeanUnavailable: the library or the problem cannot be replayed; nothing was revoked.
        """
        had_certificate = self._has_certificate(request.episode)
        found = await self._lemma_store.recheck(request.episode)
        told = await self._told(
            request.episode, found.revoked, reasons=found.refused, reason=AGAIN, had_certificate=had_certificate
        )
        return msgspec.structs.replace(told, kept=len(found.kept), undecided=found.undecided)

    async def _told(
        self,
        episode: str,
        gone: Sequence[Lemma],
        *,
        reasons: Mapping[str, str],
        reason: str,
        had_certificate: bool,
    ) -> Withdrawal:
        """Let the episode know what is gone, and say what it means."""
        meta = await self._board.meta(episode)
        reopened: list[str] = []
        if gone:
            forget_assembly(episode, lemma_store=self._lemma_store)
            if meta.status == "open":
                reopened = await self._board.withdraw(episode, SERVER, lemmas=[unit.id for unit in gone], reason=reason)
                self._on_change(episode)
            log.warning("lemmas_withdrawn", episode=episode, lemmas=[unit.id for unit in gone], reason=reason)
        return Withdrawal(
            episode=episode,
            status=meta.status,
            revoked=[Withdrawn(id=unit.id, name=unit.name, reason=reasons.get(unit.id, reason)) for unit in gone],
            reopened=reopened,
            is_certificate_withdrawn=had_certificate and not self._has_certificate(episode),
        )

    def _has_certificate(self, episode: str) -> bool:
        return (self._folder.episodes / episode / CERTIFICATE).exists()
