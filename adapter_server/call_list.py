"""The tool calls of an episode as the server answered them, for operators' programs."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import anyio.to_thread

from blackboard.board import Board
from bus.answered_calls import AnsweredCall, AnsweredCalls, EpisodeCalls

from .reply_files import FOLDER, decoded, paths

PAGE = 1_000


class CallList:
    """Reads what is kept of replies in the folders of `episodes`."""

    def __init__(self, episodes: Path, board: Board) -> None:
        self._episodes = episodes
        self._board = board

    async def page(self, request: EpisodeCalls) -> AnsweredCalls:
        """Return the next calls of an episode.

        Raises:
            UnknownId: there is no such episode.
            StorageUnavailable: the store cannot be reached.
        """
        await self._board.meta(request.episode)
        folder = self._episodes / request.episode / FOLDER
        return AnsweredCalls(calls=await anyio.to_thread.run_sync(_page, folder, request.after))


def _page(folder: Path, after: int) -> list[AnsweredCall]:
    return list(islice((call for call in _calls(folder, after) if call.number > after), PAGE))


def _calls(folder: Path, after: int) -> Iterator[AnsweredCall]:
    """The calls of the file that holds the first one wanted, and of those that follow; its name is its first number."""
    files = paths(folder)
    first = max((index for index, path in enumerate(files) if int(path.stem) <= after + 1), default=0)
    for path in files[first:]:
        for line in path.read_bytes().split(b"\n")[:-1]:  # what a crash left of a line was never sent
            if found := decoded(line):
                reply, _ = found
                yield AnsweredCall(
                    number=reply.number, at_ms=reply.at_ms, agent=reply.agent, tool=reply.tool,
                    is_error=reply.is_error, ms=reply.ms,
                )  # fmt: skip
