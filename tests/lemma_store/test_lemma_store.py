"""What the lemma store promises, with real Lean, a real judge and a real index."""

# pyright: reportPrivateUsage=false

import os
import signal
from collections.abc import AsyncGenerator

import anyio
import pytest

from bus.errors import BadArguments, NotLean, StatementMismatch, TooLarge, UnknownId, UnsafeSource
from lemma_store import judges
from lemma_store.checking import Limits
from lemma_store.store import LemmaStore
from lemma_store.types import Lemma
from tests.lemma_store.stores import PROBLEM, accepted, running_store, verdict

pytestmark = pytest.mark.anyio

E = "shared"
APP_NIL = "theorem app_nil {a : Type} (xs : lst a) : app xs .nil = xs := by\n  induction xs <;> simp_all [app]\n"


@pytest.fixture(scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LemmaStore]:
    """A store with one open problem. Tests use theorem names of their own."""
    async with running_store(tmp_path_factory.mktemp("store")) as opened:
        await opened.open_problem(E, source=PROBLEM)
        yield opened


@pytest.fixture
async def app_nil(store: LemmaStore) -> Lemma:
    return accepted(await store.check(E, author="ada", source=APP_NIL))


async def test_a_proved_theorem_becomes_a_lemma_that_others_use_by_its_stored_name(store: LemmaStore, app_nil: Lemma):
    assert app_nil.name.startswith("app_nil_")
    assert app_nil.statement.pretty == "∀ {a : Type} (xs : lst a), app xs lst.nil = xs"

    report = await store.check(
        E,
        author="bo",
        source=f"""theorem use_it (xs : lst Nat) : app xs .nil = xs :=
  {app_nil.name} xs
""",
    )

    assert accepted(report).uses == (app_nil.id,)


async def test_a_false_theorem_is_rejected_with_leans_reason(store: LemmaStore):
    report = await store.check(E, author="ada", source="theorem no : (1 : Nat) = 2 := by decide\n")

    assert verdict(report, "no").outcome == "rejected"
    assert verdict(report, "no").reasons
    assert verdict(report, "no").lemma is None


async def test_the_same_statement_again_names_the_first_lemma(store: LemmaStore, app_nil: Lemma):
    report = await store.check(
        E,
        author="bo",
        source="""theorem another_name {b : Type} (ys : lst b) :
    app ys .nil = ys := by
  induction ys with
  | nil => rfl
  | cons y ys ih => simp [app, ih]
""",
    )

    assert accepted(report) == app_nil
    assert not report.verdicts[0].is_new


async def test_honest_neighbours_of_a_failing_declaration_are_judged(store: LemmaStore):
    report = await store.check(
        E,
        author="ada",
        source="""theorem before (n : Nat) : n + 0 = n := rfl
theorem broken (n : Nat) : n = n + 1 := by simp
theorem leaning_on_it : (3 : Nat) = 4 := broken 3
theorem after (n : Nat) : n = n := rfl
""",
    )

    outcomes = {item.name: item.outcome for item in report.verdicts}
    assert outcomes == {"before": "accepted", "broken": "rejected", "leaning_on_it": "rejected", "after": "accepted"}


async def test_positions_point_into_the_authors_text_whatever_its_line_ends(store: LemmaStore, app_nil: Lemma):
    text = f"theorem fine : True := trivial\n\ntheorem wrong : {app_nil.name} = 2 := by decide\n"

    for source in (text, text.replace("\n", "\r\n")):
        report = await store.check(E, author="ada", source=source)
        (error,) = [item for item in report.messages if item.severity == "error"]
        assert error.line == 3
        assert verdict(report, "fine").outcome == "accepted"


async def test_unsolved_goals_are_given_back(store: LemmaStore):
    report = await store.check(E, author="ada", source="theorem open_ (p q : Prop) : p ∧ q → q ∧ p := by intro h\n")

    assert report.goals
    assert "⊢ q ∧ p" in report.goals[0]


async def test_a_text_is_refused_as_a_whole_for_its_size_or_its_words(store: LemmaStore):
    with pytest.raises(TooLarge):
        await store.check(E, author="ada", source="-" * 10_000_000)
    with pytest.raises(UnsafeSource) as refusal:
        await store.check(E, author="ada", source="theorem t : True := trivial\naxiom a : False\n")
    assert refusal.value.facts["line"] == 2


async def test_an_empty_text_has_no_verdicts(store: LemmaStore):
    assert (await store.check(E, author="ada", source="")).verdicts == ()


async def test_glue_is_compared_as_a_term(store: LemmaStore):
    parent = await store.elaborate(E, "∀ (p q : Prop), p → q → q ∧ p")
    child = await store.elaborate(E, "∀ (p q : Prop), p → q → p ∧ q")
    other = await store.elaborate(E, "∀ (p q : Prop), p → q → p ∨ q")
    glue = "exact fun p q hp hq => ⟨hq, hp⟩"

    report = await store.check_glue(E, author="ada", name="g", parent=parent, children=[("h", child)], glue=glue)
    assert accepted(report, "g").premises[0][0] == child.hash
    with_other = await store.check_glue(E, author="ada", name="g", parent=parent, children=[("h", other)], glue=glue)
    assert with_other.verdicts[0].lemma != report.verdicts[0].lemma

    for name in ("a b", "h : False) (g", "«h»", ""):
        with pytest.raises(BadArguments):
            await store.check_glue(E, author="ada", name="g", parent=parent, children=[(name, child)], glue=glue)


async def test_glue_and_proved_children_compose_to_the_parent(store: LemmaStore):
    parent = await store.elaborate(E, "∀ (p q r : Prop), p → q → r → r ∧ q ∧ p")
    children = [
        ("one", await store.elaborate(E, "∀ (p q : Prop), p → q → q ∧ p")),
        ("two", await store.elaborate(E, "∀ (p r : Prop), p → r → r ∧ p")),
    ]
    glue = accepted(
        await store.check_glue(
            E, author="ada", name="g2", parent=parent, children=children,
            glue="exact fun p q r hp hq hr => two (q ∧ p) r (one p q hp hq) hr",
        )
    )  # fmt: skip
    proved = accepted(
        await store.check(E, author="bo", source="theorem one (p q : Prop) (a : p) (b : q) : q ∧ p := ⟨b, a⟩")
    )

    whole = await store.compose(
        E, author="ada", name="whole", parent=parent, glue=glue.id, children=[proved.id, proved.name]
    )

    assert whole.statement.hash == parent.hash
    assert set(whole.uses) == {glue.id, proved.id}


async def test_a_statement_is_known_by_its_term(store: LemmaStore):
    one = await store.elaborate(E, "∀ {a : Type} (xs : lst a), app xs .nil = xs")
    same = await store.elaborate(E, "∀ (b : Type) (ys : lst b), app ys lst.nil = ys")
    other = await store.elaborate(E, "∀ (b : Type) (ys : lst b), ys = app ys lst.nil")

    assert one.hash == same.hash != other.hash
    for wrong in ("∀ (x : Nat), x = y", "Nat", "", "True) := trivial\ntheorem more : (True"):
        with pytest.raises(NotLean):
            await store.elaborate(E, wrong)


async def test_unknown_names_answer_with_the_nearest(store: LemmaStore, app_nil: Lemma):
    with pytest.raises(UnknownId) as error:
        await store.lemma(E, "app_nill")
    assert app_nil.name in error.value.facts["nearest"]  # pyright: ignore[reportOperatorIssue]
    with pytest.raises(UnknownId):
        await store.lemmas("no such episode")


async def test_a_limit_is_undecided_and_a_later_check_decides(store: LemmaStore, monkeypatch: pytest.MonkeyPatch):
    text = "theorem slow (p q r : Prop) (h : p ∧ q ∧ r) : r ∧ p := ⟨h.2.2, h.1⟩\n"

    monkeypatch.setattr(store, "_limits", Limits(wall_ms=1))
    assert verdict(await store.check(E, author="ada", source=text), "slow").outcome == "undecided"
    monkeypatch.setattr(store, "_limits", Limits(judge_ms=-1_000))
    assert verdict(await store.check(E, author="ada", source=text), "slow").outcome == "undecided"
    monkeypatch.undo()

    assert verdict(await store.check(E, author="ada", source=text), "slow").outcome == "accepted"


async def test_a_judge_that_is_killed_leaves_its_checks_undecided_and_the_next_one_works(store: LemmaStore):
    text = "theorem killed (p q : Prop) (h : p ∧ q) : q := h.2\n"
    judge = (await store._get(E))[1]
    os.kill(judge.pid, signal.SIGSTOP)
    async with anyio.create_task_group() as tasks:

        async def check() -> None:
            report = await store.check(E, author="ada", source=text)
            assert verdict(report, "killed").outcome == "undecided"

        tasks.start_soon(check)
        with anyio.fail_after(30):
            while not judge._waits:
                await anyio.lowlevel.checkpoint()
        os.kill(judge.pid, signal.SIGKILL)

    assert verdict(await store.check(E, author="ada", source=text), "killed").outcome == "accepted"
    assert (await store._get(E))[1].pid != judge.pid


async def test_a_judge_that_nobody_asks_ends_and_the_next_question_starts_another(
    store: LemmaStore, monkeypatch: pytest.MonkeyPatch
):
    await store.open_problem("idle", source=PROBLEM)
    await store.release("idle")
    monkeypatch.setattr(judges, "IDLE_S", 0.1)
    judge = (await store._get("idle"))[1]
    with anyio.fail_after(30):
        await judge.ended.wait()
    monkeypatch.undo()

    report = await store.check("idle", author="ada", source="theorem again : 2 = 2 := rfl\n")
    assert verdict(report, "again").outcome == "accepted"
    await store.release("idle")


async def test_only_a_lemma_that_states_the_target_is_assembled(store: LemmaStore, app_nil: Lemma):
    with pytest.raises(StatementMismatch):
        await store.assemble(E, app_nil.id)
