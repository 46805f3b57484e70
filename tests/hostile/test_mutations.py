"""Damaged artifacts judged end to end: what gets in is what a fresh kernel accepts, under an id of its own."""

# pyright: reportPrivateUsage=false
from collections.abc import AsyncGenerator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lemma_store.judge import Judge
from lemma_store.lean.elaboration import Elaboration
from lemma_store.policy import ALLOWED_AXIOMS
from lemma_store.refusals import Refused
from lemma_store.store import LemmaStore
from lemma_store.tasks import Admit, Artifact, Judged
from lemma_store.world import World
from tests.fuzz_reader import read_facts
from tests.hostile.depth import HEADER, IMPORTS
from tests.lemma_store.mutations import mutate
from tests.lemma_store.stores import PROBLEM, running_store

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

SEEDS = range(2_500)

TEXT = """def d (n : Nat) : Nat := n + 2
theorem t (a b : Nat) (h : a = b) : d a + b = d b + a := by rw [h]
theorem s (p q : Prop) (h : p ∧ q) : q ∨ p := Or.inl h.2
theorem big : (12345678901234567890123 : Nat) % 10 = 3 := rfl
"""


@pytest.fixture(scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LemmaStore]:
    async with running_store(tmp_path_factory.mktemp("mutations")) as opened:
        await opened.open_problem("m", source=PROBLEM)
        await opened.open_problem("fresh", source=PROBLEM)
        yield opened


async def _judge(data: bytes, *, world: World, judge: Judge, folder: str) -> list[Judged]:
    path = Path(folder) / "Check.olean"
    path.write_bytes(data)
    task = Artifact(
        path=str(path), imports=IMPORTS, theorems=("t", "s", "big"), definitions=("d",), world=world.stamp,
        folder=folder,
    )  # fmt: skip
    answer = await judge.ask(task)
    return [item for item in answer.judged if item.outcome == "accepted"]


def _reads_otherwise(data: bytes, original: bytes) -> bool:
    """Return whether `data` reads as well-formed declarations that are not those of `original`."""
    try:
        return read_facts(data) != read_facts(original)
    except Refused:
        return False


async def test_a_damaged_artifact_never_yields_another_statement_under_a_known_id(store: LemmaStore):
    world, judge = await store._get("m")
    original = await _compiled(store)
    damaged = [mutate(seed, [original])[1] for seed in SEEDS]
    readable = [data for data in damaged if _reads_otherwise(data, original)]
    statements: dict[str, str] = {}
    _, fresh = await store._get("fresh")
    with TemporaryDirectory() as folder:
        for number, data in enumerate([original, *readable]):
            known = len(statements)
            accepted = await _judge(data, world=world, judge=judge, folder=folder)
            assert number or len(accepted) == 4
            for item in accepted:
                assert set(item.axioms) <= ALLOWED_AXIOMS.keys()
                assert statements.setdefault(item.id, item.statement_hash) == item.statement_hash
                assert statements.setdefault(item.stored_name, item.statement_hash) == item.statement_hash
            if number and len(statements) > known:
                await _confirm(accepted, fresh)
    assert judge.is_alive
    assert len(readable) > 20, len(readable)


async def _confirm(accepted: list[Judged], fresh: Judge) -> None:
    """Something new got in: a kernel that never saw the artifact must accept the written modules too."""
    for item in accepted:
        if (await fresh.look_up(item.stored_name)).status == "done":
            continue
        assert (await fresh.ask(Admit(module=f"L.{item.id}", path=item.module))).status == "done"
        held = (await fresh.look_up(item.stored_name)).judged[0]
        assert (held.statement_hash, held.axioms) == (item.statement_hash, item.axioms)


async def _compiled(store: LemmaStore) -> bytes:
    world, _ = await store._get("m")
    done = await store._lean.run(
        Elaboration(source=(HEADER + TEXT).encode(), lean_path=world.lean_path, module="Check", wants_artifact=True)
    )
    assert done.artifact is not None, done.messages
    return done.artifact
