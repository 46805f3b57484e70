"""The same text again costs nothing, and never hides what has become provable."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from lemma_store.checking import Limits
from lemma_store.repeats import Repeats
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport
from tests.lemma_store.stores import PROBLEM, accepted, running_store, verdict

pytestmark = pytest.mark.anyio

E = "repeats"
WRONG = "theorem wrong (xs : lst Nat) : app xs xs = xs := by\n  induction xs <;> simp_all [app]\n"


@pytest.fixture(scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LemmaStore]:
    async with running_store(tmp_path_factory.mktemp("store"), limits=Limits(heartbeats=200)) as opened:
        await opened.open_problem(E, source=PROBLEM)
        yield opened


async def test_what_lean_refused_is_answered_with_its_words_and_without_lean(store: LemmaStore):
    first = await store.check(E, author="ada", source=WRONG)
    again = await store.check(E, author="bo", source=WRONG)

    assert (first.is_repeat, again.is_repeat) == (False, True)
    assert (again.verdicts, again.messages, again.goals) == (first.verdicts, first.messages, first.goals)
    assert first.elaborate_ms > 0
    assert again.elaborate_ms == again.judge_ms == 0


async def test_one_text_of_three_authors_at_the_same_time_is_checked_once(store: LemmaStore):
    text = "theorem app_nil {a : Type} (xs : lst a) : app xs .nil = xs := by\n  induction xs <;> simp_all [app]\n"
    reports: list[CheckReport] = []

    async def check(author: str) -> None:
        reports.append(await store.check(E, author=author, source=text))

    async with anyio.create_task_group() as tasks:
        for author in ("ada", "bo", "cy"):
            tasks.start_soon(check, author)

    assert sorted(report.is_repeat for report in reports) == [False, True, True]
    assert len({accepted(report).id for report in reports}) == 1
    assert sum(report.verdicts[0].is_new for report in reports) == 1


async def test_a_refused_text_is_checked_anew_once_a_lemma_that_it_mentions_is_there(store: LemmaStore):
    proof = "theorem needed (xs : lst Nat) : app xs .nil = xs := by\n  induction xs <;> simp_all [app]\n"
    await store.open_problem("elsewhere", source=PROBLEM)
    name = accepted(await store.check("elsewhere", author="ada", source=proof)).name
    user = f"theorem two_nils (xs : lst Nat) : app xs (app xs .nil) = app xs xs := by\n  rw [{name}]\n"

    early = await store.check(E, author="bo", source=user)
    assert accepted(await store.check(E, author="ada", source=proof)).name == name
    late = await store.check(E, author="bo", source=user)

    assert verdict(early, "two_nils").outcome == "rejected"
    assert accepted(late).name.startswith("two_nils_")


async def test_what_a_limit_left_undecided_is_tried_again(store: LemmaStore):
    text = "theorem endless : 1 = 2 := by repeat (first | skip)\n"

    reports = [await store.check(E, author="ada", source=text) for _ in range(2)]

    assert [report.verdicts[0].outcome for report in reports] == ["undecided", "undecided"]
    assert not any(report.is_repeat for report in reports)


async def test_who_waited_for_a_check_that_was_given_up_runs_it():
    repeats, began, runs = Repeats(), anyio.Event(), 0

    async def run() -> CheckReport:
        nonlocal runs
        runs += 1
        began.set()
        if runs == 1:
            await anyio.sleep_forever()
        return CheckReport(verdicts=())

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            first = anyio.CancelScope()

            async def give_up() -> None:
                with first:
                    await repeats.once("text", (), run)

            tasks.start_soon(give_up)
            await began.wait()
            tasks.start_soon(repeats.once, "text", (), run)
            await anyio.lowlevel.checkpoint()
            first.cancel()

    assert runs == 2
