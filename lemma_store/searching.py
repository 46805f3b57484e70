"""Search the lemmas of an episode. What Lean says here is a hint; it decides nothing."""

import re

import msgspec

from bus.errors import BadArguments

from .checking import Tools, elaborate_statement, header
from .intake import take_in
from .lean.elaboration import Elaboration
from .types import Hit, Lemma
from .world import World

_MAX_LIMIT = 15
_CANDIDATES = 24
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
            return [_hit(lemma, "same") for lemma in tools.world.lemmas() if lemma.statement.hash == wanted.hash][
                : _bounded(limit)
            ]
        case "closes":
            found = await _closing(
                tools, statement, tools.world.like(f"{q} {statement}", limit=_CANDIDATES, is_total=True)
            )
            return [_hit(lemma, "closes", how) for lemma, how in found[: _bounded(limit)]]
        case _:
            raise BadArguments(f"unknown mode {mode!r}", hint="use text, same, closes or uses")


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


async def _closing(tools: Tools, statement: str, candidates: list[Lemma]) -> list[tuple[Lemma, str]]:
    """Return the lemmas that close `statement` alone, tried in one elaboration under a small budget."""
    if not candidates:
        return []
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
            wall_ms=_WALL_MS,
        )
    )
    if done.outcome != "finished":
        return []
    lines = head.count("\n") + 1
    failed = {message.line - lines for message in done.messages if message.severity == "error"}
    closing: dict[str, tuple[Lemma, str]] = {}
    for at, (lemma, way) in enumerate(tries):
        if at not in failed:
            closing.setdefault(lemma.id, (lemma, f"by {way}"))
    return list(closing.values())
