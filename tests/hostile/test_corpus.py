"""Nothing false or altered enters the store, and no honest twin is refused. See README.md for the classes."""

import pytest

from tests.hostile.cases import Case, Trial, cases

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(400)]

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_the_hostile_text_gains_nothing(case: Case, trials: dict[str, Trial]):
    assert trials[case.id].hostile == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_the_honest_twin_is_accepted(case: Case, trials: dict[str, Trial]):
    assert trials[case.id].twin == ()


def test_every_case_has_a_name_of_its_own():
    assert len({case.id for case in CASES}) == len(CASES) >= 80
