"""Search the lemmas of an episode. What Lean says here is a hint; it decides nothing."""

import re

import anyio
import msgspec

from bus.errors import BadArguments, Deadline

from .checking import Tools, elaborate_statement, header
from .intake import take_in
from .lean.elaboration import Elaboration
from .types import Hit, Lemma, Statement
from .world import World

_MAX_LIMIT = 15
_CANDIDATES, _AT_ONCE = 24, 8
_HEARTBEATS, _WALL_MS = 400, 8_000


def find_known(world: World, *, q: str, statement: str, mode: str, limit: int) -> list[Hit]:
    """Return hits that need no Lean: `mode` is `text` or `uses`. See `LemmaStore.find`."""
    found = (
        world.like(f"{q} {statement}", limit=_bounded(limit))
        if mode == "text"
        else _users(world.lemmas(), q, world)[: _bounded(limit)]
    )
    return [_hit(lemma, mode) for lemma in found]


async def find(tools: Tools, *, q: str, statement: str, mode: str, limit: int) -> list[Hit]:
    """Return at most `limit` hits that Lean has a word in, best first. See `LemmaStore.find`."""
    match mode:
        case "same" | "closes" if not statement:
            raise BadArguments(f"mode {mode} needs a statement", hint="give `statement` as a closed proposition")
        case "same":
            wanted = await elaborate_statement(statement, tools)
            return _same(tools.world.lemmas(), wanted)[: _bounded(limit)]
        case "closes":
            found = await _closing(tools, statement, limit=_bounded(limit))
            return [_hit(lemma, "closes", how) for lemma, how in found[: _bounded(limit)]]
        case _:
            raise BadArguments(f"unknown mode {mode!r}", hint="use text, same, closes or uses")


def _same(lemmas: list[Lemma], wanted: Statement) -> list[Hit]:
    exact = [_hit(lemma, "same") for lemma in lemmas if lemma.statement.hash == wanted.hash]
    free = wanted.order_free_hash
    others = [
        one for one in lemmas if free and one.statement.order_free_hash == free and one.statement.hash != wanted.hash
    ]
    return exact + [
        _hit(one, "same", f"hypotheses in another order: `apply {one.name} <;> assumption`") for one in others
    ]


def _bounded(limit: int) -> int:
    return max(1, min(limit, _MAX_LIMIT))


def _hit(lemma: Lemma, relation: str, how: str = "") -> Hit:
    return msgspec.convert(
        {
            "kind": "lemma",
            "id": lemma.id,
            "name": lemma.name,
            "statement": lemma.statement.pretty,
            "relation": relation,
            "author": lemma.author,
            "how": how or f"use `{lemma.name}` by name, e.g. `simp [{lemma.name}]` or `rw [{lemma.name}]`",
        },
        Hit,
    )


def _users(lemmas: list[Lemma], name: str, world: World) -> list[Lemma]:
    if not name:
        raise BadArguments("mode uses needs `q`, the name of a lemma or constant")
    known = world.lemma_ids.get(name)
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w'])")
    return [item for item in lemmas if known in item.uses or (known is None and word.search(item.statement.pretty))]


async def _closing(tools: Tools, statement: str, *, limit: int) -> list[tuple[Lemma, str]]:
    """Return lemmas that close `statement` alone; the likeliest are tried first, a few in one elaboration.

    Raises:
        Deadline: Lean did not get through the first of them.
    """
    candidates = tools.world.may_close(statement, limit=_CANDIDATES)
    closing: list[tuple[Lemma, str]] = []
    ends = anyio.current_time() + _WALL_MS / 1000
    for at in range(0, len(candidates), _AT_ONCE):
        left_ms = int((ends - anyio.current_time()) * 1000)
        found = await _try(tools, statement, candidates[at : at + _AT_ONCE], wall_ms=max(left_ms, 1))
        if found is None and at == 0:
            raise Deadline("Lean did not get through the lemmas that look right", hint="Try again, or use mode text.")
        if found is None:
            break
        closing += found
        if len(closing) >= limit:
            break
    return closing


async def _try(
    tools: Tools, statement: str, candidates: list[Lemma], *, wall_ms: int
) -> list[tuple[Lemma, str]] | None:
    """Return which of them close `statement`, and how; None when Lean was cut off."""
    ways = ["exact {0}", "intros; first | exact {0} | exact {0} .. | apply {0} <;> assumption", "intros; simp [{0}]"]
    tries = [(lemma, way.format(lemma.name)) for lemma in candidates for way in ways]
    bodies = [f"theorem try_{at} : ({' '.join(statement.split())}) := by {way}" for at, (_, way) in enumerate(tries)]
    text = take_in("\n".join(bodies))
    head, _ = header(text, tools.world)
    done = await tools.lean.run(
        Elaboration(
            source=(head + text.source).encode(),
            lean_path=tools.world.lean_path,
            heartbeats=_HEARTBEATS,
            wall_ms=wall_ms,
        )
    )
    if done.outcome != "finished":
        return None
    lines = head.count("\n") + 1
    failed = {message.line - lines for message in done.messages if message.severity == "error"}
    closing: dict[str, tuple[Lemma, str]] = {}
    for at, (lemma, way) in enumerate(tries):
        if at not in failed:
            closing.setdefault(lemma.id, (lemma, f"by {way}"))
    return list(closing.values())
