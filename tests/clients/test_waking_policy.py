from typing import Any

import pytest

from bus.messages import Event, EventKind
from clients.waking import WakePolicy


def event(kind: EventKind, actor: str = "bob", **body: Any) -> Event:
    return Event(episode="e", seq=1, kind=kind, actor=actor, at_ms=0, body=body)


def policy(*events: Event, idle_s: float = 30.0) -> WakePolicy:
    made = WakePolicy("ada", every_s=60, idle_s=idle_s)
    for one in (event("node_added", node="n0", name="goal"), event("node_added", node="n1", name="part"), *events):
        made.take(one)
    return made


HELD = event("lease_granted", "ada", node="n1", agent="ada")


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ((HELD, event("node_closed", node="n1")), "n1 was closed"),
        ((HELD, event("node_refuted", node="n1"), event("lease_released", node="n1", agent="ada")), "n1 was refuted"),
        ((HELD, event("lease_expired", "server", node="n1", agent="ada")), "lease on n1 expired"),
        ((event("lease_handed_off", node="n1", to="ada"),), "n1 was handed over"),
        ((event("message_sent", message="m1", to=["ada"], type="idea"),), "message m1 waits"),
        ((event("message_sent", message="m1", to=[], type="request"),), "message m1 waits"),
    ],
)
def test_an_idle_agent_is_woken_for_what_concerns_it(events: tuple[Event, ...], reason: str) -> None:
    made = policy(*events)
    wake = made.due(0, is_busy=False)
    assert wake is not None
    assert wake.reason == reason
    assert made.due(1, is_busy=False) is None


@pytest.mark.parametrize(
    "events",
    [
        (event("node_closed", node="n1"),),
        (HELD, event("lease_released", "ada", node="n1", agent="ada"), event("node_closed", node="n1")),
        (HELD, event("node_closed", "ada", node="n1")),
        (event("node_refuted", node="n1"),),
        (HELD, event("node_refuted", "ada", node="n1")),
        (event("lease_granted", node="n1", agent="bob"), event("lease_expired", node="n1", agent="bob")),
        (event("message_sent", message="m1", to=["cid"], type="request"),),
        (event("message_sent", message="m1", to=[], type="idea"),),
        (event("message_sent", "ada", message="m1", to=[], type="request"),),
    ],
)
def test_what_concerns_others_wakes_nobody(events: tuple[Event, ...]) -> None:
    assert policy(*events).due(0, is_busy=False) is None


def test_a_working_agent_is_steered_only_for_what_cannot_wait() -> None:
    message = event("message_sent", message="m1", to=["ada"], type="request")
    made = policy(HELD, message, event("node_closed", node="n1"))
    wake = made.due(0, is_busy=True)
    assert wake is not None
    assert wake.reason == "n1 was closed"
    assert policy(message).due(0, is_busy=True) is None


def test_an_agent_is_woken_at_most_once_a_minute_and_no_reason_is_lost() -> None:
    made = policy(event("message_sent", message="m1", to=["ada"]))
    assert made.due(0, is_busy=False) is not None
    made.take(event("message_sent", message="m2", to=["ada"]))
    made.take(event("message_sent", message="m3", to=["ada"]))
    assert made.due(59, is_busy=False) is None
    wake = made.due(60, is_busy=False)
    assert wake is not None
    assert wake.reason == "message m2 waits; message m3 waits"


def test_an_agent_that_idles_while_parts_are_open_is_sent_back_to_work() -> None:
    made = policy()
    assert made.due(0, is_busy=False) is None
    assert made.due(20, is_busy=True) is None
    assert made.due(25, is_busy=False) is None
    assert made.due(54, is_busy=False) is None
    wake = made.due(55, is_busy=False)
    assert wake is not None
    assert wake.reason == "idle while parts are open"


def test_the_end_of_the_episode_is_noticed() -> None:
    assert not policy().is_over
    assert policy(event("episode_closed", "server", status="solved")).is_over
