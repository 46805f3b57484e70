"""New parts meet small values before anybody works on them."""

import pytest

from adapter_server.tools.falsity import small_values, witnesses
from tests.adapter_server.conftest import APPEND, Join

pytestmark = pytest.mark.anyio

VALUES = small_values(APPEND)
GLUE = "intro x; have e := wrong (.cons 0 .nil); cases e"


def test_values_of_a_problems_own_types_are_built_from_its_constructors() -> None:
    assert VALUES["L"] == ["L.nil", "(L.cons 0 L.nil)", "(L.cons 1 L.nil)"]
    assert VALUES["Bool"] == ["true", "false"]


def test_smallest_values_come_first_and_unknown_types_have_none() -> None:
    assert witnesses("∀ (x y : L) (n : Nat), app x y = y", VALUES, limit=2) == ["L.nil L.nil 0", "L.nil L.nil 1"]
    assert witnesses("∀ (x : List Nat), x = x", VALUES, limit=6) == []
    assert witnesses("∀ (n : Nat) (h : n = (0)), n = 1", VALUES, limit=6) == []
    assert witnesses("0 = 1", VALUES, limit=6) == []


async def test_the_server_refutes_a_part_that_fails_at_a_small_value(join: Join) -> None:
    async with join("ada") as ada:
        children = [{"name": "wrong", "statement": "∀ (x : L), app x .nil = .nil"}]
        split = await ada.ok("plan", action="split", parent="n0", children=children, glue=GLUE)
        happened = await ada.ok("wait", **{"for": ["node"]}, ref=split["children"][0]["node"], timeout_s=40)
        (event,) = [one for one in happened["events"] if one["kind"] == "node_refuted"]
        assert (event["actor"], event["witness"]) == ("server", "(L.cons 0 L.nil)")
        assert event["alternatives"] == [split["alternative"]]
        (refuted,) = (await ada.ok("digest"))["refuted"]
        assert refuted["name"] == "wrong"
        (hit,) = (await ada.ok("find", q="wrong", **{"in": ["refutations"]}))["hits"]
        assert hit["kind"] == "refutation"
