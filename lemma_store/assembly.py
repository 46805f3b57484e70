"""Step 9 of the pipeline: one kernel environment from nothing to the target, and the certificate that says so."""

import hashlib
import re
from pathlib import Path

import anyio.to_thread
import msgspec

from bus.errors import LeanUnavailable, StatementMismatch

from .glue import embedded
from .judge import start_judge
from .lean.leanchecker import second_opinion
from .policy import ALLOWED_AXIOMS, POLICY_ID
from .tasks import Answer
from .types import Assembly, Certificate, Credit, Lemma, Problem
from .world import World, write_atomically

_WORD = re.compile(r"[^\W\d][\w'!?₀-₉]*")

CERTIFICATE = "certificate.json"
PROOF = "proof.lean"


async def assemble(world: World, root: Lemma) -> Assembly:
    """Return the finished proof that `root` is. See `LemmaStore.assemble`.

    Only what the final proof rests on is replayed, credited and printed.
    """
    problem = world.problem
    refuse_other_statement(root, problem)
    units = world.closure([root.id])
    declarations = await replay(world, units, root=root)
    more = await second_opinion(world.toolchain, world.core, [f"L.{unit.id}" for unit in units], folder=world.modules)
    proof = proof_text(world, units, root)
    await anyio.to_thread.run_sync(write_atomically, world.folder / PROOF, proof.encode())
    certificate = Certificate(
        theorem=problem.theorem,
        statement=problem.statement.pretty,
        statement_hash=root.statement.hash,
        axioms=root.axioms,
        kernels=(world.toolchain.kernel, *more),
        toolchain=world.toolchain.id,
        library=world.core.id,
        policy=POLICY_ID,
        declarations=declarations,
        basis=world.core.basis,
        root=root.name,
        lemmas=tuple(unit.id for unit in units),
        files=_digests(world, units),
    )
    path = world.folder / CERTIFICATE
    data = msgspec.json.format(msgspec.json.encode(certificate), indent=2)
    await anyio.to_thread.run_sync(write_atomically, path, data)
    return Assembly(certificate=certificate, path=str(path), proof=proof, credit=credit(units, problem.theorem, root))


def refuse_other_statement(root: Lemma, problem: Problem) -> None:
    """Refuse a lemma that does not state the target."""
    if (root.statement.hash, root.statement.universes) != (problem.statement.hash, problem.statement.universes):
        raise StatementMismatch(
            f"{root.name} does not state {problem.theorem}",
            expected=problem.statement.pretty,
            got=root.statement.pretty,
        )


async def replay(world: World, units: list[Lemma], *, root: Lemma) -> int:
    """Replay library, problem and `units` in a new kernel; return how many declarations it accepted.

    Raises:
        LeanUnavailable: the kernel refuses a module, or the axioms are not those that policy allows.
    """
    lemmas = [(f"L.{unit.id}", world.module_path(unit.id)) for unit in units]
    async with start_judge(world.toolchain, world.core, [world.problem_module, *lemmas]) as judge:
        found = await judge.look_up(root.name)
        _confirm(found, root)
        return judge.declarations


def _confirm(found: Answer, root: Lemma) -> None:
    unit = found.judged[0] if found.status == "done" and found.judged else None
    if unit is None or unit.statement_hash != root.statement.hash:
        raise LeanUnavailable(f"the replayed environment does not state {root.name} as the store does")
    if set(unit.axioms) - set(ALLOWED_AXIOMS):
        raise LeanUnavailable(f"the replayed proof rests on other axioms: {', '.join(unit.axioms)}")


def proof_text(world: World, units: list[Lemma], root: Lemma) -> str:
    """Return the whole proof as one Lean text: definitions, lemmas in dependency order, the target.

    A text may name lemmas that its proof term came to do without; they stand in it too, so that it elaborates.
    """
    parts = [
        world.core.header().strip(),
        world.problem.source.strip(),
        # Mutual definitions share one text.
        *dict.fromkeys(f"-- {unit.author}\n{unit.source.strip()}" for unit in _readable(world, units)),
        f"theorem {world.problem.theorem} :\n    {embedded(world.problem.statement.text)} :=\n  {root.name}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _readable(world: World, units: list[Lemma]) -> list[Lemma]:
    """Return `units` and what their texts mention besides, each after what it mentions as far as that is possible."""
    order: dict[str, Lemma] = {}
    begun: set[str] = set()
    stack = [(unit, False) for unit in reversed(units)]
    while stack:
        unit, is_ready = stack.pop()
        if is_ready:
            order[unit.id] = unit
        elif unit.id not in begun:
            # Texts may mention each other: mutual definitions share one.
            begun.add(unit.id)
            named = world.mentioned(_WORD.findall(unit.source))
            below = {item.id: item for item in (*map(world.unit, unit.uses), *named)}
            stack += [(unit, True), *((item, False) for item in below.values())]
    return list(order.values())


def credit(units: list[Lemma], theorem: str, root: Lemma) -> tuple[Credit, ...]:
    """Return a row per lemma of the final proof, in dependency order; definitions have none."""
    users: dict[str, list[str]] = {unit.id: [] for unit in units}
    for unit in units:
        for below in unit.uses:
            users[below].append(unit.name)
    users[root.id].append(theorem)
    return tuple(
        Credit(lemma=unit.id, name=unit.name, author=unit.author, used_by=tuple(users[unit.id]))
        for unit in units
        if unit.statement.hash
    )


def _digests(world: World, units: list[Lemma]) -> dict[str, str]:
    paths = [world.folder / "problem.lean", world.folder / PROOF, *(world.module_path(unit.id) for unit in units)]
    return {str(path.relative_to(world.folder)): sha256(path) for path in paths}


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
