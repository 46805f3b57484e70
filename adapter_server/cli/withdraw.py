"""`adapter-server revoke` and `recheck`: take lemmas back, by an operator's word or by a new kernel's."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import msgspec

from adapter_server.data_folder import DataFolder
from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from adapter_server.store_access import existing_folder
from adapter_server.store_folder import is_owned
from adapter_server.withdrawing import Withdrawing
from blackboard.board import Board
from bus.errors import BadArguments, BadDataFolder
from bus.link import Link
from bus.link import connect as open_link
from bus.withdrawals import LemmaRevoke, LemmasRecheck, Withdrawal
from lemma_store.in_redis import LemmaIndex, connect
from lemma_store.store import open_lemma_store

from .exit_codes import NOT_PROVED, OK

CALL_S = 3_600.0
"""For a kernel that replays a large episode."""


def run_revoke(episode: str, lemma: str, settings: Settings, *, reason: str, is_json: bool) -> int:
    """Take a lemma back and all that rests on it, in the running daemon or without one.

    Raises:
        UnknownId, BadDataFolder, StorageUnavailable, LeanUnavailable: nothing was revoked.
    """
    configure_logs(level="error")

    async def revoke() -> Withdrawal:
        async with _withdrawing(settings) as here:
            return await here.revoke(LemmaRevoke(episode=episode, lemma=lemma, reason=reason))

    done = anyio.run(revoke)
    print(msgspec.json.encode(done).decode() if is_json else _text(done))
    return OK


def run_recheck(episodes: list[str], settings: Settings, *, is_all: bool, is_json: bool) -> int:
    """Judge everything again in new kernels and take back what they refuse; the code is 1 when something was.

    Raises:
        BadArguments: neither episodes nor `--all`, or both.
        UnknownId, BadDataFolder, StorageUnavailable, LeanUnavailable: see `Withdrawing.recheck`.
    """
    configure_logs(level="error")
    folder = existing_folder(settings)
    if bool(episodes) == is_all:
        raise BadArguments("which episodes?", hint="name some, or give --all")
    names = episodes or sorted(path.parent.name for path in folder.episodes.glob("*/problem.json"))

    async def recheck() -> list[Withdrawal]:
        async with _withdrawing(settings) as here:
            return [await here.recheck(LemmasRecheck(episode=name)) for name in names]

    done = anyio.run(recheck)
    print(msgspec.json.encode(done).decode() if is_json else "\n".join(map(_text, done)) or "there is no episode")
    return NOT_PROVED if any(one.revoked for one in done) else OK


class _OverLink:
    """The daemon that runs on the data folder does it."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def revoke(self, request: LemmaRevoke) -> Withdrawal:
        return await self._link.call("lemma.revoke", request, Withdrawal, timeout_s=CALL_S)

    async def recheck(self, request: LemmasRecheck) -> Withdrawal:
        return await self._link.call("lemmas.recheck", request, Withdrawal, timeout_s=CALL_S)


@asynccontextmanager
async def _withdrawing(settings: Settings) -> AsyncGenerator[Withdrawing | _OverLink]:
    folder = existing_folder(settings)
    if is_owned(folder.store) or (settings.store_url and folder.server()):
        if (note := folder.server()) is None:
            raise BadDataFolder(f"{folder.path} is in use by a process that is no daemon yet", hint="try again soon")
        async with open_link(note.url, token=folder.operator_token()) as link:
            yield _OverLink(link)
        return
    async with _without_daemon(settings, folder) as here:
        yield here


@asynccontextmanager
async def _without_daemon(settings: Settings, folder: DataFolder) -> AsyncGenerator[Withdrawing]:
    async with (
        open_store(settings) as store,
        Board.open(store.url) as board,
        connect(store.url) as redis,
        open_lemma_store(
            folder.episodes,
            index=LemmaIndex(redis, is_durable=store.durability == "always"),
            scratch=folder.scratch,
            project=settings.project_path,
            unsafe=True,  # no text is elaborated: stored modules are replayed
        ) as lemma_store,
    ):
        yield Withdrawing(folder, board=board, lemma_store=lemma_store, on_change=lambda _: None)


def _text(done: Withdrawal) -> str:
    kept = f"{done.kept} accepted again, " if done.kept else ""
    lines = [f"{done.episode} [{done.status}]: {kept}{len(done.revoked)} revoked"]
    lines += [f"  {unit.name} ({unit.id[:12]}): {unit.reason}" for unit in done.revoked]
    lines += [f"  not decided: {ident[:12]}: {reason}" for ident, reason in done.undecided.items()]
    if done.is_certificate_withdrawn:
        lines.append("  its certificate is withdrawn: the final proof rested on it")
    if done.reopened:
        lines.append(f"  open again: {', '.join(done.reopened)}")
    if done.revoked and done.status != "open":
        lines.append(f"  the episode has ended and stays {done.status}; its plan stays as it was")
    return "\n".join(lines)
