"""Accepted units that nothing has used yet: they guard their names, and are replayed before anything rests on them."""

# pyright: reportPrivateUsage=false
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from lemma_store.judge import Judge
from lemma_store.lean.elaboration import Elaboration
from lemma_store.store import LemmaStore
from lemma_store.tasks import Answer, Artifact, Hold
from tests.hostile.depth import HEADER, IMPORTS
from tests.lemma_store.stores import PROBLEM, accepted, running_store

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(100)]

E = "held"
WAIT_S = 20


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[LemmaStore]:
    async with running_store(tmp_path) as opened:
        await opened.open_problem(E, source=PROBLEM)
        yield opened


async def _ask(
    judge: Judge, store: LemmaStore, text: str, *, folder: Path, imports: tuple[str, ...] = IMPORTS
) -> Answer:
    """Have a text judged that was compiled without any lemma."""
    world, _ = await store._get(E)
    done = await store._lean.run(
        Elaboration(source=(HEADER + text).encode(), lean_path=world.lean_path, module="Check", wants_artifact=True)
    )
    assert done.artifact is not None, done.messages
    path = folder / "Check.olean"
    path.write_bytes(done.artifact)
    task = Artifact(
        path=str(path), imports=imports, theorems=("t",), definitions=(), world=world.stamp, folder=str(folder)
    )
    return await judge.ask(task)


async def test_the_name_of_a_lemma_that_nothing_has_used_cannot_be_declared(store: LemmaStore, tmp_path: Path):
    kept = accepted(await store.check(E, author="ada", source="theorem kept (n : Nat) : n = n := rfl\n"))
    _, judge = await store._get(E)

    answer = await _ask(judge, store, f"theorem {kept.name} : 1 = 1 := rfl\n", folder=tmp_path)

    assert answer.status == "refused"
    assert "is a name of the library, the problem or a lemma" in answer.reason


async def test_a_lemma_is_replayed_with_what_it_rests_on_when_a_text_imports_it(store: LemmaStore):
    first = accepted(await store.check(E, author="ada", source="theorem one (n : Nat) : n = n := rfl\n"))
    second = accepted(
        await store.check(E, author="ada", source=f"theorem two : 1 = 1 ∧ 2 = 2 := ⟨rfl, {first.name} 2⟩\n")
    )
    _, judge = await store._get(E)

    third = accepted(
        await store.check(E, author="bo", source=f"theorem three : 2 = 2 ∧ 1 = 1 := ⟨{second.name}.2, rfl⟩\n")
    )

    assert third.uses == (second.id,)
    held = (await judge.look_up(third.name)).judged[0]
    assert held.statement_hash == third.statement.hash


async def test_what_was_accepted_and_is_refused_now_decides_nothing_and_ends_the_judge(
    store: LemmaStore, tmp_path: Path
):
    (tmp_path / "broken.olean").write_bytes(b"no module")
    _, judge = await store._get(E)
    await judge.hold(Hold(module="L.broken", path=str(tmp_path / "broken.olean"), names=("broken_123456",)))

    for _ in range(2):
        assert (await judge.look_up("broken_123456")).status == "undecided"
    await _ask(judge, store, "theorem t : 1 = 1 := rfl\n", folder=tmp_path, imports=(*IMPORTS, "L.broken"))

    with anyio.fail_after(WAIT_S):
        await judge.ended.wait()
    accepted(await store.check(E, author="ada", source="theorem after (n : Nat) : n = n := rfl\n"))
