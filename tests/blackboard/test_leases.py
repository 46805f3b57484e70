from functools import partial
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from blackboard.board import Board
from blackboard.in_redis import EpisodeStore
from blackboard.types import Lease
from bus.errors import Gone, LeaseFull, LeaseLost, StaleFence, UnknownId, UnknownRecipient
from tests.blackboard.drafts import draft, proof_of

pytestmark = pytest.mark.anyio


async def take(board: Board, episode: str, agent: str, node: str = "n0", **changes: object) -> Lease:
    terms: dict[str, object] = {"ttl_s": 60.0, "per_agent": 2, "per_node": 1}
    return await board.claim(episode, agent, node=node, **terms | changes)  # pyright: ignore[reportArgumentType]


async def test_a_node_has_one_holder_and_the_next_one_learns_who(board: Board, episode: str) -> None:
    lease = await take(board, episode, "ada", approach="induction")
    assert (lease.fence, lease.approach) == (1, "induction")
    with pytest.raises(LeaseFull) as caught:
        await take(board, episode, "bob")
    (holder,) = cast(list[dict[str, object]], caught.value.facts["holders"])
    assert holder["agent"] == "ada"
    assert holder["approach"] == "induction"
    assert await board.leases(episode) == [lease]


async def test_more_holders_are_possible(board: Board, episode: str) -> None:
    first = await take(board, episode, "ada", per_node=2)
    second = await take(board, episode, "bob", per_node=2)
    assert (first.fence, second.fence) == (1, 2)
    with pytest.raises(LeaseFull):
        await take(board, episode, "cyd", per_node=2)
    assert await board.leases(episode, "bob") == [second]
    assert await board.confirm_fence(episode, "ada", "n0", 1) == first


async def test_an_agent_holds_only_so_many_leases(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("other"))
    await take(board, episode, "ada", per_agent=1)
    with pytest.raises(LeaseFull) as caught:
        await take(board, episode, "ada", "other", per_agent=1)
    (holder,) = cast(list[dict[str, object]], caught.value.facts["holders"])
    assert holder["node"] == "n0"
    with pytest.raises(LeaseFull):
        await board.claim_next(episode, "ada", ttl_s=60, per_agent=1, per_node=1)


async def test_claiming_again_renews_under_the_same_fence(board: Board, episode: str) -> None:
    first = await take(board, episode, "ada", approach="cases")
    seq = await board.last_seq(episode)
    again = await take(board, episode, "ada", ttl_s=500, per_agent=1)
    assert (again.fence, again.approach) == (first.fence, "cases")
    assert again.expires_at_ms > first.expires_at_ms
    assert await board.last_seq(episode) == seq


async def test_claiming_again_with_another_approach_takes_a_new_fence(board: Board, episode: str) -> None:
    await take(board, episode, "ada", approach="cases")
    again = await take(board, episode, "ada", approach="induction", per_agent=1)
    assert (again.fence, again.approach) == (2, "induction")
    assert await board.leases(episode) == [again]


async def test_only_members_claim(board: Board, episode: str) -> None:
    with pytest.raises(UnknownId) as caught:
        await take(board, episode, "adda")
    assert caught.value.facts["nearest"] == ["ada"]
    with pytest.raises(UnknownId):
        await take(board, episode, "ada", "ghost")


async def test_a_proved_node_cannot_be_claimed(board: Board, episode: str) -> None:
    await board.record_lemma(episode, "ada", proof_of("main"))
    with pytest.raises(Gone) as caught:
        await take(board, episode, "bob")
    assert caught.value.facts["replacement"] == "l-main"
    assert await board.claim_next(episode, "bob", ttl_s=60, per_agent=2, per_node=1) is None


async def test_next_spreads_agents_and_avoids_what_one_gave_up(board: Board, episode: str) -> None:
    for name in ("one", "two"):
        await board.add_node(episode, "ada", draft(name))
    await board.add_alternative(episode, "ada", parent="n0", children=["one", "two"], glue="g")
    claim_next = partial(board.claim_next, episode, ttl_s=60, per_agent=2, per_node=1)
    taken = [await claim_next(agent) for agent in ("ada", "bob", "cyd")]
    assert [lease and lease.node for lease in taken] == ["n0", "n1", "n2"]
    assert await claim_next("ada") is None
    await board.release(episode, "bob", node="n1")
    await board.release(episode, "cyd", node="n2")
    lease = await claim_next("cyd")
    assert lease
    assert lease.node == "n1"


class LateStore(EpisodeStore):
    """A store in which bob is faster than every other claim and gives up right after it."""

    async def change(self, script: str, *, episode: str, **rest: Any) -> bytes:
        rival = Board(EpisodeStore(self._connection, self._blocking_client))
        await take(rival, episode, "bob")
        try:
            return await super().change(script, episode=episode, **rest)
        finally:
            await rival.release(episode, "bob", node="n0")


async def test_who_always_comes_too_late_gets_nothing(episode: str, socket: Path) -> None:
    async with LateStore.open(f"unix://{socket}") as store:
        board = Board(store)
        assert await board.claim_next(episode, "ada", ttl_s=60, per_agent=1, per_node=1) is None
        grants = [event for event in await board.events(episode) if event.kind == "lease_granted"]
    assert [event.actor for event in grants] == ["bob"] * 3


async def test_a_lease_that_ran_out_frees_the_node_and_leaves_a_note(board: Board, episode: str) -> None:
    await take(board, episode, "ada", approach="cases", ttl_s=0)
    lease = await take(board, episode, "bob")
    assert lease.fence == 2
    kinds = [event.kind for event in await board.events(episode)]
    assert kinds[-4:] == ["lease_granted", "lease_expired", "attempt_noted", "lease_granted"]
    (attempt,) = await board.attempts(episode, "n0")
    assert (attempt.agent, attempt.approach, attempt.outcome) == ("ada", "cases", "expired")


async def test_looking_at_leases_ends_those_that_ran_out(board: Board, episode: str) -> None:
    await take(board, episode, "ada", ttl_s=0)
    assert await board.leases(episode) == []
    assert (await board.events(episode))[-2].kind == "lease_expired"


async def test_renewing_never_shortens(board: Board, episode: str) -> None:
    lease = await take(board, episode, "ada", ttl_s=500)
    assert await board.renew(episode, "ada", ttl_s=1, node="main") == [lease]
    (longer,) = await board.renew(episode, "ada", ttl_s=900)
    assert longer.expires_at_ms > lease.expires_at_ms
    assert await board.renew(episode, "bob", ttl_s=900) == []
    with pytest.raises(LeaseLost):
        await board.renew(episode, "bob", ttl_s=900, node="n0")
    with pytest.raises(UnknownId):
        await board.renew(episode, "bob", ttl_s=900, node="ghost")
    with pytest.raises(UnknownId):
        await board.renew("nowhere", "bob", ttl_s=900)


async def test_an_old_fence_is_refused_with_the_present_owner(board: Board, episode: str) -> None:
    old = await take(board, episode, "ada", ttl_s=0)
    await take(board, episode, "bob")
    with pytest.raises(StaleFence) as caught:
        await board.confirm_fence(episode, "ada", "n0", old.fence)
    assert (caught.value.facts["owner"], caught.value.facts["fence"]) == ("bob", 2)
    with pytest.raises(StaleFence):
        await board.release(episode, "bob", node="n0", fence=1)
    with pytest.raises(UnknownId):
        await board.confirm_fence(episode, "ada", "ghost", 1)


async def test_a_lease_that_ended_is_lost(board: Board, episode: str) -> None:
    lease = await take(board, episode, "ada")
    await board.release(episode, "ada", node="n0", fence=lease.fence, outcome="partial", note="half way")
    with pytest.raises(LeaseLost):
        await board.confirm_fence(episode, "ada", "n0", lease.fence)
    with pytest.raises(LeaseLost):
        await board.release(episode, "ada", node="n0")
    with pytest.raises(UnknownId):
        await board.release(episode, "ada", node="ghost")
    (attempt,) = await board.attempts(episode, "n0")
    assert (attempt.outcome, attempt.note) == ("partial", "half way")


async def test_a_lost_lease_on_a_proved_node_names_the_lemma(board: Board, episode: str) -> None:
    lease = await take(board, episode, "ada")
    await board.record_lemma(episode, "bob", proof_of("main"))
    with pytest.raises(LeaseLost) as caught:
        await board.confirm_fence(episode, "ada", "n0", lease.fence)
    assert caught.value.facts["lemma"] == "l-main"


async def test_a_release_that_is_sent_again_is_one_release(board: Board, episode: str) -> None:
    await take(board, episode, "ada")
    first = await board.release(episode, "ada", node="n0", op="r1")
    assert await board.release(episode, "ada", node="n0", op="r1") == first
    assert len(await board.attempts(episode, "n0")) == 1


async def test_attempts_come_last_ones_only(board: Board, episode: str) -> None:
    for number in range(4):
        await take(board, episode, "ada")
        await board.release(episode, "ada", node="n0", note=str(number))
    assert [attempt.note for attempt in await board.attempts(episode, "n0", limit=2)] == ["2", "3"]
    assert await board.attempts(episode, "main", limit=1) == await board.attempts(episode, "n0", limit=1)
    with pytest.raises(UnknownId):
        await board.attempts(episode, "n9")


async def test_a_lease_is_handed_to_somebody_who_is_there(board: Board, episode: str) -> None:
    await take(board, episode, "ada", approach="cases")
    given = await board.hand_off(episode, "ada", node="n0", to="bob", ttl_s=60, per_agent=1, note="try simp")
    assert (given.agent, given.fence, given.approach) == ("bob", 2, "cases")
    assert await board.leases(episode) == [given]
    (attempt,) = await board.attempts(episode, "n0")
    assert (attempt.outcome, attempt.note) == ("handed_off", "try simp")
    hand_off = partial(board.hand_off, episode, node="n0", ttl_s=60, per_agent=1)
    with pytest.raises(UnknownRecipient) as caught:
        await hand_off("bob", to="dan")
    assert caught.value.facts["roster"] == ["ada", "bob", "cyd"]
    with pytest.raises(StaleFence):
        await hand_off("ada", to="cyd")
    with pytest.raises(UnknownId):
        await board.hand_off(episode, "bob", node="ghost", to="cyd", ttl_s=60, per_agent=1)
    await board.add_node(episode, "ada", draft("other"))
    await take(board, episode, "cyd", "other")
    with pytest.raises(LeaseFull):
        await hand_off("bob", to="cyd")


async def test_a_race_for_one_node_has_one_winner(board: Board, episode: str) -> None:
    """Sixty-four tasks start together; the fence of the winner is the only one."""
    names = [f"r{number}" for number in range(64)]
    for name in names:
        await board.join(episode, name)
    start, won = anyio.Event(), list[Lease]()

    async def run(name: str) -> None:
        await start.wait()
        try:
            won.append(await take(board, episode, name))
        except LeaseFull:
            return

    async with anyio.create_task_group() as tasks:
        for name in names:
            tasks.start_soon(run, name)
        start.set()
    assert [lease.fence for lease in won] == [1]


async def test_a_race_for_the_next_node_gives_each_node_once(board: Board, episode: str) -> None:
    for number in range(9):
        await board.add_node(episode, "ada", draft(f"part{number}"))
    names = [f"r{number}" for number in range(30)]
    for name in names:
        await board.join(episode, name)
    won: list[Lease] = []

    async def run(name: str) -> None:
        if lease := await board.claim_next(episode, name, ttl_s=60, per_agent=1, per_node=1):
            won.append(lease)

    async with anyio.create_task_group() as tasks:
        for name in names:
            tasks.start_soon(run, name)
    # Those who lose a race for what they saw free may come away empty, but no node is granted twice.
    assert len({lease.node for lease in won}) == len(won)
    assert len(won) == 10
