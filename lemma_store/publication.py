"""Step 8 of the pipeline: judged units become durable files, then index entries, then names that everybody can use."""

from pathlib import Path

import anyio.to_thread

from .in_redis import LemmaIndex
from .intake import Text, block_source
from .judge import Judge
from .lexing import NAME
from .tasks import Judged
from .types import Lemma, Outcome, Statement, Verdict
from .world import World, move_in

MAX_TRIES = 6
"""How often an outdated judgement is made again; each time another check has published something."""


class Outdated(Exception):
    """What was judged rests on names that another check has given to something else meanwhile."""


class Publication:
    """Publishes into one index. Publishing in an episode is serial, so that stored names stay unique."""

    def __init__(self, index: LemmaIndex) -> None:
        self._index = index

    async def publish(
        self, judged: list[Judged], *, author: str, text: Text | None, world: World, judge: Judge, source: str = ""
    ) -> list[Verdict]:
        """Publish accepted units, dependencies first, and return a verdict per theorem.

        The file is on disk before the index names it, and the index entry is durable before anybody hears the
        name; so a crash leaves a file that nobody names, or a lemma that is complete.

        Raises:
            Outdated: nothing was published; judge again with the names that are known now.
            StorageUnavailable: an entry could not be made durable.
        """
        renames = {name: stored for item in judged for name, stored in item.names.items()}
        needed = {use for item in judged if item.outcome == "accepted" for use in item.uses}
        verdicts: list[Verdict] = []
        async with world.publishing:
            if any(_is_outdated(unit, world) for unit in judged if unit.outcome == "accepted"):
                raise Outdated
            for unit in judged:
                withdrawn = _withdrawn(unit, world) if unit.outcome == "accepted" else ()
                if unit.outcome != "accepted" or withdrawn:
                    verdicts += [_refusal(unit, withdrawn)] if unit.is_theorem else []
                    continue
                earlier = _earlier(unit, needed, world)
                lemma = earlier or _lemma(
                    unit, author=author, source=source or _source(unit, text, renames), world=world
                )
                is_wanted = unit.is_theorem or unit.stored_name in needed
                is_new = earlier is None and is_wanted and await self._admit(unit, lemma, world=world, judge=judge)
                if unit.is_theorem:
                    verdicts.append(Verdict(name=unit.name, outcome="accepted", lemma=lemma, is_new=is_new))
        return verdicts

    async def _admit(self, unit: Judged, lemma: Lemma, *, world: World, judge: Judge) -> bool:
        if unit.module:
            await anyio.to_thread.run_sync(move_in, Path(unit.module), world.module_path(unit.id))
            await judge.hold(world.holding(lemma))
        # Otherwise the judge holds it already: its file is written, and the index refused it then.
        is_new = await self._index.put(world.problem.episode, lemma)
        world.remember(lemma)
        return is_new


def _earlier(unit: Judged, needed: set[str], world: World) -> Lemma | None:
    """Return the published unit that makes this one superfluous: the same, or an older proof of the same statement."""
    if (published := world.published(unit.id)) is not None:
        return published
    is_used = unit.stored_name in needed
    return world.same(unit.statement_hash) if unit.is_theorem and not is_used else None


def _is_outdated(unit: Judged, world: World) -> bool:
    """Return whether a check at the same time published this unit under another name, or took its name."""
    published = world.published(unit.id)
    if published is not None:
        return published.name != unit.stored_name
    return any(name in world.lemma_ids for name in unit.names.values())


def _withdrawn(unit: Judged, world: World) -> tuple[str, ...]:
    """Return why a unit may not come in though a kernel accepts it: it, or what it rests on, was revoked."""
    if unit.id in world.revoked:
        return (f"this very proof was revoked: {world.revoked[unit.id]}",)
    return tuple(f"it rests on {name}, which was revoked" for name in unit.uses if name not in world.lemma_ids)


def _refusal(unit: Judged, withdrawn: tuple[str, ...] = ()) -> Verdict:
    outcome: Outcome = "rejected" if withdrawn or unit.outcome == "rejected" else "undecided"
    return Verdict(name=unit.name, outcome=outcome, reasons=withdrawn or unit.reasons)


def _lemma(unit: Judged, *, author: str, source: str, world: World) -> Lemma:
    return Lemma(
        id=unit.id,
        name=unit.stored_name,
        author_name=unit.name,
        author=author,
        # A definition is no lemma: it has no statement that somebody could look for.
        statement=Statement(
            text=unit.pretty, pretty=unit.pretty, hash=unit.statement_hash if unit.is_theorem else "",
            order_free_hash=unit.order_free_hash if unit.is_theorem else "", universes=unit.universes,
        ),
        source=source,
        uses=tuple(world.lemma_ids[name] for name in unit.uses),
        also=tuple(name for name in unit.names.values() if name != unit.stored_name),
        axioms=unit.axioms,
        premises=unit.premises,
    )  # fmt: skip


def _source(unit: Judged, text: Text | None, renames: dict[str, str]) -> str:
    """Return the author's text of a unit, with what the text declares under stored names."""
    block = (
        next((item for item in text.blocks if unit.name in (*item.theorems, *item.definitions)), None) if text else None
    )
    if text is None or block is None:
        return ""
    inside = {name: name.split(".")[len(block.namespace) :] for name in renames}
    here = {
        ".".join(short): ".".join(renames[name].split(".")[len(block.namespace) :])
        for name, short in inside.items()
        if name.split(".")[: len(block.namespace)] == list(block.namespace)
    }
    return NAME.sub(lambda found: _stored(found.group(), {**renames, **here}), block_source(text, block))


def _stored(name: str, renames: dict[str, str]) -> str:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        found = renames.get(".".join(parts[:end]))
        if found is not None:
            return ".".join((found, *parts[end:]))
    return name
