import anyio
import pytest

from blackboard.board import Board
from blackboard.types import Same
from bus.errors import BadArguments, Cyclic, Duplicate, EpisodeClosed, Gone, TooLarge, UnknownId
from tests.blackboard.drafts import draft, proof_of

pytestmark = pytest.mark.anyio


async def test_the_root_is_the_theorem(board: Board, episode: str) -> None:
    root = await board.node(episode, "n0")
    assert (root.name, root.status, root.author) == ("main", "open", "server")
    meta = await board.meta(episode)
    assert (meta.status, meta.root, meta.bundle, meta.details) == ("open", "n0", "ab1-test", {"problem": "p"})
    assert meta.nodes == 1
    assert meta.closed_nodes == 0
    assert meta.closed_at_ms is None


async def test_an_episode_opens_once(board: Board, episode: str) -> None:
    with pytest.raises(Duplicate):
        await board.open_episode(episode, draft("other"), "ab1-test", {})


async def test_a_part_is_found_by_id_and_by_name(board: Board, episode: str) -> None:
    added = await board.add_node(episode, "ada", draft("helper"))
    assert added.id == "n1"
    assert await board.node(episode, "n1") == added
    assert await board.node(episode, "helper") == added
    assert await board.nodes(episode) == [await board.node(episode, "n0"), added]


async def test_an_unknown_part_is_an_error_with_the_nearest_names(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("append_assoc"))
    with pytest.raises(UnknownId) as caught:
        await board.node(episode, "apend_asoc")
    assert caught.value.facts["nearest"] == ["append_assoc"]


async def test_the_same_statement_is_added_once(board: Board, episode: str) -> None:
    added = await board.add_node(episode, "ada", draft("one", "S"))
    with pytest.raises(Duplicate) as caught:
        await board.add_node(episode, "bob", draft("two", "S"))
    assert caught.value.facts == {"id": added.id, "name": "one", "status": "open", "lemma": None}


async def test_a_statement_is_looked_up_among_parts_and_lemmas(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("one"))
    await board.record_lemma(episode, "ada", proof_of("two"))
    assert await board.same_statement(episode, draft("one").statement_hash) == Same(node="n1")
    assert await board.same_statement(episode, draft("two").statement_hash) == Same(lemma="l-two")
    assert await board.same_statement(episode, "nothing") == Same()


async def test_two_parts_never_share_a_name(board: Board, episode: str) -> None:
    names = [(await board.add_node(episode, "ada", draft("same", f"S{i}"))).name for i in range(3)]
    assert names == ["same", "same_2", "same_3"]


async def test_a_name_cannot_look_like_an_id(board: Board, episode: str) -> None:
    with pytest.raises(BadArguments):
        await board.add_node(episode, "ada", draft("n7"))


async def test_open_parts_are_limited_but_proved_ones_do_not_count(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("one"), open_parts_max=2)
    with pytest.raises(TooLarge) as caught:
        await board.add_node(episode, "ada", draft("two"), open_parts_max=2)
    assert caught.value.facts["cap"] == 2
    await board.record_lemma(episode, "ada", proof_of("one"))
    await board.add_node(episode, "ada", draft("two"), open_parts_max=2)


async def test_a_lemma_closes_the_part_with_its_statement_and_ends_the_lease(board: Board, episode: str) -> None:
    node = await board.add_node(episode, "ada", draft("helper"))
    await board.claim(episode, "bob", node=node.id, ttl_s=60, per_agent=1, per_node=1)
    recorded = await board.record_lemma(episode, "ada", proof_of("helper"))
    assert recorded.closed == (node.id,)
    closed = await board.node(episode, node.id)
    assert (closed.status, closed.lemma) == ("closed", "l-helper")
    assert await board.leases(episode) == []
    kinds = [event.kind for event in await board.events(episode)]
    assert kinds[-3:] == ["lemma_accepted", "node_closed", "lease_released"]
    assert await board.lemmas(episode) == [proof_of("helper")]


async def test_a_part_that_is_proved_already_comes_back_closed(board: Board, episode: str) -> None:
    await board.record_lemma(episode, "ada", proof_of("helper"))
    node = await board.add_node(episode, "bob", draft("helper"), open_parts_max=1)
    assert (node.status, node.lemma) == ("closed", "l-helper")


async def test_recording_a_lemma_again_changes_nothing_and_answers_the_same(board: Board, episode: str) -> None:
    child = await board.add_node(episode, "ada", draft("child"))
    way = await board.add_alternative(episode, "ada", parent="n0", children=[child.id], glue="l-glue")
    first = await board.record_lemma(episode, "ada", proof_of("child"))
    seq = await board.last_seq(episode)
    assert await board.record_lemma(episode, "bob", proof_of("child")) == first
    assert first.ready == (way.id,)
    assert await board.last_seq(episode) == seq
    assert (await board.meta(episode)).lemmas == 1


async def test_an_alternative_is_ready_when_its_last_child_closes(board: Board, episode: str) -> None:
    for name in ("left", "right"):
        await board.add_node(episode, "ada", draft(name))
    way = await board.add_alternative(episode, "ada", parent="n0", children=["left", "right", "left"], glue="g")
    assert way.children == ("n1", "n2")
    assert (await board.node(episode, "n0")).alternatives == (way.id,)
    assert (await board.record_lemma(episode, "ada", proof_of("left"))).ready == ()
    assert await board.ready_alternatives(episode) == []
    assert (await board.record_lemma(episode, "bob", proof_of("right"))).ready == (way.id,)
    assert await board.ready_alternatives(episode) == [way]
    await board.record_lemma(episode, "ada", proof_of("main"))
    assert await board.ready_alternatives(episode) == []


async def test_an_alternative_over_closed_children_is_ready_at_once(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("child"))
    await board.record_lemma(episode, "ada", proof_of("child"))
    way = await board.add_alternative(episode, "ada", parent="n0", children=["child"], glue="g")
    assert await board.ready_alternatives(episode) == [way]
    assert await board.alternatives(episode) == [way]


async def test_a_closed_part_takes_no_alternative(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("child"))
    await board.record_lemma(episode, "ada", proof_of("main"))
    with pytest.raises(Gone) as caught:
        await board.add_alternative(episode, "ada", parent="n0", children=["child"], glue="g")
    assert caught.value.facts["replacement"] == "l-main"


async def test_a_plan_that_needs_itself_is_refused_with_the_path(board: Board, episode: str) -> None:
    for name in ("a", "b", "c"):
        await board.add_node(episode, "ada", draft(name))
    await board.add_alternative(episode, "ada", parent="a", children=["b"], glue="g")
    await board.add_alternative(episode, "ada", parent="b", children=["c"], glue="g")
    with pytest.raises(Cyclic) as caught:
        await board.add_alternative(episode, "ada", parent="c", children=["a"], glue="g")
    assert caught.value.facts["path"] == ["n1", "n2", "n3", "n1"]
    with pytest.raises(Cyclic):
        await board.add_alternative(episode, "ada", parent="c", children=["c"], glue="g")


async def test_bad_alternatives_are_refused(board: Board, episode: str) -> None:
    await board.add_node(episode, "ada", draft("child"))
    way = await board.add_alternative(episode, "ada", parent="n0", children=["child"], glue="g")
    with pytest.raises(Duplicate) as caught:
        await board.add_alternative(episode, "bob", parent="main", children=["n1"], glue="h")
    assert caught.value.facts["id"] == way.id
    with pytest.raises(UnknownId):
        await board.add_alternative(episode, "ada", parent="n0", children=["ghost"], glue="g")
    with pytest.raises(UnknownId):
        await board.add_alternative(episode, "ada", parent="ghost", children=["child"], glue="g")
    with pytest.raises(BadArguments):
        await board.add_alternative(episode, "ada", parent="n0", children=[], glue="g")


async def test_the_frontier_knows_depth_parents_and_who_works(board: Board, episode: str) -> None:
    for name in ("near", "far", "apart"):
        await board.add_node(episode, "ada", draft(name))
    await board.add_alternative(episode, "ada", parent="near", children=["far"], glue="g")
    await board.add_alternative(episode, "ada", parent="n0", children=["near"], glue="g")
    await board.claim(episode, "bob", node="far", ttl_s=60, approach="induction", per_agent=1, per_node=1)
    await board.release(episode, "bob", node="far", note="stuck")
    await board.claim(episode, "cyd", node="far", ttl_s=60, approach="cases", per_agent=1, per_node=1)
    found = {candidate.node.name: candidate for candidate in await board.frontier(episode, "bob")}
    assert list(found) == ["main", "near", "far", "apart"]
    assert [found[name].depth for name in ("main", "near", "far")] == [0, 1, 2]
    assert found["far"].parents == ("n1",)
    assert (found["far"].holders, found["far"].approaches) == (("cyd",), ("cases",))
    assert (found["far"].attempts, found["far"].own_attempts) == (1, 1)
    assert (found["near"].is_linked, found["apart"].is_linked) == (True, False)
    await board.record_lemma(episode, "ada", proof_of("near"))
    assert [c.parents for c in await board.frontier(episode) if c.node.name == "far"] == [()]


async def test_an_ended_episode_can_be_read_and_not_changed(board: Board, episode: str) -> None:
    await board.claim(episode, "ada", node="n0", ttl_s=60, per_agent=1, per_node=1)
    meta = await board.close_episode(episode, "unsolved", "time is over")
    assert (meta.status, meta.reason) == ("unsolved", "time is over")
    assert meta.closed_at_ms is not None
    with pytest.raises(EpisodeClosed):
        await board.add_node(episode, "ada", draft("late"))
    with pytest.raises(EpisodeClosed):
        await board.record_lemma(episode, "ada", proof_of("main"))
    with pytest.raises(EpisodeClosed):
        await board.claim(episode, "ada", node="n0", ttl_s=60, per_agent=1, per_node=1)
    with pytest.raises(EpisodeClosed):
        await board.send(episode, "ada", type="note", text="late")
    assert await board.leases(episode) == []
    assert await board.renew(episode, "ada", ttl_s=60) == []
    assert len(await board.frontier(episode)) == 1
    assert (await board.close_episode(episode, "closed")).status == "unsolved"
    with pytest.raises(BadArguments):
        await board.close_episode(episode, "open")


async def test_an_unknown_episode_is_an_error_everywhere(board: Board) -> None:
    with pytest.raises(UnknownId):
        await board.nodes("nowhere")
    with pytest.raises(UnknownId):
        await board.add_node("nowhere", "ada", draft("x"))
    with pytest.raises(UnknownId):
        await board.frontier("nowhere")
    with pytest.raises(UnknownId):
        await board.wait("nowhere", 0, 0)
    with pytest.raises(UnknownId):
        await board.meta("no}where")
    with pytest.raises(UnknownId):
        await board.close_episode("nowhere", "closed")


async def test_a_repeated_operation_returns_the_first_result(board: Board, episode: str) -> None:
    first = await board.add_node(episode, "ada", draft("helper"), op="op-1")
    seq = await board.last_seq(episode)
    assert await board.add_node(episode, "ada", draft("helper"), op="op-1") == first
    assert await board.last_seq(episode) == seq


async def test_text_that_is_not_unicode_is_refused(board: Board, episode: str) -> None:
    with pytest.raises(BadArguments):
        await board.add_node(episode, "ada", draft("x", "\ud800"))


async def test_text_that_would_fill_the_store_is_refused(board: Board, episode: str) -> None:
    with pytest.raises(TooLarge):
        await board.add_node(episode, "ada", draft("x", "y" * 1_000_001))


async def test_a_part_with_a_thousand_children(board: Board, episode: str) -> None:
    names = [f"part{number}" for number in range(1_000)]

    async def add(some: list[str]) -> None:
        for name in some:
            await board.add_node(episode, "ada", draft(name))

    async with anyio.create_task_group() as tasks:
        for start in range(0, 1_000, 100):
            tasks.start_soon(add, names[start : start + 100])
    way = await board.add_alternative(episode, "ada", parent="n0", children=names, glue="g")
    assert len(way.children) == 1_000
    with pytest.raises(Cyclic):
        await board.add_alternative(episode, "ada", parent="part999", children=["n0"], glue="g")
    with pytest.raises(Duplicate):
        await board.add_alternative(episode, "ada", parent="n0", children=names[::-1], glue="g")
    frontier = await board.frontier(episode)
    assert len(frontier) == 200
    assert {candidate.depth for candidate in frontier} == {0, 1}


async def test_text_comes_back_as_it_was(board: Board, episode: str) -> None:
    statement = '∀ x : α, "quoted" \\ / \n\t\x00\x7f 😀'
    await board.add_node(episode, "ada", draft("odd", statement))
    assert (await board.node(episode, "odd")).statement == statement
    assert (await board.events(episode))[-1].body["statement"] == statement


async def test_agents_and_their_counts(board: Board, episode: str) -> None:
    await board.record_check(episode, "bob", "n0", ["x_1"], 1, 0, 250)
    await board.record_check(episode, "bob", None, [], 0, 1, 250)
    await board.record_lemma(episode, "bob", proof_of("x", author="ada"))
    await board.join(episode, "bob", "critic")
    rows = await board.agents(episode)
    assert [(row.name, row.role, row.checks, row.lemmas) for row in rows] == [
        ("ada", "prover", 0, 1),
        ("bob", "critic", 2, 0),
        ("cyd", "prover", 0, 0),
    ]
    assert (await board.meta(episode)).checks == 2
    for name in ("a b", "", "server", "x" * 65):
        with pytest.raises(BadArguments):
            await board.join(episode, name)
