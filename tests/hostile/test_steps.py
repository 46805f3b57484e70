"""The test of the tests: with any single step of the pipeline off, an attack gets further than it may.

Steps of the judge are replaced in a judge process of the test's own (`weakened_judge.py`), the others in this process.
"""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
from anyio.abc import TaskGroup

from bus.errors import NotLean, StatementMismatch
from bus.tasks import background_tasks
from lemma_store import assembly, checking, intake, judge, store
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, Statement
from tests.hostile.cases import Case, cases, run_case
from tests.hostile.depth import DEPTH_CASES, complaint, judge_case
from tests.hostile.doors import StoreDoor
from tests.hostile.weakened_judge import STEPS
from tests.lemma_store.stores import PROBLEM, running_store

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

GUARDS = sorted(STEPS.keys() - {"none", "allowed axioms"})


@pytest.fixture(scope="module")
async def lemma_store(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LemmaStore]:
    async with running_store(tmp_path_factory.mktemp("steps")) as opened:
        await opened.open_problem("whole", source=PROBLEM)
        yield opened


async def _complaints(lemma_store: LemmaStore, episode: str, guard: str) -> list[str]:
    world, held = await lemma_store._get(episode)
    guarded = [case for case in DEPTH_CASES if case.guard == guard]
    assert guarded
    said = [await judge_case(case, world=world, judge=held, lean=lemma_store._lean) for case in guarded]
    return [text for case, item in zip(guarded, said, strict=True) if (text := complaint(case, item))]


@pytest.mark.parametrize("step", GUARDS)
async def test_a_judge_without_one_step_lets_an_attack_through(
    step: str, lemma_store: LemmaStore, monkeypatch: pytest.MonkeyPatch
):
    assert await _complaints(lemma_store, "whole", step) == []

    episode = f"without-{step.replace(' ', '-')}"
    monkeypatch.setattr(judge, "COMMAND", (sys.executable, "-m", "tests.hostile.weakened_judge", step))
    async with background_tasks() as tasks:
        weak = _with_judges_of_its_own(lemma_store, tasks)
        await weak.open_problem(episode, source=PROBLEM)
        assert await _complaints(weak, episode, step) != []


def _with_judges_of_its_own(found: LemmaStore, tasks: TaskGroup) -> LemmaStore:
    return LemmaStore(found._folder, ground=found.ground, index=found._index, limits=found._limits, tasks=tasks)


def _first(expect: str, number: int) -> Case:
    return next(case for case in cases() if case.expect == expect and case.number == number)


async def _is_caught(case: Case, lemma_store: LemmaStore) -> bool:
    return not (await run_case(case, StoreDoor(lemma_store, "whole"))).hostile


Attack = Callable[[LemmaStore], Awaitable[bool]]
"""Returns whether the attack was caught."""


async def _word(lemma_store: LemmaStore) -> bool:
    return await _is_caught(_first("unsafe_source", 6), lemma_store)


async def _character(lemma_store: LemmaStore) -> bool:
    return await _is_caught(_first("unsafe_source", 40), lemma_store)


async def _odd_lexing(lemma_store: LemmaStore) -> bool:
    return await _is_caught(next(case for case in cases() if "arrow" in case.name), lemma_store)


async def _other_glue(lemma_store: LemmaStore) -> bool:
    """Glue whose text proves something else than children → parent."""
    parent = await lemma_store.elaborate("whole", "∀ (n : Nat), n + 0 = n")
    child = await lemma_store.elaborate("whole", "∀ (n : Nat), n = n")
    other = await lemma_store.elaborate("whole", "True")
    report = await lemma_store.check_glue(
        "whole", author="eve", name="g", parent=parent, glue="intros; rfl",
        children=[("h", Statement(text="True", pretty=child.pretty, hash=child.hash))],
    )  # fmt: skip
    assert other.hash != child.hash
    return report.verdicts[0].outcome == "rejected"


async def _early_bracket(lemma_store: LemmaStore) -> bool:
    try:
        await lemma_store.elaborate("whole", "True) := trivial\nexample : (True")
    except NotLean:
        return True
    return False


async def _other_target(lemma_store: LemmaStore) -> bool:
    report = await lemma_store.check("whole", author="eve", source="theorem easy : True := trivial\n")
    lemma = report.verdicts[0].lemma
    assert lemma is not None
    try:
        await lemma_store.assemble("whole", lemma.id)
    except StatementMismatch:
        return True
    return False


def _as_it_is(report: CheckReport, **_: object) -> CheckReport:
    return report


IN_PROCESS: dict[str, tuple[object, str, object, Attack]] = {
    "the words of a text": (intake, "_refuse_words", lambda *_: None, _word),
    "the characters of a text": (intake, "_refuse_characters", lambda *_: None, _character),
    "the second reading of an odd text": (intake, "is_odd", lambda *_: False, _odd_lexing),
    "the shape of glue": (store, "has_expected_shape", _as_it_is, _other_glue),
    "the brackets of a statement": (checking, "refuse_unbalanced", lambda *_: None, _early_bracket),
    "the target's statement": (assembly, "refuse_other_statement", lambda *_: None, _other_target),
}


@pytest.mark.parametrize("step", IN_PROCESS.keys())
async def test_a_store_without_one_step_lets_an_attack_through(
    step: str, lemma_store: LemmaStore, monkeypatch: pytest.MonkeyPatch
):
    owner, name, without, attack = IN_PROCESS[step]
    assert await attack(lemma_store)

    monkeypatch.setattr(owner, name, without)

    assert not await attack(lemma_store)
