"""Lemmas taken back on the board."""

import pytest

from blackboard.board import Board
from blackboard.folding import fold
from tests.blackboard.drafts import draft, proof_of
from tests.blackboard.states import stored_state

pytestmark = pytest.mark.anyio


async def is_folded(board: Board, episode: str) -> None:
    """Nothing is in the store that the log does not say."""
    stored, folded = await stored_state(board, episode), fold(await board.events(episode))
    stored.fences = folded.fences
    assert stored == folded
    assert await board.verify_chain(episode) is None


async def test_what_a_revoked_lemma_closed_is_open_again_and_can_be_closed_again(board: Board, episode: str) -> None:
    for name in ("a", "b"):
        await board.add_node(episode, "ada", draft(name))
    await board.add_alternative(episode, "ada", parent="n0", children=["n1", "n2"], glue="g")
    for name in ("a", "b"):
        await board.record_lemma(episode, "bob", proof_of(name, lemma=f"l{name}"))
    assert [one.id for one in await board.ready_alternatives(episode)] == ["a1"]

    assert await board.withdraw(episode, "server", lemmas=["la"], reason="unsound") == ["n1"]
    assert await board.ready_alternatives(episode) == []
    assert [lemma.id for lemma in await board.lemmas(episode)] == ["lb"]
    assert {one.node.id for one in await board.frontier(episode)} == {"n0", "n1"}
    meta = await board.meta(episode)
    assert (meta.closed_nodes, meta.lemmas) == (1, 1)
    assert (await board.claim(episode, "cyd", node="n1", ttl_s=60, per_agent=2, per_node=1)).agent == "cyd"

    recorded = await board.record_lemma(episode, "cyd", proof_of("a", lemma="la2"))
    assert (recorded.closed, recorded.ready) == (("n1",), ("a1",))
    await is_folded(board, episode)


async def test_a_refutation_that_is_revoked_gives_the_part_and_its_alternatives_back(
    board: Board, episode: str
) -> None:
    for name in ("a", "b"):
        await board.add_node(episode, "ada", draft(name))
    await board.add_alternative(episode, "ada", parent="n0", children=["n1", "n2"], glue="g")
    for node in ("n1", "n2"):
        await board.refute(episode, "bob", node=node, lemma=f"not-{node}", witness="0")
    assert [(one.node, one.witness) for one in await board.refutations(episode)] == [("n1", "0"), ("n2", "0")]

    assert await board.withdraw(episode, "server", lemmas=["not-n1"], reason="unsound") == ["n1"]
    (alternative,) = await board.alternatives(episode)
    assert alternative.is_dead  # n2 is false still
    assert await board.withdraw(episode, "server", lemmas=["not-n2"], reason="unsound") == ["n2"]
    (alternative,) = await board.alternatives(episode)
    assert not alternative.is_dead
    assert await board.refutations(episode) == []
    await is_folded(board, episode)


async def test_an_alternative_whose_glue_is_revoked_is_dead(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("a"))
    await board.add_alternative(episode, "ada", parent="n0", children=["n1"], glue="g")
    assert await board.withdraw(episode, "server", lemmas=["g"], reason="unsound") == []
    (alternative,) = await board.alternatives(episode)
    assert alternative.is_dead
    await board.record_lemma(episode, "bob", proof_of("a", lemma="la"))
    assert await board.ready_alternatives(episode) == []
    await is_folded(board, episode)
