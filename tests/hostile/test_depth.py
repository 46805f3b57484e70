"""What the judge says to artifacts that no accepted text leads to: the steps below intake stand on their own."""

# pyright: reportPrivateUsage=false

from collections.abc import AsyncGenerator

import pytest

from lemma_store.store import LemmaStore
from tests.hostile.depth import DEPTH_CASES, DepthCase, complaint, judge_case
from tests.lemma_store.stores import PROBLEM, running_store

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LemmaStore]:
    async with running_store(tmp_path_factory.mktemp("depth")) as opened:
        await opened.open_problem("depth", source=PROBLEM)
        yield opened


@pytest.mark.parametrize("case", DEPTH_CASES, ids=str)
async def test_the_judge_alone_tells_good_from_bad(case: DepthCase, store: LemmaStore):
    world, judge = await store._get("depth")

    said = await judge_case(case, world=world, judge=judge, lean=store._lean)

    assert complaint(case, said) == ""
    assert judge.is_alive
