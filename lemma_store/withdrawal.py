"""Take lemmas back: after a fault of a kernel, a change of policy, or an operator's word."""

from collections.abc import Iterable
from pathlib import Path

import anyio
import msgspec
import structlog

from .assembly import CERTIFICATE, PROOF
from .judge import start_judge
from .policy import ALLOWED_AXIOMS
from .tasks import Admit
from .types import Certificate, Lemma
from .world import World

_log = structlog.get_logger()
_FOLDER = "revoked"


class Recheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a new kernel says to everything that an episode's store holds."""

    kept: tuple[str, ...]
    """Ids of the lemmas and definitions that it accepts again."""

    refused: dict[str, str]
    """Id → why it is refused now."""

    undecided: dict[str, str]
    """Id → the limit or fault that kept it from being decided; nothing follows from that."""

    revoked: tuple[Lemma, ...] = ()
    """What was taken back: the refused, and all that rests on them."""


def users(world: World, ids: Iterable[str]) -> list[Lemma]:
    """Return the units `ids` and all that rest on them, in the order in which they were published."""
    gone = set(ids)
    for unit in world.units():
        if gone.intersection(unit.uses):
            gone.add(unit.id)
    return [unit for unit in world.units() if unit.id in gone]


async def take_away(world: World, units: Iterable[Lemma], *, reason: str) -> None:
    """Forget `units`, put their modules where Lean does not look, and withdraw a certificate that rests on them."""
    units = list(units)
    world.forget({unit.id: reason for unit in units})
    for unit in units:
        await _move(world, world.module_path(unit.id))
    certificate = anyio.Path(world.folder / CERTIFICATE)
    if await certificate.exists():
        named = msgspec.json.decode(await certificate.read_bytes(), type=Certificate).lemmas
        if not {unit.id for unit in units}.isdisjoint(named):
            for name in (CERTIFICATE, PROOF):
                await _move(world, world.folder / name)
    _log.warning("lemmas_revoked", episode=world.problem.episode, lemmas=[unit.name for unit in units], reason=reason)


async def _move(world: World, path: Path) -> None:
    target = anyio.Path(world.folder / _FOLDER)
    await target.mkdir(exist_ok=True)
    if await anyio.Path(path).exists():
        await anyio.Path(path).rename(target / path.name)


async def recheck(world: World) -> Recheck:
    """Replay everything in a new kernel, each unit after what it rests on, under the policy of today.

    Raises:
        LeanUnavailable: the library or the problem cannot be replayed.
    """
    kept: list[str] = []
    refused: dict[str, str] = {}
    undecided: dict[str, str] = {}
    async with start_judge(world.toolchain, world.core, [world.problem_module]) as judge:
        for unit in world.closure([unit.id for unit in world.units()]):
            answer = await judge.ask(Admit(module=f"L.{unit.id}", path=str(world.module_path(unit.id))))
            found = await judge.look_up(unit.name) if answer.status == "done" else answer
            if found.status == "done":
                fault = _fault(unit, found.judged[0].statement_hash, found.judged[0].axioms)
                refused |= {unit.id: fault} if fault else {}
                kept += [] if fault else [unit.id]
            else:
                (refused if found.status == "refused" else undecided)[unit.id] = found.reason
    return Recheck(kept=tuple(kept), refused=refused, undecided=undecided)


def _fault(unit: Lemma, statement_hash: str, axioms: tuple[str, ...]) -> str:
    if unit.statement.hash and statement_hash != unit.statement.hash:
        return "its module states something else"
    forbidden = sorted(set(axioms) - set(ALLOWED_AXIOMS))
    return f"it rests on {', '.join(forbidden)}" if forbidden else ""
