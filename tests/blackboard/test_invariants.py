"""Random operations by several agents on a real store; the invariants of the plan hold after each of them."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import msgspec
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from blackboard.board import Board
from blackboard.folding import State, fold
from blackboard.types import CallToken, Lease
from bus.errors import CallerError
from bus.messages import Event
from tests.blackboard.drafts import draft, proof_of
from tests.blackboard.servers import redis_binary, running_valkey
from tests.blackboard.states import stored_state

AGENTS = ("ada", "bob", "cyd", "dan")
PER_AGENT, PER_NODE = 2, 2

agents = st.sampled_from(AGENTS)
names = st.sampled_from([f"part{number}" for number in range(7)])
nodes = st.sampled_from([f"n{number}" for number in range(6)])
ttls = st.sampled_from([0.0, 60.0, 60.0])


class Episode(RuleBasedStateMachine):
    socket: Path

    def __init__(self) -> None:
        super().__init__()
        self.portal_owner = start_blocking_portal()
        self.portal = self.portal_owner.__enter__()
        self.board_owner = self.portal.wrap_async_context_manager(Board.open(f"unix://{self.socket}"))
        self.board = self.board_owner.__enter__()
        self.episode = f"s-{uuid4().hex[:12]}"
        self.open_calls: list[tuple[CallToken, list[Event]]] = []
        self.received: dict[str, set[int]] = defaultdict(set)

    def do(self, action: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        """Run one operation; a refusal is a fine outcome, anything else that is raised is not."""

        async def run() -> Any:
            try:
                return await action(self.episode, *args, **kwargs)
            except CallerError:
                return None

        return self.portal.call(run)

    @initialize()
    def open(self) -> None:
        self.do(self.board.open_episode, draft("part0"), "ab1-test", {})
        for agent in AGENTS:
            self.do(self.board.join, agent)

    @rule(agent=agents, name=names)
    def add_node(self, agent: str, name: str) -> None:
        self.do(self.board.add_node, agent, draft(name), open_parts_max=5)

    @rule(agent=agents, parent=nodes, children=st.lists(nodes, min_size=1, max_size=3))
    def add_alternative(self, agent: str, parent: str, children: Sequence[str]) -> None:
        self.do(self.board.add_alternative, agent, parent=parent, children=children, glue="g")

    @rule(agent=agents, name=names)
    def prove(self, agent: str, name: str) -> None:
        self.do(self.board.record_lemma, agent, proof_of(name, author=agent))

    @rule(agent=agents, node=nodes, ttl_s=ttls, approach=st.sampled_from(["", "simp", "cases"]))
    def claim(self, agent: str, node: str, ttl_s: float, approach: str) -> None:
        terms = {"ttl_s": ttl_s, "per_agent": PER_AGENT, "per_node": PER_NODE}
        self.do(self.board.claim, agent, node=node, approach=approach, **terms)

    @rule(ttl_s=ttls)
    def everybody_claims_at_once(self, ttl_s: float) -> None:
        async def race(episode: str) -> None:
            async with anyio.create_task_group() as tasks:
                for agent in AGENTS:
                    tasks.start_soon(claim, episode, agent)

        async def claim(episode: str, agent: str) -> None:
            try:
                await self.board.claim_next(episode, agent, ttl_s=ttl_s, per_agent=PER_AGENT, per_node=PER_NODE)
            except CallerError:
                return

        self.do(race)

    @rule(agent=agents, node=nodes)
    def release(self, agent: str, node: str) -> None:
        self.do(self.board.release, agent, node=node, note="tried")

    @rule(agent=agents, node=nodes, to=agents)
    def hand_off(self, agent: str, node: str, to: str) -> None:
        self.do(self.board.hand_off, agent, node=node, to=to, ttl_s=60, per_agent=PER_AGENT)

    @rule(agent=agents)
    def check(self, agent: str) -> None:
        self.do(self.board.record_check, agent, "n0", [], 1, 0, 5)

    @rule(agent=agents, to=st.lists(agents, max_size=2))
    def send(self, agent: str, to: Sequence[str]) -> None:
        self.do(self.board.send, agent, type="note", text="x" * 100, to=to)

    @rule(agent=agents)
    def begin_call(self, agent: str) -> None:
        token: CallToken = self.do(self.board.begin_call, agent, renew_ttl_s=30)
        self.open_calls.append((token, self.portal.call(self.board.deltas, token, 400)))

    @rule(place=st.integers(min_value=0), is_delivered=st.booleans())
    def end_call(self, place: int, *, is_delivered: bool) -> None:
        if self.open_calls:
            token, shown = self.open_calls.pop(place % len(self.open_calls))
            self.portal.call(lambda: self.board.end_call(token, is_delivered=is_delivered))
            if is_delivered:
                self.received[token.agent].update(event.seq for event in shown)

    @invariant()
    def leases_are_within_limits(self) -> None:
        held: list[Lease] = self.do(self.board.leases) or []
        assert all(count <= PER_NODE for count in Counter(lease.node for lease in held).values())
        assert all(count <= PER_AGENT for count in Counter(lease.agent for lease in held).values())

    def teardown(self) -> None:
        try:
            self.portal.call(self.check_everything)
        finally:
            self.board_owner.__exit__(None, None, None)
            self.portal_owner.__exit__(None, None, None)

    async def check_everything(self) -> None:
        stored = await stored_state(self.board, self.episode)
        events = await self.board.events(self.episode, limit=10_000)
        state = fold(events)
        assert msgspec.structs.replace(state, fences={}) == stored
        assert await self.board.verify_chain(self.episode) is None
        assert_fences_grow(events)
        assert_closed_nodes_are_proved(state)
        assert_no_cycle(state)
        ready = {alternative.id for alternative in await self.board.ready_alternatives(self.episode)}
        assert ready == ready_in(state)
        await self.check_nothing_was_lost(events)

    async def check_nothing_was_lost(self, events: Sequence[Event]) -> None:
        for token, _ in self.open_calls:
            await self.board.end_call(token, is_delivered=False)
        for agent in AGENTS:
            left_out = 1
            while left_out:
                token = await self.board.begin_call(self.episode, agent)
                page = await self.board.delta_page(token, 400)
                await self.board.end_call(token)
                left_out = page.left_out
                self.received[agent].update(event.seq for event in page.events)
            for event in events:
                if event.kind == "message_sent" and event.actor != agent:
                    is_addressed = not event.body["to"] or agent in event.body["to"]
                    assert (event.seq in self.received[agent]) == is_addressed


def assert_fences_grow(events: Sequence[Event]) -> None:
    last: dict[str, int] = defaultdict(int)
    for event in events:
        if event.kind in {"lease_granted", "lease_handed_off"}:
            assert event.body["fence"] > last[event.body["node"]]
            last[event.body["node"]] = event.body["fence"]


def assert_closed_nodes_are_proved(state: State) -> None:
    proved = {lemma.statement_hash: lemma.id for lemma in state.lemmas.values()}
    for node in state.nodes.values():
        assert (node.status == "closed") == (node.statement_hash in proved)
        assert node.lemma == proved.get(node.statement_hash)


def assert_no_cycle(state: State) -> None:
    under: dict[str, set[str]] = defaultdict(set)
    for alternative in state.alternatives.values():
        under[alternative.parent].update(alternative.children)
    done: set[str] = set()
    while fresh := {name for name in state.nodes if name not in done and under[name] <= done}:
        done |= fresh
    assert done == set(state.nodes)


def ready_in(state: State) -> set[str]:
    closed = {node.id for node in state.nodes.values() if node.status == "closed"}
    return {
        alternative.id
        for alternative in state.alternatives.values()
        if alternative.parent not in closed and set(alternative.children) <= closed
    }


def test_the_invariants_hold_under_any_sequence_of_operations(socket: Path) -> None:
    hold_on(socket, max_examples=15)


def test_the_invariants_hold_on_redis_too(tmp_path: Path) -> None:
    if (binary := redis_binary()) is None:
        pytest.skip("no redis-server is installed")
    with running_valkey(tmp_path, binary=binary):
        hold_on(tmp_path / "s", max_examples=8)


def hold_on(socket: Path, *, max_examples: int) -> None:
    class OnThisStore(Episode):
        pass

    OnThisStore.socket = socket
    limits = settings(
        max_examples=max_examples,
        stateful_step_count=40,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    run_state_machine_as_test(OnThisStore, settings=limits)  # pyright: ignore[reportUnknownMemberType]
