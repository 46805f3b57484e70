"""What the control method that lists an episode's tool calls takes and answers."""

import msgspec

from .messages import Name, Seq


class EpisodeCalls(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of episode.calls.

    Attributes:
        episode: whose calls.
        after: number of the last call that is known already.
    """

    episode: Name
    after: Seq = 0


class AnsweredCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that the server has answered.

    Attributes:
        number: 1, 2, 3 … in the episode, in the order of the answers.
        at_ms: Unix time of the answer.
        agent: who called.
        tool: what.
        is_error: whether the answer was marked as an error.
        ms: how long the server worked on it; None when that was not noted.
    """

    number: int
    at_ms: int
    agent: str
    tool: str
    is_error: bool
    ms: int | None = None


class AnsweredCalls(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of episode.calls: the next ones, none when there are no more. The oldest of very many are forgotten."""

    calls: list[AnsweredCall]
