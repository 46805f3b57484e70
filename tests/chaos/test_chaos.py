"""A short slice of the chaos runs; the whole is `python -m tests.chaos --rounds 500`."""

from pathlib import Path

import pytest

from tests.chaos.rounds import Chaos


@pytest.mark.anyio
@pytest.mark.timeout(240)
async def test_nothing_that_was_acknowledged_is_lost_or_done_twice_whatever_is_killed(tmp_path: Path):
    chaos = Chaos(tmp_path, seed=7)
    async with chaos.running():
        rounds = [await chaos.play(victim) for victim in ("store", "worker", "agent", "server")]
        assert await chaos.finish() == []

    assert [(one.faults, one.orphans) for one in rounds] == [([], 0)] * 4
    assert rounds[-1].acknowledged > 0
