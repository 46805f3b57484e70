import msgspec
import pytest

from blackboard.board import Board
from blackboard.folding import State, fold
from tests.blackboard.drafts import draft, proof_of
from tests.blackboard.states import stored_state

pytestmark = pytest.mark.anyio


async def everything(board: Board, episode: str) -> None:
    terms = {"ttl_s": 60.0, "per_agent": 3, "per_node": 2}
    for name in ("one", "two"):
        await board.add_node(episode, "ada", draft(name))
    await board.add_alternative(episode, "ada", parent="n0", children=["one", "two"], glue="g")
    for agent, node in (("ada", "n0"), ("bob", "one"), ("cyd", "one"), ("cyd", "two")):
        await board.claim(episode, agent, node=node, approach="cases", **terms)  # pyright: ignore[reportArgumentType]
    await board.hand_off(episode, "cyd", node="two", to="ada", ttl_s=60, per_agent=3, note="yours")
    await board.release(episode, "ada", node="n0", outcome="blocked", note="hard")
    await board.claim(episode, "bob", node="n0", ttl_s=0, per_agent=3, per_node=1)
    await board.record_check(episode, "bob", "n1", ["one_0a1b2c"], 1, 2, 30)
    await board.record_check(episode, "stranger", None, [], 0, 0, 30)
    await board.record_lemma(episode, "judge", proof_of("one", author="bob"))
    await board.record_lemma(episode, "judge", proof_of("lost", author="stranger"))
    await board.send(episode, "ada", type="idea", text="generalise", to=["bob"], ref="n1", needs_ack=True)
    await board.join(episode, "bob", "critic")


async def test_the_log_alone_gives_the_state(board: Board, episode: str) -> None:
    await everything(board, episode)
    stored = await stored_state(board, episode)
    folded = fold(await board.events(episode))
    assert folded.fences == {"n0": 2, "n1": 2, "n2": 2}
    assert msgspec.structs.replace(folded, fences={}) == stored
    await board.close_episode(episode, "unsolved", "time is over")
    stored = await stored_state(board, episode)
    assert stored.status == "unsolved"
    assert msgspec.structs.replace(fold(await board.events(episode)), fences={}) == stored


async def test_folding_goes_on_where_it_stopped(board: Board, episode: str) -> None:
    await everything(board, episode)
    events = await board.events(episode)
    state = State()
    for start in range(0, len(events), 7):
        fold(events[start : start + 7], state)
    assert state == fold(events)
