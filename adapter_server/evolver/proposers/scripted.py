"""A proposer that reads its proposals from a file: one JSON object a line, one line a round."""

from collections.abc import Sequence
from pathlib import Path

from adapter_server.evolver.patch import NoChange, Patch, read_proposal
from adapter_server.evolver.proposing import ProposalContext
from bus.errors import BadArguments


class ScriptedProposer:
    """Proposes line `round` of its script, so that a campaign that begins again goes on where it was."""

    name = "scripted"

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedProposer":
        """The script in a file; empty lines do not count.

        Raises:
            BadArguments: the file cannot be read.
        """
        try:
            return cls([line for line in path.read_bytes().splitlines() if line.strip()])
        except OSError as error:
            raise BadArguments(f"cannot read the script {path}: {error.strerror or error}") from None

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        """The line of this round; no change when there is none.

        Raises:
            BadPatch: the line is no proposal.
        """
        if context.round >= len(self._lines):
            return NoChange(reason=f"the script has {len(self._lines)} lines")
        return read_proposal(self._lines[context.round])
