"""Arguments in, texts out: everything about tools that needs neither store nor Lean."""

import json
from typing import Any

import anyio
import msgspec
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.staging import load_bundle
from adapter_server.tokens import Tokens
from adapter_server.tools.arguments import Child, PlanArguments, WaitArguments
from adapter_server.tools.news import LINE_BYTES, news_line
from adapter_server.tools.rates import Rates
from adapter_server.tools.repeats import Repeats, repeat_key
from adapter_server.tools.reply import ToolReply, cut, render_error, render_reply
from adapter_server.tools.schema import decode_arguments, input_schema
from bus.errors import BadArguments, RateLimited, TooLarge, UnknownId, UnknownMethod
from bus.messages import Event

pytestmark = pytest.mark.anyio

BUNDLE = load_bundle(default_bundle_folder())


def decode(tool: str, **raw: Any) -> Any:
    return decode_arguments(tool, raw, BUNDLE.tools[tool])


def test_every_schema_is_a_plain_closed_object_with_described_parameters() -> None:
    for name, words in BUNDLE.tools.items():
        schema = input_schema(name, words)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(schema)
        assert all(parameter["description"] for parameter in schema["properties"].values())


def test_defaults_and_limits_come_from_the_version() -> None:
    assert decode("wait") == WaitArguments(for_=["any"], timeout_s=20)
    assert decode("wait", timeout_s=900).timeout_s == 45
    assert decode("find", q="x", limit=-3).limit == 1
    assert decode("wait", timeout_s=float("nan")).timeout_s == 0
    assert decode("find", q="x", limit=10**9).limit == 15


def test_what_hosts_send_loosely_is_understood() -> None:
    assert decode("wait", **{"for": "mail"}).for_ == ["mail"]
    assert decode("wait", timeout_s="3").timeout_s == 3
    assert decode("say", type="note", text="x", to='["ada", "bob"]').to == ["ada", "bob"]
    assert decode("say", type="note", text="x", to="[odd").to == ["[odd"]
    assert decode("digest", focus=None).focus is None
    children = decode("plan", action="split", children='["n1", {"name": "h", "statement": "P"}]').children
    assert children == ["n1", Child(name="h", statement="P")]


@pytest.mark.parametrize(
    ("tool", "raw"),
    [
        ("check", {}),
        ("check", {"source": 7}),
        ("check", {"source": "x", "file": "y"}),
        ("plan", {"action": "destroy"}),
        ("plan", {"action": "add", "children": [{"name": "h"}]}),
        ("claim", {"action": "next", "ttl_s": "soon"}),
    ],
)
def test_wrong_arguments_name_what_the_tool_takes(tool: str, raw: dict[str, Any]) -> None:
    with pytest.raises(BadArguments) as caught:
        decode(tool, **raw)
    assert tool in caught.value.message
    assert "takes" in caught.value.hint


def test_texts_and_lists_over_the_limit_are_refused() -> None:
    with pytest.raises(TooLarge) as caught:
        decode("say", type="note", text="x" * 4001)
    assert caught.value.facts["cap"] == 4000
    with pytest.raises(TooLarge):
        decode("plan", action="split", children=["n1"] * 21)


def test_a_tool_that_the_server_lacks_cannot_be_decoded() -> None:
    with pytest.raises(UnknownMethod):
        decode_arguments("jobs", {}, BUNDLE.tools["say"])


def test_a_reply_is_a_headline_then_one_json_line_then_news() -> None:
    text = render_reply(ToolReply(headline="two hits", facts={"hits": ["a", "b"]}), news=["#4 x"], cap=8192)
    assert text == 'two hits\n{"hits":["a","b"]}\nnews:\n#4 x'


def test_a_reply_over_the_cap_loses_list_tails_and_counts_them() -> None:
    facts: dict[str, Any] = {
        "hits": [f"lemma {n} " + "∀" * 40 for n in range(500)],
        "few": [1, 2],
        "left_out": {"hits": 7},
    }
    text = render_reply(ToolReply(headline="h", facts=facts), news=["#4 x"], cap=2000)
    assert len(text.encode()) <= 2000
    kept = json.loads(text.split("\n")[1])
    assert kept["few"] == [1, 2]
    assert kept["hits"] == facts["hits"][: len(kept["hits"])]
    assert kept["left_out"] == {"hits": 7 + 500 - len(kept["hits"])}


def test_a_reply_of_long_texts_is_cut_and_stays_json() -> None:
    facts = {"one": {"text": "é" * 20_000}, "list": ["x" * 20_000]}
    text = render_reply(ToolReply(headline="h" * 5000, facts=facts), news=[], cap=4096)
    assert len(text.encode()) <= 4096
    assert json.loads(text.split("\n")[1])["one"]["text"].endswith("…")


def test_a_caller_may_ask_for_less_but_not_for_more() -> None:
    facts = {"hits": ["x" * 50] * 400}
    assert len(render_reply(ToolReply(headline="h", facts=facts, cap=1200), news=[], cap=8192)) <= 1200
    assert len(render_reply(ToolReply(headline="h", facts=facts, cap=10**6), news=[], cap=8192)) <= 8192


def test_an_error_says_code_reason_hint_and_the_current_truth() -> None:
    error = UnknownId("nothing is called n9", hint="Look at plan show.", nearest=["n1"])
    headline, facts = render_error(error, cap=8192).split("\n")
    assert headline == "error unknown_id: nothing is called n9. Look at plan show."
    assert json.loads(facts) == {
        "code": "unknown_id",
        "message": "nothing is called n9",
        "retry": False,
        "hint": "Look at plan show.",
        "nearest": ["n1"],
    }


def test_cutting_never_splits_a_character() -> None:
    for limit in range(3, 12):
        assert len(cut("∀∀∀∀", limit).encode()) <= limit


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("node_added", {"node": "n1", "name": "helper", "statement": "P", "parent": "n0"}, "n1 helper under n0: P"),
        ("alternative_added", {"alternative": "a1", "parent": "n0", "children": ["n1", "n2"]}, "a1: n0 follows from"),
        ("lease_granted", {"node": "n1", "agent": "ada", "fence": 3, "approach": "induct"}, "n1 ada approach 'induct'"),
        ("attempt_noted", {"node": "n1", "outcome": "stuck", "note": "no lemma"}, "n1 stuck: 'no lemma'"),
        ("check_finished", {"node": "n1", "accepted": ["l1"], "rejected": 2}, "n1 accepted [l1] rejected 2"),
        ("lemma_accepted", {"name": "l1", "statement": "P", "closes": ["n1"]}, "l1 closes n1: P"),
        ("node_closed", {"node": "n1", "lemma": "abc"}, "n1 by abc"),
        (
            "message_sent",
            {"message": "m1", "type": "idea", "to": ["ada"], "text": "a\nb\x1b[2J"},
            "m1 idea to ada: 'a b",
        ),
        ("episode_closed", {"status": "solved", "reason": "done"}, "solved: done"),
        ("agent_joined", {"agent": "ada"}, "agent_joined"),
    ],
)
def test_news_is_one_short_line_per_event(kind: Any, body: dict[str, Any], said: str) -> None:
    event = Event(episode="e", seq=7, kind=kind, actor="bob", at_ms=0, body=body)
    line = news_line(event)
    assert line.startswith(f"#7 bob {kind}")
    assert said in line
    assert line.isprintable()


def test_long_news_is_cut() -> None:
    body = {"name": "l", "statement": "∀" * 3000, "closes": [f"n{n}" for n in range(200)]}
    event = Event(episode="e", seq=7, kind="lemma_accepted", actor="bob", at_ms=0, body=body)
    assert len(news_line(event).encode()) <= LINE_BYTES


async def test_the_same_call_in_flight_or_soon_after_runs_once() -> None:
    repeats, gate = Repeats(), anyio.Event()
    runs: list[int] = []

    async def make() -> ToolReply:
        runs.append(1)
        await gate.wait()
        return ToolReply(headline=f"run {len(runs)}")

    replies: list[ToolReply] = []

    async def call() -> None:
        replies.append(await repeats.run(("e", "ada"), "k", make, window_s=60))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            gate.set()
        await call()
    assert len(runs) == 1
    assert sorted(reply.headline for reply in replies) == ["run 1", *["run 1 (first result again)"] * 2]
    await repeats.run(("e", "bob"), "k", make, window_s=60)
    assert len(runs) == 2


async def test_calls_that_failed_or_are_not_settled_or_are_old_run_again() -> None:
    repeats = Repeats()
    runs: list[str] = []

    async def fail() -> ToolReply:
        runs.append("fail")
        raise UnknownId("no")

    async def unsettled() -> ToolReply:
        runs.append("unsettled")
        return ToolReply(headline="x", is_settled=False)

    async def settled() -> ToolReply:
        runs.append("settled")
        return ToolReply(headline="x")

    for _ in range(2):
        with pytest.raises(UnknownId):
            await repeats.run(("e", "a"), "k", fail, window_s=60)
        await repeats.run(("e", "a"), "k", unsettled, window_s=60)
    for _ in range(2):
        await repeats.run(("e", "a"), "old", settled, window_s=-1)
    assert runs == ["fail", "unsettled"] * 2 + ["settled"] * 2


async def test_only_so_many_results_are_remembered_per_agent() -> None:
    repeats = Repeats()
    runs: list[int] = []

    async def make() -> ToolReply:
        runs.append(1)
        return ToolReply(headline="x")

    for key in [*map(str, range(100)), "0", "99"]:
        await repeats.run(("e", "a"), key, make, window_s=60)
    assert len(runs) == 101


def test_keys_ignore_the_order_of_arguments_and_prefer_the_callers_own() -> None:
    assert repeat_key("say", {"a": 1, "b": 2}, None) == repeat_key("say", {"b": 2, "a": 1}, None)
    assert repeat_key("say", {"a": 1}, None) != repeat_key("plan", {"a": 1}, None)
    assert repeat_key("say", {"a": 1}, "k") == repeat_key("say", {"a": 2}, "k")


async def test_an_agent_that_calls_too_often_is_told_to_wait() -> None:
    rates = Rates()
    for _ in range(4):
        rates.spend(("e", "ada"), calls_per_s=2)
    with pytest.raises(RateLimited):
        rates.spend(("e", "ada"), calls_per_s=2)
    rates.spend(("e", "bob"), calls_per_s=2)


def test_a_token_is_good_for_one_agent_in_one_episode_under_one_secret() -> None:
    tokens = Tokens("secret")
    token = tokens.issue(episode="e", agent="ada")
    assert token == Tokens("secret").issue(episode="e", agent="ada")
    assert tokens.is_valid(token, episode="e", agent="ada")
    for episode, agent, given in (
        ("e", "bob", token),
        ("f", "ada", token),
        ("e", "ada", token + "x"),
        ("e", "ada", "é"),
    ):
        assert not tokens.is_valid(given, episode=episode, agent=agent)
    assert not Tokens("other").is_valid(token, episode="e", agent="ada")
    assert "secret" not in token


def test_arguments_are_frozen() -> None:
    with pytest.raises(AttributeError):
        PlanArguments(action="show").action = "add"  # type: ignore[misc]
    assert msgspec.structs.replace(PlanArguments(action="show"), parent="n0").parent == "n0"
