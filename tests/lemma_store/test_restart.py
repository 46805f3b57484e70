"""A store that is opened again on the same folder and index, and checks that run at the same time."""

# pyright: reportPrivateUsage=false
from pathlib import Path

import anyio
import pytest

from bus.errors import UnknownId
from tests.lemma_store.stores import PROBLEM, accepted, running_store

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(200)]

E = "kept"
TEXT = """def twice {a : Type} (xs : lst a) : lst a := app xs xs
theorem twice_nil {a : Type} : twice (.nil : lst a) = .nil := rfl
theorem pair (p q : Prop) (h : p ∧ q) : q := h.2
"""


async def test_a_restarted_store_has_every_lemma_and_nothing_else(tmp_path: Path):
    async with running_store(tmp_path) as store:
        problem = await store.open_problem(E, source=PROBLEM)
        await store.check(E, author="ada", source=TEXT)
        before = await store.lemmas(E)

    folder = tmp_path / "episodes" / E / "modules" / "L"
    (folder / f"l{'0' * 64}.olean").write_bytes(b"what a crash left behind")

    async with running_store(tmp_path) as store:
        assert await store.problem(E) == problem
        assert await store.open_problem(E, source=PROBLEM) == problem
        assert await store.lemmas(E) == before
        assert [hit.name for hit in await store.find(E, q="pair")] == [
            lemma.name for lemma in before if "pair" in lemma.name
        ]
        with pytest.raises(UnknownId):
            await store.lemma(E, "l" + "0" * 64)

        pair = next(lemma for lemma in before if lemma.author_name == "pair")
        report = await store.check(
            E, author="bo", source=f"theorem again (p : Prop) (h : p ∧ p) : p := {pair.name} p p h\n{TEXT}"
        )

    assert [item.outcome for item in report.verdicts] == ["accepted"] * 3
    assert accepted(report, "again").uses == (pair.id,)
    assert {accepted(report, name) for name in ("twice_nil", "pair")} <= set(before)


async def test_checks_at_the_same_time_publish_one_lemma_per_statement_and_one_unit_per_definition(tmp_path: Path):
    """The same definitions under different names, and lemmas that rest on them: none is refused."""
    texts = [
        f"structure Box{at} where\n  fact : 1 = 1\ndef box{at} : Box{at} := ⟨rfl⟩\n"
        f"theorem helper{at} (n : Nat) : n + 0 = n := rfl\n"
        f"theorem main{at} : 1 = 1 ∧ 2 + 0 = 2 := ⟨box{at}.fact, helper{at} 2⟩\n"
        f"theorem own{at} (b : Box{at % 2}) (n : Nat) : b.fact = b.fact ∧ n + {at} = n + {at} := ⟨rfl, rfl⟩\n".replace(
            f"Box{at % 2}", f"Box{at}"
        )
        for at in range(8)
    ]
    async with running_store(tmp_path) as store:
        await store.open_problem(E, source=PROBLEM)

        async def check(text: str) -> None:
            report = await store.check(E, author="ada", source=text)
            assert [item.outcome for item in report.verdicts] == ["accepted"] * 3, report.verdicts

        async with anyio.create_task_group() as tasks:
            for text in texts:
                tasks.start_soon(check, text)

        lemmas = await store.lemmas(E)
        world, judge = await store._get(E)
        assert judge.is_alive
        assert len({lemma.name for lemma in lemmas}) == len(lemmas)
        boxes = [name for name in world.lemma_ids if name.startswith("Box")]
        assert len(boxes) == 1

    async with running_store(tmp_path) as store:
        await store.check(E, author="ada", source="theorem alive : 3 = 3 := rfl\n")
        assert len(await store.lemmas(E)) == len(lemmas) + 1
