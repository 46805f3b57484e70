"""Texts of every shape: a verdict for each theorem, honest neighbours judged, limits told apart from failures."""

from collections import Counter
from collections.abc import AsyncGenerator

import pytest

from bus.errors import UnsafeSource
from lemma_store.intake import MAX_BYTES, take_in
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport
from tests.lemma_store.stores import PROBLEM, running_store, verdict

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(200)]

E = "texts"


@pytest.fixture(scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LemmaStore]:
    async with running_store(tmp_path_factory.mktemp("texts")) as opened:
        await opened.open_problem(E, source=PROBLEM)
        yield opened


def outcomes(report: CheckReport) -> dict[str, str]:
    return {item.name: item.outcome for item in report.verdicts}


async def test_hundreds_of_theorems_get_a_verdict_each_though_lean_stops_at_a_hundred_errors(store: LemmaStore):
    text = "".join(
        f"theorem t{at} (n : Nat) : n + {at} = {at} + n := Nat.add_comm n {at}\n"
        if at % 2
        else f"theorem t{at} : {at} = {at} + 1 := by decide\n"
        for at in range(300)
    )

    report = await store.check(E, author="ada", source=text)

    assert Counter(outcomes(report).values()) == {"accepted": 150, "rejected": 150}
    assert all(item.outcome == ("accepted" if int(item.name[1:]) % 2 else "rejected") for item in report.verdicts)


async def test_a_chain_of_failures_ends_and_spares_its_neighbour(store: LemmaStore):
    chain = "".join(f"theorem c{at} : 1 = 2 := c{at - 1}\n" for at in range(1, 40))

    report = await store.check(
        E, author="ada", source=f"theorem c0 : 1 = 2 := by decide\n{chain}theorem fine : 7 = 7 := rfl\n"
    )

    found = outcomes(report)
    assert found.pop("fine") == "accepted"
    assert len(found) == 40
    assert set(found.values()) == {"rejected", "undecided"}


@pytest.mark.parametrize(
    "text",
    [
        "theorem broken (n : Nat) : n = n := (by\ntheorem fine : 9 = 9 := rfl\n",
        "theorem fine : 9 = 9 := rfl\ntheorem broken (n : Nat) : n = n :=",
        "words before theorem fine : 9 = 9 := rfl",
        ")))\ntheorem fine : 9 = 9 := rfl theorem broken : 1 = 2 := rfl",
        "namespace A\n  theorem broken : 1 = 2 := rfl\n  theorem fine : 9 = 9 := rfl\nend A\n",
        "theorem broken : 1 = 2 := rfl\n/-- doc -/\n@[simp] private theorem fine : 9 = 9 := rfl\n",
        "def broken : Nat := true\ntheorem uses : broken = 1 := rfl\ntheorem fine : 9 = 9 := rfl\n",
        "theorem broken : 1 = 2 := by\n  simp\n\n  decide\n\n\n  theorem fine : 9 = 9 := by\n    rfl",
    ],
)
async def test_an_honest_neighbour_is_judged_whatever_stands_beside_it(text: str, store: LemmaStore):
    report = await store.check(E, author="ada", source=text)

    found = {name.rpartition(".")[2]: outcome for name, outcome in outcomes(report).items()}
    assert found.pop("fine") == "accepted"
    assert set(found.values()) <= {"rejected"}


async def test_equal_names_in_two_namespaces_are_two_theorems(store: LemmaStore):
    text = "namespace A\ntheorem t : 1 = 2 := rfl\nend A\nnamespace B\ntheorem t : 12 = 12 := rfl\nend B\n"

    assert outcomes(await store.check(E, author="ada", source=text)) == {"A.t": "rejected", "B.t": "accepted"}


async def test_running_out_of_steps_is_undecided_and_spares_the_neighbour(store: LemmaStore):
    text = "theorem slow : 1 = 2 := by repeat (first | skip)\ntheorem fine : 8 = 8 := rfl\n"

    report = await store.check(E, author="ada", source=text)

    assert outcomes(report) == {"slow": "undecided", "fine": "accepted"}
    assert "heartbeats" in verdict(report, "slow").reasons[0]


async def test_definitions_travel_under_content_names_and_two_texts_share_one(store: LemmaStore):
    definition = "def snoc {{a : Type}} ({0} : lst a) (x : a) : lst a := app {0} (.cons x .nil)\n"
    text = definition + "theorem {1} : {2} := by intros; rfl\n"

    first = await store.check(
        E, author="ada", source=text.format("xs", "s1", "∀ {a : Type} (x : a), snoc .nil x = .cons x .nil")
    )
    second = await store.check(
        E, author="bo", source=text.format("ys", "s2", "∀ (x y : Nat), snoc (.cons y .nil) x = .cons y (.cons x .nil)")
    )

    one, two = (verdict(report, name).lemma for report, name in ((first, "s1"), (second, "s2")))
    assert one is not None
    assert two is not None
    assert one.uses == two.uses != ()
    name = one.statement.pretty.partition("snoc_")[2].split()[0]
    assert f"snoc_{name}" in two.statement.pretty
    third = await store.check(
        E,
        author="cy",
        source=f"theorem s3 (x : Nat) : snoc_{name} .nil x = .cons x .nil := by simp [snoc_{name}, app]\n",
    )
    assert outcomes(third) == {"s3": "accepted"}
    assert verdict(third, "s3").lemma is not None


async def test_two_definitions_of_one_name_are_two_things(store: LemmaStore):
    one = await store.check(E, author="ada", source="def d (n : Nat) : Nat := n\ntheorem d0 : d 0 = 0 := rfl\n")
    two = await store.check(E, author="bo", source="def d (n : Nat) : Nat := n + 1\ntheorem d0 : d 0 = 1 := rfl\n")

    statements = [item.lemma.statement.pretty for item in (*one.verdicts, *two.verdicts) if item.lemma]
    assert len({text.split()[0] for text in statements}) == 2


@pytest.mark.parametrize(
    "char", ["\0", "\x1b", "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\ud800", "\r", "\x85"]
)
def test_characters_that_hide_something_are_refused_with_their_line(char: str):
    with pytest.raises(UnsafeSource) as refusal:
        take_in(f"theorem a : True := trivial\n-- {char} x\n")
    assert refusal.value.facts["line"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "theorem a := 'x' -- axiom",
        'def s := "axiom" ++ "#eval"',
        "theorem f' (x' : Nat) : x' = x' := rfl -- don't say axiom",
        "/-! axiom -/ /- it's an «axiom» -/ ----- axiom\n",
        "x :=--axiom\ny",
        'def c := \'"\' -- "ok"',
        "a" * (MAX_BYTES - 10),
        "",
        "attribute [-simp] foo",
        "theorem t : (fun x => x.1.2) = fun x => x.1.2 := rfl",
    ],
)
def test_harmless_texts_are_taken(text: str):
    assert take_in(text).source == text
