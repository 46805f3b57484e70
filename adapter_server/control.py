"""The control methods of the bus, and the events that it feeds to subscribers."""

from collections.abc import AsyncGenerator, Mapping

from blackboard.board import Board
from bus.answered_calls import EpisodeCalls
from bus.hub import Method
from bus.messages import AgentRegister, EpisodeClose, EpisodeCreate, EpisodeRef, Event
from bus.subscriptions import Feed
from bus.versions import VersionActivate, VersionDiff, VersionRef, VersionRollBack, VersionsList, VersionStage
from bus.withdrawals import LemmaRevoke, LemmasRecheck

from .call_list import CallList
from .episodes import Episodes
from .version_desk import VersionDesk
from .withdrawing import Withdrawing

POLL_S = 20.0
BATCH = 500


def control_methods(
    episodes: Episodes, calls: CallList, withdrawing: Withdrawing, versions: VersionDesk
) -> Mapping[str, Method]:
    """What the runner and other operators' programs may call."""
    return {
        "episode.create": Method(EpisodeCreate, episodes.create),
        "episode.status": Method(EpisodeRef, episodes.status),
        "episode.close": Method(EpisodeClose, episodes.close),
        "episode.calls": Method(EpisodeCalls, calls.page),
        "agent.register": Method(AgentRegister, episodes.register),
        "adapter.list": Method(VersionsList, versions.list_all),
        "adapter.show": Method(VersionRef, versions.show),
        "adapter.diff": Method(VersionDiff, versions.diff),
        "adapter.stage": Method(VersionStage, versions.stage),
        "adapter.export": Method(VersionRef, versions.export),
        "adapter.activate": Method(VersionActivate, versions.activate),
        "adapter.rollback": Method(VersionRollBack, versions.roll_back),
        "lemma.revoke": Method(LemmaRevoke, withdrawing.revoke),
        "lemmas.recheck": Method(LemmasRecheck, withdrawing.recheck),
    }


def event_feed(board: Board) -> Feed:
    """The feed of the board's log."""

    async def feed(episode: str, after_seq: int) -> AsyncGenerator[list[Event], None]:
        await board.meta(episode)
        return _batches(board, episode, after_seq)

    return feed


async def _batches(board: Board, episode: str, after_seq: int) -> AsyncGenerator[list[Event], None]:
    """Everything after `after_seq`, as it comes; ends with the episode's last event."""
    while True:
        events = await board.events(episode, after_seq, BATCH)
        if not events:
            meta = await board.meta(episode)
            if meta.status != "open" and after_seq >= meta.seq:
                return
            events = await board.wait(episode, after_seq, POLL_S)
        if events:
            yield events
            after_seq = events[-1].seq
