"""Campaigns with a known right end, at a small size; the full size is `adapter-server evolve bench`."""

from adapter_server.evolver.known_answers import ask_all


def test_every_known_answer_is_found() -> None:
    answers = list(ask_all(scale=0.05, seed=11))
    assert [answer for answer in answers if not answer.is_right] == []
    assert len(answers) == 11
