"""Taking lemmas back, and judging everything again."""

# pyright: reportPrivateUsage=false
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bus.errors import UnknownId
from lemma_store import session, withdrawal
from lemma_store.store import LemmaStore
from lemma_store.types import Lemma
from tests.lemma_store.forge import Forge
from tests.lemma_store.stores import PROBLEM, accepted, running_store, verdict

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(200)]

E = "e"
BASE = "theorem base (n : Nat) : n + 0 = n := rfl\n"
OTHER = "theorem other (p q : Prop) (h : p ∧ q) : q := h.2\n"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[LemmaStore]:
    async with running_store(tmp_path) as opened:
        await opened.open_problem(E, source=PROBLEM)
        yield opened


async def _chain(store: LemmaStore) -> list[Lemma]:
    """Three lemmas, each resting on the one before, and one apart."""
    found = [accepted(await store.check(E, author="ada", source=BASE))]
    for name in ("middle", "top"):
        text = f"theorem {name} (n : Nat) : n + 0 + 0 = n ∧ {len(found)} = {len(found)} := ⟨{found[-1].name} n, rfl⟩\n"
        if name == "top":
            text = f"theorem top (n : Nat) : n + 0 + 0 = n := ({found[-1].name} n).1\n"
        found.append(accepted(await store.check(E, author="bo", source=text)))
    return [*found, accepted(await store.check(E, author="cy", source=OTHER))]


async def test_what_rests_on_a_revoked_lemma_goes_with_it_and_does_not_come_back(store: LemmaStore, tmp_path: Path):
    base, middle, top, other = await _chain(store)

    gone = await store.revoke(E, base.name, reason="a fault of the kernel")

    assert gone == [base, middle, top]
    assert await store.lemmas(E) == [other]
    assert await store.find(E, q="base middle top") == []
    for lemma in gone:
        with pytest.raises(UnknownId):
            await store.lemma(E, lemma.id)
    again = await store.check(
        E, author="eve", source=f"{BASE}theorem use (n : Nat) : n + 0 = n ∧ 1 = 1 := ⟨base n, rfl⟩\n"
    )
    assert {item.outcome for item in again.verdicts} == {"rejected"}
    assert "revoked" in verdict(again, "base").reasons[0]
    by_name = await store.check(E, author="eve", source=f"theorem use (n : Nat) : n + 0 = n := {base.name} n\n")
    assert verdict(by_name, "use").outcome == "rejected"
    honest = await store.check(
        E, author="ada", source=f"theorem fine (p : Prop) (h : p ∧ p) : p := {other.name} p p h\n"
    )
    assert verdict(honest, "fine").outcome == "accepted"


async def test_revocation_outlives_a_restart(tmp_path: Path):
    async with running_store(tmp_path) as store:
        await store.open_problem(E, source=PROBLEM)
        base, *_, other = await _chain(store)
        await store.revoke(E, base.id, reason="doubt")
    async with running_store(tmp_path) as store:
        assert await store.lemmas(E) == [other]
        again = await store.check(E, author="eve", source=BASE)
        assert "doubt" in verdict(again, "base").reasons[0]


async def test_a_certificate_that_rests_on_a_revoked_lemma_is_withdrawn(store: LemmaStore, tmp_path: Path):
    await store.open_problem("small", source="theorem small (n : Nat) : n + 0 = n := by sorry\n")
    lemma = accepted(await store.check("small", author="ada", source=BASE))
    assembly = await store.assemble("small", lemma.id)
    assert Path(assembly.path).exists()

    await store.revoke("small", lemma.id, reason="doubt")

    assert not Path(assembly.path).exists()
    with pytest.raises(UnknownId):
        await store.assemble("small", lemma.id)


async def test_everything_is_judged_again_and_what_fails_is_revoked(store: LemmaStore):
    base, middle, top, other = await _chain(store)
    assert set((await store.recheck(E)).kept) == {base.id, middle.id, top.id, other.id}

    world, _ = await store._get(E)
    forge = Forge()
    world.module_path(middle.id).write_bytes(
        forge.module([forge.axiom([middle.name], forge.constant("False"))], imports=("MiniCore",))
    )
    found = await store.recheck(E)

    assert found.refused.keys() == {middle.id, top.id}
    assert set(found.kept) == {base.id, other.id}
    assert await store.lemmas(E) == [base, other]


async def test_a_stricter_policy_takes_lemmas_away(store: LemmaStore, monkeypatch: pytest.MonkeyPatch):
    text = "theorem classical (p : Prop) (h : ¬¬p) : p := Classical.byContradiction h\n"
    classical = accepted(await store.check(E, author="ada", source=text))
    assert "Classical.choice" in classical.axioms
    other = accepted(await store.check(E, author="ada", source=OTHER))

    allowed = {name: digest for name, digest in session.ALLOWED_AXIOMS.items() if name != "Classical.choice"}
    monkeypatch.setattr(withdrawal, "ALLOWED_AXIOMS", allowed)
    found = await store.recheck(E)

    assert found.refused == {classical.id: "it rests on Classical.choice"}
    assert await store.lemmas(E) == [other]
