import pytest

from blackboard.board import Board
from bus.errors import UnknownId
from tests.blackboard.drafts import draft, proof_of

pytestmark = pytest.mark.anyio


async def work(board: Board, episode: str) -> None:
    for name in ("near", "far", "false"):
        await board.add_node(episode, "ada", draft(name))
    await board.add_alternative(episode, "ada", parent="n0", children=["near", "far"], glue="g")
    await board.record_lemma(episode, "ada", proof_of("near"))
    await board.refute(episode, "bob", node="false", lemma="l-not-false", witness="0")
    await board.claim(episode, "ada", node="far", ttl_s=60, approach="cases", per_agent=2, per_node=2)
    await board.claim(episode, "bob", node="far", ttl_s=60, approach="induction", per_agent=2, per_node=2)
    await board.claim(episode, "bob", node="n0", ttl_s=60, per_agent=2, per_node=2)
    await board.release(episode, "bob", node="far", outcome="stuck", note="needs a lemma")
    await board.send(episode, "bob", type="note", text="to all")
    await board.send(episode, "bob", type="note", text="to ada", to=["ada"])
    await board.send(episode, "bob", type="note", text="to cyd", to=["cyd"])


async def test_an_overview_says_what_single_questions_say(board: Board, episode: str) -> None:
    await work(board, episode)
    seen = await board.overview(episode, "ada", lemmas=8)
    assert seen.meta == await board.meta(episode)
    assert seen.target == await board.node(episode, "n0")
    assert seen.leases == await board.leases(episode, "ada")
    assert seen.frontier == await board.frontier(episode, "ada")
    assert seen.lemmas == await board.lemmas(episode)
    assert seen.messages == await board.messages(episode, "ada")
    assert [why for _, why in seen.refuted] == await board.refutations(episode)
    assert [node for node, _ in seen.refuted] == [await board.node(episode, "false")]
    assert ([lease.node for lease in seen.leases], len(seen.frontier), len(seen.messages)) == (["n2"], 2, 2)


async def test_an_overview_of_a_new_episode_is_not_empty(board: Board, episode: str) -> None:
    seen = await board.overview(episode, "ada", lemmas=8)
    assert (seen.target.id, [one.node.id for one in seen.frontier]) == ("n0", ["n0"])
    assert (seen.leases, seen.lemmas, seen.refuted, seen.messages) == ([], [], [], [])
    with pytest.raises(UnknownId):
        await board.overview("nowhere", "ada", lemmas=8)


async def test_a_lease_that_ran_out_is_seen_by_nobody(board: Board, episode: str) -> None:
    await board.claim(episode, "bob", node="n0", ttl_s=0, per_agent=1, per_node=1)
    seen = await board.overview(episode, "bob", lemmas=8)
    assert (seen.leases, [one.holders for one in seen.frontier]) == ([], [()])
    lease = await board.claim_next(episode, "ada", ttl_s=60, per_agent=1, per_node=1)
    assert lease is not None
    assert lease.fence == 2


async def test_a_part_comes_with_who_works_on_it_and_the_last_attempts(board: Board, episode: str) -> None:
    await work(board, episode)
    for note in ("first", "second"):
        await board.claim(episode, "cyd", node="far", ttl_s=60, per_agent=2, per_node=2)
        await board.release(episode, "cyd", node="far", note=note)
    part = await board.part(episode, "far", attempts=2)
    assert part.node == await board.node(episode, "n2")
    assert [(lease.agent, lease.approach) for lease in part.leases] == [("ada", "cases")]
    assert [attempt.note for attempt in part.attempts] == ["first", "second"]
    assert len((await board.part(episode, "far", attempts=5)).attempts) == 3
    with pytest.raises(UnknownId) as caught:
        await board.part(episode, "fat", attempts=5)
    assert caught.value.facts["nearest"] == ["far", "false"]
