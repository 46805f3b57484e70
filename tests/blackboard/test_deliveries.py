from typing import Any

import pytest

from blackboard.deliveries import concerns, extend, line_bytes, may_concern
from blackboard.types import CallToken, DeltaPage
from bus.messages import Event, EventKind


def event(seq: int, kind: EventKind = "message_sent", actor: str = "bob", **body: Any) -> Event:
    defaults: dict[str, Any] = {"to": [], "text": "x"} if kind == "message_sent" else {}
    return Event(episode="e", seq=seq, kind=kind, actor=actor, at_ms=0, body=defaults | body)


TOKEN = CallToken(episode="e", agent="ada", call="c", status="open", committed=0, shown=2)


@pytest.mark.parametrize(
    ("kind", "body", "is_news"),
    [
        ("message_sent", {"to": []}, True),
        ("message_sent", {"to": ["ada", "cyd"]}, True),
        ("message_sent", {"to": ["cyd"]}, False),
        ("lemma_accepted", {"closes": []}, True),
        ("node_added", {}, True),
        ("alternative_added", {}, True),
        ("node_closed", {"node": "n1"}, True),
        ("episode_closed", {}, True),
        ("lease_expired", {"agent": "ada"}, True),
        ("lease_expired", {"agent": "cyd"}, False),
        ("lease_released", {"agent": "ada"}, True),
        ("lease_handed_off", {"to": "ada"}, True),
        ("lease_handed_off", {"to": "cyd"}, False),
        ("lease_granted", {"agent": "bob"}, False),
        ("check_finished", {"agent": "bob"}, False),
        ("attempt_noted", {"agent": "bob"}, False),
        ("agent_joined", {"agent": "bob"}, False),
        ("episode_opened", {}, False),
    ],
)
def test_what_is_news_to_an_agent(kind: EventKind, body: dict[str, Any], *, is_news: bool) -> None:
    assert concerns(event(1, kind, "server", **body), "ada") is is_news
    assert not concerns(event(1, kind, "ada", **body), "ada")
    assert may_concern(kind, "server", "ada") or not is_news


def test_the_end_of_a_job_of_its_own_is_news() -> None:
    assert concerns(event(1, "check_finished", "ada", job="j1"), "ada")
    assert may_concern("check_finished", "ada", "ada")


def test_a_page_settles_what_it_skips() -> None:
    page = extend(DeltaPage(), TOKEN, [event(1), event(2, actor="ada"), event(3), event(4, to=["cyd"])], 1500)
    assert [one.seq for one in page.events] == [1, 3]
    assert (page.up_to, page.left_out, page.repeated) == (4, 0, {1})


def test_a_page_ends_before_what_does_not_fit() -> None:
    size = line_bytes(event(1))
    page = extend(DeltaPage(), TOKEN, [event(1), event(2, actor="ada"), event(3), event(4), event(5)], size * 2)
    assert [one.seq for one in page.events] == [1, 3]
    assert (page.up_to, page.left_out) == (3, 2)


def test_nothing_after_an_event_left_out_is_shown_even_if_it_would_fit() -> None:
    events = [event(1), event(2, text="y" * 200), event(3)]
    page = extend(DeltaPage(), TOKEN, events, line_bytes(event(1)) * 2)
    assert [one.seq for one in page.events] == [1]
    assert (page.up_to, page.left_out) == (1, 2)


def test_one_event_always_goes() -> None:
    assert len(extend(DeltaPage(), TOKEN, [event(1, text="y" * 5000)], 10).events) == 1


def test_a_page_goes_on_where_it_was() -> None:
    page = extend(DeltaPage(), TOKEN, [event(1)], 1500)
    page = extend(page, TOKEN, [event(2), event(3, actor="ada")], 1500)
    assert [one.seq for one in page.events] == [1, 2]
    assert page.up_to == 3


def test_a_lemma_that_closes_a_node_says_it_once() -> None:
    events = [
        event(1, "lemma_accepted", closes=["n1"]),
        event(2, "node_closed", node="n1"),
        event(3, "node_closed", node="n2"),
    ]
    assert [one.seq for one in extend(DeltaPage(), TOKEN, events, 1500).events] == [1, 3]
