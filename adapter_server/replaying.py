"""An episode's state as its log alone gives it, up to any event."""

from typing import Any

import msgspec

from blackboard.board import Board
from blackboard.folding import State, fold

_PAGE_EVENTS = 1_000


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says.

    Attributes:
        episode: whose log.
        seq: number of the last event that the state contains.
        last_seq: number of the last event of the log.
        broken_at: the first event that is changed or missing; nothing from there on is in the state.
        state: the state after event `seq`.
    """

    episode: str
    seq: int
    last_seq: int
    broken_at: int | None
    state: State

    def to_fields(self) -> dict[str, Any]:
        """Return it as plain data; what the state keeps by id becomes a list."""
        fields: dict[str, Any] = {"episode": self.episode, "seq": self.seq, "last_seq": self.last_seq}
        fields |= {"is_whole": self.broken_at is None, "broken_at": self.broken_at}
        for name in State.__struct_fields__:
            value = getattr(self.state, name)
            fields[name] = [*value.values()] if name in _BY_ID else value
        return msgspec.to_builtins(fields)


_BY_ID = frozenset({"nodes", "alternatives", "lemmas", "messages", "agents", "leases"})


async def replay(board: Board, episode: str, *, to: int | None = None) -> Replay:
    """Verify the chain and fold the log up to event `to`, or to the last one before a break.

    Raises:
        UnknownId: there is no such episode.
    """
    last_seq = await board.last_seq(episode)
    broken_at = await board.verify_chain(episode)
    end = min(last_seq if to is None else to, last_seq if broken_at is None else broken_at - 1)
    state, seq = State(), 0
    while seq < end:
        events = await board.events(episode, seq, min(end - seq, _PAGE_EVENTS))
        if not events:
            break
        fold(events, state)
        seq = events[-1].seq
    return Replay(episode=episode, seq=seq, last_seq=last_seq, broken_at=broken_at, state=state)
