"""The same statement with hypotheses in another order is met before anybody works on it."""

import pytest

from tests.adapter_server.conftest import Agent, Join

pytestmark = pytest.mark.anyio

ONE = "∀ (x y : L) (n : Nat), rev x = y → app y .nil = x → rev y = .cons n x"
OTHER = "∀ (n : Nat) (b a : L), app b .nil = a → rev a = b → rev b = .cons n a"
STRONGER = "∀ (x y : L) (n : Nat), rev x = y → app x .nil = x → rev y = .cons n x"
EASY = "∀ (x y z : L), x = y → y = z → app x .nil = app z .nil"
EASY_TURNED = "∀ (c b a : L), b = c → a = b → app a .nil = app c .nil"
EASY_PROOF = f"theorem easy : {EASY} := by\n  intro x y z h k\n  rw [h, k]\n"


async def add(agent: Agent, statement: str, name: str = "part") -> dict[str, object]:
    return await agent.ok("plan", action="add", name=name, statement=statement)


async def test_a_part_in_another_order_is_the_part_that_is_there(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        first = await add(ada, ONE)
        again = await add(bob, OTHER)
        assert (again["node"], again["duplicate_of"]) == (first["node"], first["node"])
        assert again["relation"] == "hypotheses in another order"
        assert (await add(bob, STRONGER))["node"] != first["node"]
        read = await bob.ok("check", mode="statement", source=OTHER)
        assert read["same_as"] == [first["node"]]


async def test_a_split_uses_the_part_that_is_there_in_another_order(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        first = await add(ada, EASY, "easy")
        split = await bob.ok(
            "plan",
            action="split",
            parent="n0",
            children=[
                {"name": "turned", "statement": EASY_TURNED},
                {"name": "goal", "statement": "∀ (x : L), app (rev (rev x)) .nil = app x .nil → rev (rev x) = x"},
                {"name": "same", "statement": "∀ (x : L), rev (rev x) = x ∨ app (rev (rev x)) .nil = app x .nil"},
            ],
            glue="intro x\nhave h := turned x x x rfl rfl\nexact (same x).elim id (goal x)",
        )
        assert [child["node"] for child in split["children"]] == [first["node"], "n2", "n3"]
        assert split["children"][0]["duplicate"] is True
        assert len((await ada.ok("plan", action="show"))["nodes"]) == 4


async def test_a_child_that_is_its_parent_in_another_order_is_a_circle(join: Join) -> None:
    async with join("ada") as ada:
        parent = await add(ada, EASY)
        refused = await ada.fails(
            "plan",
            action="split",
            parent=parent["node"],
            children=[{"name": "h", "statement": EASY_TURNED}],
            glue="intros; apply h <;> assumption",
        )
        assert refused["code"] == "cyclic"


async def test_a_lemma_in_another_order_closes_a_new_part_and_a_child_at_once(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        proved = (await ada.ok("check", source=EASY_PROOF))["verdicts"][0]["lemma"]
        added = await add(bob, EASY_TURNED)
        assert (added["status"], added["known_lemma"]) == ("closed", proved)
        found = await bob.ok("find", mode="same", statement="∀ (c a b : L), b = c → a = b → app a .nil = app c .nil")
        assert proved in [hit["name"] for hit in found["hits"]]
        split = await bob.ok(
            "plan",
            action="split",
            parent="n0",
            children=[
                {"name": "h", "statement": "∀ (c a b : L), a = b → b = c → app a .nil = app c .nil"},
                {"name": "k", "statement": "∀ (x : L), app x .nil = app x .nil → rev (rev x) = x"},
            ],
            glue="intro x; exact k x (h x x x rfl rfl)",
        )
        assert [child["status"] for child in split["children"]] == ["closed", "open"]


async def test_a_new_lemma_says_which_earlier_one_it_repeats(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        first = (await ada.ok("check", source=EASY_PROOF))["verdicts"][0]["lemma"]
        turned = await bob.ok("check", source=f"theorem turned : {EASY_TURNED} := by intro c b a h k; rw [k, h]\n")
        (mine,) = (verdict["lemma"] for verdict in turned["verdicts"])
        assert turned["same_in_other_order"] == {mine: first}


async def test_what_is_refuted_is_refuted_in_every_order(join: Join) -> None:
    async with join("ada") as ada, join("bob") as bob:
        part = await add(ada, "∀ (m n k : Nat), m = n → n = k → m + k = k")
        lean = "by intro h; exact absurd (h 1 1 1 rfl rfl) (by decide)"
        await ada.ok("refute", node=part["node"], kind="proof", lean=lean)
        refused = await bob.fails(
            "plan", action="add", name="turned", statement="∀ (k n m : Nat), n = k → m = n → m + k = k"
        )
        assert refused["code"] == "refuted"


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        pytest.param("∀ (a b : Nat), a = b → b = a", "∀ (b a : Nat), a = b → b = a", True, id="variables"),
        pytest.param("∀ (a b : Nat), a ≤ b → a = a", "∀ (a b : Nat), b ≤ a → a = a", False, id="their parts"),
        pytest.param("∀ (P Q : Prop), P → Q → P", "∀ (P Q : Prop), Q → P → P", True, id="hypotheses"),
        pytest.param("∀ (P Q : Prop), P → Q → P", "∀ (P Q : Prop), P → P", False, id="fewer hypotheses"),
        pytest.param(
            "∀ (α : Type u) (x : α) (n : Nat), x = x ∧ n = n", "∀ (n : Nat) (β : Type v) (y : β), y = y ∧ n = n", True,
            id="dependent variables and universes",
        ),
        pytest.param("∀ (a b : Nat), a = 0 → b = 1 → a ≠ b", "∀ (a b : Nat), a = 1 → b = 0 → b ≠ a", True, id="roles"),
        pytest.param("∀ (a b : Nat), a = 0 → b = 1 → a ≠ b", "∀ (a b : Nat), a = 1 → b = 0 → a ≠ b", False, id="sides"),
    ],
)  # fmt: skip
async def test_same_means_reordered_and_nothing_else(join: Join, one: str, other: str, is_same: bool) -> None:
    async with join("ada") as ada:
        part = await add(ada, one)
        same = (await ada.ok("check", mode="statement", source=other)).get("same_as", [])
        assert same == ([part["node"]] if is_same else [])
