from blackboard.picking import needed_nodes, rank
from blackboard.types import Candidate, Node


def candidate(name: str, **changes: object) -> Candidate:
    node = Node(id=name, name=name, statement="S", statement_hash=name, author="ada", at_seq=int(name[1:]) + 1)
    facts: dict[str, object] = {"node": node, "depth": 1, "parents": ("n0",), "is_linked": True}
    return Candidate(**facts | changes)  # pyright: ignore[reportArgumentType]


ROOT = candidate("n0", depth=0, parents=(), is_linked=False)


def test_fewest_holders_come_first() -> None:
    nodes = [ROOT, candidate("n1", holders=("bob",)), candidate("n2")]
    assert rank(nodes, "ada", per_node=2) == ["n0", "n2", "n1"]
    assert rank(nodes, "ada", per_node=1) == ["n0", "n2"]
    assert rank(nodes, "bob", per_node=2) == ["n0", "n2"]


def test_then_what_the_agent_has_tried_least() -> None:
    assert rank([candidate("n1", own_attempts=1), candidate("n2"), ROOT], "ada", per_node=1) == ["n0", "n2", "n1"]


def test_then_what_is_nearest_and_oldest() -> None:
    nodes = [ROOT, candidate("n1", depth=2, parents=("n3",)), candidate("n2"), candidate("n3")]
    assert rank(nodes, "ada", per_node=1) == ["n0", "n2", "n3", "n1"]


def test_what_only_serves_proved_parts_comes_last() -> None:
    useless = candidate("n1", parents=())
    under_it = candidate("n2", depth=2, parents=("n1",))
    nodes = [useless, under_it, candidate("n3", own_attempts=5), candidate("n4", parents=(), is_linked=False), ROOT]
    assert needed_nodes(nodes) == {"n0", "n3", "n4"}
    assert rank(nodes, "ada", per_node=1) == ["n0", "n4", "n3", "n1", "n2"]


def test_a_part_that_serves_an_open_and_a_proved_part_is_needed() -> None:
    assert needed_nodes([ROOT, candidate("n1", parents=("n0",))]) == {"n0", "n1"}
    assert needed_nodes([]) == frozenset()
