from functools import partial

import anyio
import msgspec
import pytest

from blackboard.board import Board
from blackboard.folding import fold
from bus.errors import BadArguments, Gone, Refuted
from tests.blackboard.drafts import draft, proof_of
from tests.blackboard.states import stored_state

pytestmark = pytest.mark.anyio


async def split(board: Board, episode: str) -> None:
    for name in ("one", "two"):
        await board.add_node(episode, "ada", draft(name))
    await board.add_alternative(episode, "ada", parent="n0", children=["one", "two"], glue="g")


async def test_a_refutation_ends_leases_and_every_alternative_above(board: Board, episode: str) -> None:
    await split(board, episode)
    await board.claim(episode, "bob", node="one", ttl_s=60, approach="cases", per_agent=2, per_node=1)
    doubt = await board.refute(episode, "ada", node="one", lemma="l-not", witness="0")
    assert (doubt.node, doubt.alternatives, doubt.parents) == ("n1", ("a1",), ("n0",))
    assert await board.refute(episode, "bob", node="n1", lemma="l-not") == doubt
    assert await board.leases(episode) == []
    assert (await board.node(episode, "n1")).status == "refuted"
    assert [one.is_dead for one in await board.alternatives(episode)] == [True]
    assert "n1" not in [one.node.id for one in await board.frontier(episode)]
    await board.record_lemma(episode, "bob", proof_of("two"))
    assert await board.ready_alternatives(episode) == []
    with pytest.raises(Refuted):
        await board.claim(episode, "bob", node="n1", ttl_s=60, per_agent=2, per_node=1)
    with pytest.raises(Refuted):
        await board.add_node(episode, "bob", draft("again", "statement of one"))
    with pytest.raises(Refuted):
        await board.add_alternative(episode, "bob", parent="n0", children=["n1"], glue="g")
    events = await board.events(episode)
    assert [event.kind for event in events].count("node_refuted") == 1
    assert msgspec.structs.replace(fold(events), fences={}) == await stored_state(board, episode)


async def test_what_is_proved_cannot_be_refuted_or_disputed(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("one"))
    await board.record_lemma(episode, "ada", proof_of("one"))
    with pytest.raises(Gone):
        await board.refute(episode, "bob", node="n1", lemma="l-not")
    with pytest.raises(Gone):
        await board.dispute(episode, "bob", node="n1", text="I doubt it")


async def test_a_disputed_part_may_still_be_proved(board: Board, episode: str) -> None:
    await split(board, episode)
    doubt = await board.dispute(episode, "bob", node="one", text="fails at 0", repair="for n > 0")
    assert doubt.alternatives == ("a1",)
    assert (await board.node(episode, "n1")).status == "disputed"
    assert "n1" in [one.node.id for one in await board.frontier(episode)]
    await board.record_lemma(episode, "ada", proof_of("one"))
    assert (await board.node(episode, "n1")).status == "closed"
    assert msgspec.structs.replace(fold(await board.events(episode)), fences={}) == await stored_state(board, episode)


async def test_only_the_author_revises_a_part_and_never_a_settled_one(board: Board, episode: str) -> None:
    await split(board, episode)
    with pytest.raises(BadArguments):
        await board.revise(episode, "bob", node="one", name="first")
    node = await board.revise(episode, "ada", node="one", name="two", note="the base case")
    assert (node.id, node.name, node.note) == ("n1", "two_2", "the base case")
    assert (await board.node(episode, "two_2")).id == "n1"
    assert (await board.revise(episode, "ada", node="n1", note="again")).name == "two_2"
    assert msgspec.structs.replace(fold(await board.events(episode)), fences={}) == await stored_state(board, episode)
    await board.record_lemma(episode, "ada", proof_of("one"))
    with pytest.raises(Gone):
        await board.revise(episode, "ada", node="n1", note="too late")


async def test_nodes_are_searched_by_their_words(board: Board, episode: str) -> None:
    for name, statement in (("one", "∀ x, Rev x = x"), ("two", 'x / 2 = "a"'), ("three", "rev = rev")):
        await board.add_node(episode, "ada", draft(name, statement))
    await board.record_lemma(episode, "ada", proof_of("three", lemma="l"))

    async def found(*words: str, limit: int = 9) -> list[str]:
        nodes, count = await board.nodes_with(episode, words, limit=limit)
        return [node.id for node in nodes] + [f"{count} in all"]

    assert await found("rev") == ["n3", "n1", "2 in all"], "the one that says least else comes first"
    assert await found("rev", limit=1) == ["n3", "2 in all"]
    assert await found("∀", "rev") == ["n1", "1 in all"]
    assert await found("/", '"a"') == ["n2", "1 in all"]
    assert await found("nowhere") == ["0 in all"]
    assert await found() == ["n2", "n3", "n1", "n0", "4 in all"]
    await board.revise(episode, "ada", node="n2", note="about halves of rev")
    assert await found("rev", "halves") == ["n2", "1 in all"]


async def test_a_part_is_found_once_by_those_who_search_at_the_same_time(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("one", "rev = rev"))
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(partial(board.nodes_with, episode, ["rev"], limit=9))
    _, count = await board.nodes_with(episode, ["rev"], limit=9)
    assert count == 1


async def test_feedback_is_in_the_log_and_in_nobodys_news(board: Board, episode: str) -> None:
    token = await board.begin_call(episode, "bob")
    seq = await board.record_feedback(episode, "ada", "replies are long", about="digest")
    assert await board.deltas(token) == []
    (event,) = await board.events(episode, seq - 1)
    assert (event.kind, event.body) == ("feedback_given", {"text": "replies are long", "about": "digest"})


async def test_the_end_of_a_job_is_news_for_its_author_alone(board: Board, episode: str) -> None:
    tokens = [await board.begin_call(episode, agent) for agent in ("ada", "bob")]
    await board.record_check(episode, "ada", None, [], 1, 0, 5)
    await board.record_check(episode, "ada", None, [], 1, 0, 5, job="j1")
    news = [await board.deltas(token) for token in tokens]
    assert [[event.body["job"] for event in page] for page in news] == [["j1"], []]
