from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from clients.tactician.agent import Agent
from clients.tactician.desk import Desk, EpisodeOver
from clients.tactician.news import happenings
from clients.tactician.session import Facts, Reply, read_reply
from clients.tactician.strategies import STRATEGIES, strategy_for

from .problems import APPEND_NIL, LISTS, REV_APPEND_ONE, REV_REV

pytestmark = pytest.mark.anyio


class Adapter:
    """An adapter for one agent: a plan in memory, and a judge that never accepts unless told to."""

    def __init__(self, *, accepts: frozenset[str] = frozenset(), refuses_everything: bool = False) -> None:
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.phase = "proving"
        self._accepts = accepts
        self._refuses_everything = refuses_everything
        self._held: set[str] = set()
        self.attempts: list[Mapping[str, Any]] = []
        """What others tried on the target."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        self.calls.append((tool, arguments))
        await anyio.lowlevel.checkpoint()
        if tool == "digest":
            return self._reply({"target": {"node": "n0", "statement": REV_REV}, "phase": self.phase})
        if tool == "get":
            return self._reply({"text": f"{LISTS}\ntheorem t : {REV_REV} := by sorry", "next_offset": None})
        if self._refuses_everything:
            fields = {"code": "internal", "message": "out of order", "retry": False}
            return Reply(headline="error internal: out of order.", facts=fields, is_error=True)
        return getattr(self, f"_{tool}", self._anything)(arguments)

    def _reply(self, facts: Facts) -> Reply:
        return Reply(headline="ok", facts=facts)

    def _anything(self, arguments: Mapping[str, Any]) -> Reply:
        return self._reply({})

    def _claim(self, arguments: Mapping[str, Any]) -> Reply:
        if arguments["action"] == "release":
            self.attempts.append({"agent": "ada", "outcome": arguments["outcome"], "note": arguments["note"]})
            self._held.discard(arguments["node"])
            return self._reply({})
        if "n0" in self._held:
            return self._reply({"node": None})
        self._held.add("n0")
        return self._reply({"node": "n0", "name": "t", "statement": REV_REV, "fence": 1, "attempts": self.attempts})

    def _check(self, arguments: Mapping[str, Any]) -> Reply:
        for text in self._accepts:
            if text in arguments["source"]:
                verdict = {"name": "t", "outcome": "accepted", "lemma": "t_1", "statement": text, "closes": ["n0"]}
                return self._reply({"verdicts": [verdict]})
        return self._reply({"verdicts": [{"name": "t", "outcome": "rejected", "reasons": ["no"]}], "goals": []})

    def used(self, tool: str) -> list[Mapping[str, Any]]:
        return [arguments for name, arguments in self.calls if name == tool]


def agent_for(adapter: Adapter, *, strategy: str = "splitter") -> Agent:
    return Agent(Desk(adapter, me="ada"), strategy=STRATEGIES[strategy], seed=0)


def test_a_reply_is_taken_apart_into_headline_facts_and_news() -> None:
    reply = read_reply('done\n{"node": "n1"}\nnews:\n#7 bob node_closed n1 by x', is_error=False)
    assert (reply.headline, reply.facts, reply.news) == ("done", {"node": "n1"}, ("#7 bob node_closed n1 by x",))


def test_an_error_reply_has_its_code() -> None:
    reply = read_reply('error lease_full: taken.\n{"code": "lease_full"}', is_error=True)
    assert reply.code == "lease_full"


def test_news_tell_lemmas_what_they_close_and_when_a_statement_was_cut() -> None:
    lines = (
        f"#8 bob lemma_accepted rev_one_3fa2c1 closes n1, n2: {REV_APPEND_ONE}",
        "#9 eve lemma_accepted long_1: ∀ (x : num), f x = f…",
        "something else",
    )
    first, second = happenings(Reply(headline="", facts={}, news=lines))
    assert (first.name, first.closes, first.statement) == ("rev_one_3fa2c1", ("n1", "n2"), REV_APPEND_ONE)
    assert second.statement == ""


async def test_a_lemma_of_somebody_else_becomes_a_rule() -> None:
    adapter = Adapter()
    desk = Desk(adapter, me="ada")
    await desk.open(seed=0)
    desk.learn("append_nil_1", APPEND_NIL, "bob")
    assert desk.knowledge.rules(desk.knowledge.root.statement) == ["append_nil_1"]


async def test_a_statement_outside_the_subset_is_kept_but_not_used() -> None:
    desk = Desk(Adapter(), me="ada")
    await desk.open(seed=0)
    desk.learn("odd_1", "∀ (x : num), x ∈ {y | y = x}", "bob")
    assert desk.knowledge.lemmas["odd_1"].rule == ""


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
async def test_an_agent_stops_when_the_target_is_proved(strategy: str) -> None:
    adapter = Adapter(accepts=frozenset({REV_REV}))
    with anyio.fail_after(20):
        assert await agent_for(adapter, strategy=strategy).run() == "the target is proved"


async def test_an_agent_stops_when_the_episode_is_over() -> None:
    adapter = Adapter()
    adapter.phase = "closed"
    with anyio.fail_after(20):
        assert await agent_for(adapter).run() == "closed"


async def test_the_splitter_puts_the_calculated_lemma_on_the_plan() -> None:
    adapter = Adapter()
    with anyio.move_on_after(2):
        await agent_for(adapter).run()
    split = next(item for item in adapter.used("plan") if item["action"] == "split")
    assert split["parent"] == "n0"
    assert [child["statement"] for child in split["children"]] == [REV_APPEND_ONE]
    assert split["children"][0]["name"] in split["glue"]


async def test_what_another_has_calculated_with_the_same_rules_is_not_calculated_again() -> None:
    first, second = Adapter(), Adapter()
    with anyio.move_on_after(2):
        await agent_for(first).run()
    second.attempts = first.attempts[:1]
    with anyio.move_on_after(2):
        await agent_for(second).run()
    assert [item["action"] for item in first.used("plan")].count("split") == 1
    assert "opened up with 0 rules" in first.attempts[0]["note"]
    assert "split" not in [item["action"] for item in second.used("plan")]


async def test_an_agent_goes_on_when_every_call_is_refused() -> None:
    adapter = Adapter(refuses_everything=True)
    with anyio.move_on_after(1) as scope:
        await agent_for(adapter, strategy="prover").run()
    assert scope.cancelled_caught


async def test_a_closed_episode_ends_the_work_of_a_desk() -> None:
    class Closed(Adapter):
        async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
            return Reply(headline="error episode_closed", facts={"code": "episode_closed"}, is_error=True)

    with pytest.raises(EpisodeOver):
        await Desk(Closed(), me="ada").open(seed=0)


def test_five_seeds_of_the_default_roles_give_different_strategies() -> None:
    roles = ("planner", "prover", "scout", "prover", "prover")
    names = {strategy_for(role, seed=seed).name for seed, role in enumerate(roles)}
    assert names == {"splitter", "generaliser", "explorer", "prover", "tester"}
    assert strategy_for("poet", seed=3).name in STRATEGIES
