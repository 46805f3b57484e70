"""`get`: any stored thing in slices, for what does not fit into a reply."""

import re

import msgspec

from blackboard.board import Board
from bus.errors import BadArguments, UnknownId
from lemma_store.store import LemmaStore

from .arguments import GetArguments
from .caller import Caller
from .closing import assembly
from .reply import ToolReply

_DEFAULT_BYTES = 6000
_AROUND_BYTES = 700
_NODE = re.compile(r"n\d+")
_MESSAGE = re.compile(r"m\d+")


async def get(arguments: GetArguments, *, caller: Caller, board: Board, lemma_store: LemmaStore) -> ToolReply:
    """A slice of a text, with the offset of the next one. Offsets count bytes of UTF-8.

    Raises:
        UnknownId: if nothing has the id, or the proof does not exist yet.
        BadArguments: if the thing has no such part.
    """
    part, text = await _text(arguments, caller, board, lemma_store)
    data = text.encode()
    start = _at_character(data, arguments.offset)
    room = max(caller.policy.reply_bytes - caller.policy.delta_bytes - _AROUND_BYTES, _AROUND_BYTES)
    end = _fitting(data, start, min(arguments.max_bytes or _DEFAULT_BYTES, room), room=room)
    next_offset = end if end < len(data) else None
    return ToolReply(
        headline=f"{arguments.id} {part}: bytes {start} to {end} of {len(data)}",
        facts={
            "id": arguments.id,
            "part": part,
            "text": data[start:end].decode(),
            "next_offset": next_offset,
        },
    )


async def _text(arguments: GetArguments, caller: Caller, board: Board, lemma_store: LemmaStore) -> tuple[str, str]:
    wanted = arguments.id.strip()
    if wanted == "problem":
        problem = await lemma_store.problem(caller.episode)
        goal = f"theorem {problem.theorem} : {problem.statement.text} := by sorry"
        return "source", f"{problem.context}{problem.source.rstrip()}\n\n{goal}\n"
    if wanted == "proof":
        return "proof", (await _proof(caller, board, lemma_store))
    if _MESSAGE.fullmatch(wanted):
        return "text", await _message(wanted, caller, board)
    if _NODE.fullmatch(wanted):
        return await _node(wanted, arguments.part or "statement", caller, board)
    return await _lemma_or_node(wanted, arguments, caller, board, lemma_store)


async def _proof(caller: Caller, board: Board, lemma_store: LemmaStore) -> str:
    done = await assembly(caller.episode, board=board, lemma_store=lemma_store)
    if done is None:
        raise UnknownId("the proof does not exist yet", hint="submit status says what is missing.", nearest=["problem"])
    return done.proof


async def _message(wanted: str, caller: Caller, board: Board) -> str:
    message = await board.message(caller.episode, wanted)
    if message.to and caller.agent not in (*message.to, message.sender):
        raise UnknownId(f"no message {wanted} for you", nearest=[])
    return f"{message.sender} ({message.type}): {message.text}"


async def _node(wanted: str, part: str, caller: Caller, board: Board) -> tuple[str, str]:
    node = await board.node(caller.episode, wanted)
    if part == "statement":
        return part, node.statement
    if part == "attempts":
        attempts = await board.attempts(caller.episode, node.id)
        return part, "\n".join(f"{one.agent} [{one.approach}] {one.outcome}: {one.note}" for one in attempts)
    if part == "alternatives":
        ways = [one for one in await board.alternatives(caller.episode) if one.parent == node.id]
        return part, "\n".join(f"{one.id} by {one.author}: {', '.join(one.children)}" for one in ways)
    raise BadArguments(f"a node has no part {part!r}", hint="Parts: statement, attempts, alternatives.")


async def _lemma_or_node(
    wanted: str, arguments: GetArguments, caller: Caller, board: Board, lemma_store: LemmaStore
) -> tuple[str, str]:
    part = arguments.part or "source"
    try:
        lemma = await lemma_store.lemma(caller.episode, wanted)
    except UnknownId:
        if any(node.name == wanted for node in await board.nodes(caller.episode)):
            return await _node(wanted, arguments.part or "statement", caller, board)
        raise
    if part == "source":
        return part, lemma.source
    if part == "statement":
        return part, lemma.statement.pretty
    raise BadArguments(f"a lemma has no part {part!r}", hint="Parts: source, statement.")


def _fitting(data: bytes, start: int, size: int, *, room: int) -> int:
    """End of the longest slice that fits, escaped as JSON: a reply must not lose the end of its slice."""
    while True:
        end = _at_character(data, start + size)
        escaped = len(msgspec.json.encode(data[start:end].decode()))
        if escaped <= room:
            return end
        size = size * room // escaped - 3


def _at_character(data: bytes, offset: int) -> int:
    """The nearest offset at or below that does not cut a character."""
    offset = max(0, min(offset, len(data)))
    while 0 < offset < len(data) and data[offset] & 0xC0 == 0x80:
        offset -= 1
    return offset
