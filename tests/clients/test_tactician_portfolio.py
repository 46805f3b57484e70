"""An adapter version's portfolio decides which techniques a tactician uses."""

import json
from pathlib import Path

from clients.tactician.portfolio import REWRITE, SIMP_SETS, WORK, offered, on_its_own
from clients.tactician.strategies import ACTIVITIES, STRATEGIES

DEFAULT_POLICY = Path(__file__).parents[2] / "adapter_server" / "bundles" / "default" / "policy.json"


def test_the_built_in_version_offers_everything() -> None:
    portfolio = json.loads(DEFAULT_POLICY.read_text())["portfolio"]
    assert set(portfolio) == {*SIMP_SETS, *WORK, REWRITE}
    assert [offered(strategy, portfolio) for strategy in STRATEGIES.values()] == list(STRATEGIES.values())


def test_what_is_not_named_is_not_done() -> None:
    plain = offered(STRATEGIES["explorer"], ["simp_all"])
    assert plain.order == ("parts", "target")
    assert plain.simp_order == ("all",)
    assert not plain.rewrites
    assert not plain.generalises
    assert offered(STRATEGIES["tester"], ["newest", "conditions"]).order == ("conditions", "parts", "target")
    assert offered(STRATEGIES["tester"], ["newest", "conditions"]).simp_order == ("newest",)


def test_words_for_other_agents_change_nothing() -> None:
    assert offered(STRATEGIES["prover"], ["omega", "aesop"]) == STRATEGIES["prover"]


def test_an_agent_on_its_own_leaves_nothing_to_others() -> None:
    for strategy in STRATEGIES.values():
        alone = on_its_own(strategy)
        assert set(alone.order) == set(ACTIVITIES)
        assert alone.order[: len(strategy.order)] == strategy.order
        assert alone.explores_after_s == alone.refutes_after_s == 0.0
