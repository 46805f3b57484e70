"""Campaigns with a known right end, at a small size; the full size is `adapter-server evolve bench`."""

import pytest

from adapter_server.evolver.known_answers import ask_all


@pytest.mark.timeout(400)  # some twenty processes are killed and started again, also on a busy machine
def test_every_known_answer_is_found() -> None:
    answers = list(ask_all(scale=0.05, seed=11))
    assert [answer for answer in answers if not answer.is_right] == []
    assert len(answers) == 11
