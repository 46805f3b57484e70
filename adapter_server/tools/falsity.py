"""Is a new part false at small values? The server tries a few before anybody spends an hour on it."""

import re
from collections.abc import Mapping, Sequence
from itertools import product

import anyio
import structlog

from blackboard.board import Board
from blackboard.types import Node
from bus.errors import AdapterError
from lemma_store.store import LemmaStore
from lemma_store.types import Lemma

from .check import lemma_note
from .refute import AT_WITNESS

SERVER = "server"
TRY_S = 10.0
"""How long Lean may take for one part."""

_VALUES_PER_TYPE = 3
_DEPTH = 2
_BINDERS = re.compile(r"\s*∀\s*((?:\([^()]*:[^()]*\)\s*)+),")
_GROUP = re.compile(r"\(([^():]+):\s*([\w.]+)\s*\)")
_INDUCTIVE = re.compile(r"^inductive\s+([\w.]+)\s*(?::\s*Type)?\s*where\s*\n((?:\s*\|.*\n?)+)", re.MULTILINE)
_CONSTRUCTOR = re.compile(r"\|\s*(\w+)\s*:\s*(.+)")
_THEOREM = "theorem not_{name}_{at} : ¬ (\n{statement}\n) := by\n" + AT_WITNESS

log = structlog.get_logger()


def small_values(source: str) -> dict[str, list[str]]:
    """A few closed terms of each simple type: numbers, truth values, and the problem's own types without parameters."""
    values = {"Nat": ["0", "1", "2"], "Bool": ["true", "false"]}
    constructors = {
        name: [(f"{name}.{one}", _arrows(kind)[:-1]) for one, kind in _CONSTRUCTOR.findall(body)]
        for name, body in _INDUCTIVE.findall(source)
    }
    for _ in range(_DEPTH):
        for name, ways in constructors.items():
            found = [
                f"({head} {' '.join(given)})" if given else head
                for head, arguments in ways
                for given in list(product(*(values.get(kind, [])[:2] for kind in arguments)))[:2]
            ]
            values[name] = list(dict.fromkeys([*values.get(name, []), *found]))[:_VALUES_PER_TYPE]
    return values


def witnesses(statement: str, values: Mapping[str, Sequence[str]], *, limit: int) -> list[str]:
    """Values for the outermost variables of a statement, smallest first; none when a type is not simple."""
    if (opening := _BINDERS.match(statement)) is None:
        return []
    groups = _GROUP.findall(opening[1])
    kinds = [kind for names, kind in groups for _ in names.split()]
    choices = [list(enumerate(values.get(kind, ()))) for kind in kinds]
    if len(groups) < opening[1].count("(") or not all(choices):
        return []
    tuples = sorted(product(*choices), key=lambda chosen: sum(at for at, _ in chosen))
    return [" ".join(term for _, term in chosen) for chosen in tuples[:limit]]


async def try_small_values(episode: str, node: Node, *, tries: int, board: Board, lemma_store: LemmaStore) -> bool:
    """Refute an open part for everyone if it fails at one of a few small values; the kernel decides.

    Raises:
        StorageUnavailable: the store cannot be reached.
    """
    values = small_values((await lemma_store.problem(episode)).source)
    found = witnesses(node.statement, values, limit=tries)
    if not found:
        return False
    name = re.sub(r"\W", "_", node.name, flags=re.ASCII)
    texts = [_THEOREM.format(name=name, at=at, statement=node.statement, witness=one) for at, one in enumerate(found)]
    with anyio.move_on_after(TRY_S):
        report = await lemma_store.check(episode, author=SERVER, source="\n".join(texts))
        for verdict in report.verdicts:
            if verdict.lemma is not None and await _is_negation(verdict.lemma, node, lemma_store, episode):
                witness = found[int(verdict.name.rpartition("_")[2])]
                with anyio.CancelScope(shield=True):
                    await board.record_lemma(episode, SERVER, lemma_note(verdict.lemma))
                    await board.refute(episode, SERVER, node=node.id, lemma=verdict.lemma.id, witness=witness)
                log.info("part_refuted", episode=episode, node=node.id, witness=witness)
                return True
    return False


async def _is_negation(lemma: Lemma, node: Node, lemma_store: LemmaStore, episode: str) -> bool:
    """Compared as terms: a text in a statement could have made the theorem say something else."""
    negation = await lemma_store.elaborate(episode, f"¬ (\n{node.statement}\n)")
    return lemma.statement.hash == negation.hash


class SmallValues:
    """Looks at the new parts of episodes, one at a time in the whole server, after what agents asked for."""

    def __init__(self, *, board: Board, lemma_store: LemmaStore) -> None:
        self._board = board
        self._lemma_store = lemma_store
        self._one_at_a_time = anyio.Lock()
        self._looked_at: dict[str, int] = {}

    async def look(self, episode: str, *, tries: int) -> bool:
        """Try all parts that were not tried yet; whether one was refuted."""
        is_any_false = False
        async with self._one_at_a_time:
            meta = await self._board.meta(episode)
            while meta.status == "open" and self._looked_at.get(episode, 0) < meta.nodes:
                number = self._looked_at.get(episode, 0)
                self._looked_at[episode] = number + 1
                node = await self._board.node(episode, f"n{number}")
                if node.status in ("open", "disputed"):
                    is_any_false |= await self._is_false(episode, node, tries=tries)
                meta = await self._board.meta(episode)
        return is_any_false

    async def _is_false(self, episode: str, node: Node, *, tries: int) -> bool:
        try:
            return await try_small_values(episode, node, tries=tries, board=self._board, lemma_store=self._lemma_store)
        except AdapterError as error:
            log.info("part_not_tried", episode=episode, node=node.id, code=error.code)
            return False


def _arrows(kind: str) -> list[str]:
    return [part.strip() for part in kind.split("→")]
