"""What follows by itself: complete alternatives close their parents, a closed target is assembled."""

from weakref import WeakKeyDictionary

import anyio
import structlog

from blackboard.board import Board
from blackboard.types import Alternative
from bus.errors import AdapterError, UnknownId
from lemma_store.store import LemmaStore
from lemma_store.types import Assembly

from .check import lemma_note
from .statements import statement_of

SERVER = "server"
GLUE = "_glue"
"""End of the names of glue lemmas: they belong to an alternative and are no news by themselves."""

log = structlog.get_logger()


class _Memory:
    """Assembled proofs of one store: putting one together replays all of it in a new kernel."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.done: dict[tuple[str, str], Assembly] = {}


_memories: WeakKeyDictionary[LemmaStore, _Memory] = WeakKeyDictionary()


async def settle(episode: str, *, board: Board, lemma_store: LemmaStore) -> Assembly | None:
    """Close every parent whose children are all closed, then assemble the target if it is closed.

    Every step may be repeated: lemmas have content ids and the board records each once. So two of these at the same
    time, or one after a crash, end in the same state.

    Returns:
        The assembled proof when the target is proved.
    """
    hopeless: set[str] = set()
    while ready := [one for one in await board.ready_alternatives(episode) if one.id not in hopeless]:
        for alternative in ready:
            if not await _compose(episode, alternative, board=board, lemma_store=lemma_store):
                hopeless.add(alternative.id)
    root = await board.target(episode)
    if root.status == "refuted" and (await board.meta(episode)).status == "open":
        await board.close_episode(episode, "refuted", "the target is false: its negation is proved")
        await lemma_store.release(episode)
    done = await assembly(episode, board=board, lemma_store=lemma_store)
    if done is not None and (await board.meta(episode)).status == "open":
        await board.close_episode(episode, "solved", "the target is proved and the proof was checked again")
        await lemma_store.release(episode)
        log.info("episode_solved", episode=episode, lemmas=len(done.certificate.lemmas))
    return done


async def record_missing(episode: str, *, board: Board, lemma_store: LemmaStore, after: int | None) -> int:
    """Tell the board of lemmas that it missed because a check was cut off between store and board.

    Args:
        episode: whose lemmas.
        board: where they have to be known.
        lemma_store: where they are.
        after: how many of the store's lemmas were compared before; None compares all.

    Returns:
        How many of the store's lemmas are compared now.
    """
    lemmas = await lemma_store.lemmas(episode)
    known = {note.id for note in await board.lemmas(episode)} if after is None else frozenset[str]()
    for lemma in lemmas[after or 0 :]:
        if lemma.id not in known and not lemma.author_name.endswith(GLUE):
            await board.record_lemma(episode, lemma.author, lemma_note(lemma))
    return len(lemmas)


async def assembly(episode: str, *, board: Board, lemma_store: LemmaStore) -> Assembly | None:
    """The assembled proof, or None while the target is open, or when what closed it was revoked."""
    root = await board.target(episode)
    if root.status != "closed" or root.lemma is None:
        return None
    memory = _memories.setdefault(lemma_store, _Memory())
    async with memory.lock:
        if (episode, root.lemma) not in memory.done:
            try:
                memory.done[episode, root.lemma] = await lemma_store.assemble(episode, root.lemma)
            except UnknownId:  # it was revoked
                return None
        return memory.done[episode, root.lemma]


def forget_assembly(episode: str, *, lemma_store: LemmaStore) -> None:
    """Assemble anew when the proof is asked for next: something that it may rest on was revoked."""
    memory = _memories.setdefault(lemma_store, _Memory())
    for key in [key for key in memory.done if key[0] == episode]:
        del memory.done[key]


async def _compose(episode: str, alternative: Alternative, *, board: Board, lemma_store: LemmaStore) -> bool:
    nodes = {node.id: node for node in await board.nodes(episode)}
    parent = nodes[alternative.parent]
    children = [nodes[child].lemma for child in alternative.children]
    try:
        lemma = await lemma_store.compose(
            episode,
            author=alternative.author,
            name=parent.name,
            parent=statement_of(parent),
            glue=alternative.glue,
            children=[child for child in children if child is not None],
        )
        recorded = await board.record_lemma(episode, SERVER, lemma_note(lemma))
    except AdapterError as error:
        log.warning("composition_failed", episode=episode, alternative=alternative.id, code=error.code)
        return False
    log.info("parent_closed", episode=episode, alternative=alternative.id, closed=recorded.closed)
    return parent.id in recorded.closed
