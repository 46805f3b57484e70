"""Every knob that a proposal may turn changes what an agent meets: tool calls under two values, on a real store."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.evolver.handbook import knobs
from adapter_server.policy import Policy
from adapter_server.staging import load_bundle, read_files
from adapter_server.tools.caller import Caller
from adapter_server.tools.dispatcher import Dispatcher
from blackboard.board import Board
from blackboard.types import NodeDraft
from bus.link import Link
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, LeanMessage, Verdict
from tests.blackboard.drafts import draft, proof_of
from tests.blackboard.servers import running_valkey

from .conftest import open_episode, register

pytestmark = pytest.mark.anyio

BUNDLE = load_bundle(default_bundle_folder())
MANY = 30
LONG = "word " * 500


class Lean:
    """A Lean side with much to say; nothing of it is asked here whether it is right."""

    async def check(self, _episode: str, **_: object) -> CheckReport:
        messages = tuple(LeanMessage(severity="error", line=n, column=0, text=LONG) for n in range(MANY))
        return CheckReport(
            verdicts=(Verdict(name="t", outcome="rejected", reasons=("no",)),), messages=messages, goals=(LONG,) * MANY
        )

    async def find(self, _episode: str, **_: object) -> list[object]:
        return []

    async def lemmas(self, _episode: str) -> list[object]:
        return []

    async def problem(self, _episode: str) -> object:
        return SimpleNamespace(theorem="t", statement=SimpleNamespace(text="P"), context="", source="x" * 20_000)


class Room:
    """An episode with many parts, lemmas, messages and attempts, and one agent in it under a policy."""

    def __init__(self, board: Board, episode: str, policy: Policy) -> None:
        self.board = board
        self.episode = episode
        self._policy = policy
        self._tools = Dispatcher(board=board, lemma_store=cast(LemmaStore, Lean()), on_change=lambda _: None)

    async def text(self, tool: str, agent: str = "ada", **arguments: Any) -> str:
        caller = Caller(
            episode=self.episode, agent=agent, role="prover", version=BUNDLE, policy=self._policy
        )  # fmt: skip
        return (await self._tools.call(caller, tool, arguments)).text

    async def facts(self, tool: str, agent: str = "ada", **arguments: Any) -> dict[str, Any]:
        return msgspec.json.decode((await self.text(tool, agent, **arguments)).split("\n")[1])

    async def fill(self) -> None:
        await self.board.open_episode(self.episode, draft("main"), BUNDLE.id, {})
        for name in ("ada", "bob"):
            await self.board.join(self.episode, name, "prover")
        for number in range(MANY):
            part = NodeDraft(name=f"part {number}", statement=f"{number} {LONG}", statement_hash=f"p{number}")
            await self.board.add_node(self.episode, "bob", part)
            await self.board.record_lemma(self.episode, "bob", proof_of(f"lemma {number}"))
            await self.board.send(self.episode, "bob", type="question", text=f"{number}", to=["ada"], needs_ack=True)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    folder = tmp_path_factory.mktemp("v")
    with running_valkey(folder):
        yield folder / "s"


@pytest.fixture
async def board(store: Path) -> AsyncGenerator[Board]:
    async with Board.open(f"unix://{store}") as board:
        yield board


Look = Callable[[Room], Awaitable[object]]


def length(tool: str, *path: str | int, **arguments: Any) -> Look:
    """How much there is at a place in the facts of a reply."""

    async def look(room: Room) -> int:
        value: Any = await room.facts(tool, **arguments)
        for step in path:
            value = value[step]
        return len(value.encode() if isinstance(value, str) else value)

    return look


async def lease_seconds(room: Room, **arguments: Any) -> float:
    return round((await room.facts("claim", action="take", node="n1", **arguments))["expires_s"] / 10)


async def longest_lease(room: Room) -> float:
    return await lease_seconds(room, ttl_s=900)


async def parts_held(room: Room) -> int:
    replies = [await room.facts("claim", action="take", node=f"n{number}") for number in (1, 2, 3)]
    return sum("fence" in reply for reply in replies)


async def agents_on_a_part(room: Room) -> int:
    replies = [await room.facts("claim", action="take", node="n1", agent=agent) for agent in ("ada", "bob")]
    return sum("fence" in reply for reply in replies)


async def attempts_shown(room: Room) -> int:
    for number in range(4):
        await room.facts("claim", action="take", node="n1", approach=f"way {number}")
        await room.facts("claim", action="release", node="n1", outcome="stuck", note=f"{number}")
    return len((await room.facts("claim", action="take", node="n1"))["attempts"])


async def news_lines(room: Room) -> int:
    return len((await room.text("say", type="note", text="x")).split("\nnews:\n")[1].splitlines())


async def reply_kilobytes(room: Room) -> int:
    return round(len((await room.text("get", id="problem")).encode()) / 1000)


async def waited_for(room: Room) -> str:
    wanted: dict[str, Any] = {"for": ["mail"], "ref": "nothing", "timeout_s": 1.2}
    return (await room.text("wait", **wanted)).split("\n")[0]


async def is_a_retry(room: Room) -> bool:
    return [
        "first result again" in await room.text("say", type="note", text="the same") for _ in range(2)
    ][1]  # fmt: skip


async def was_slowed_down(room: Room) -> bool:
    replies = [await room.facts("submit") for _ in range(12)]
    return any(reply.get("code") == "rate_limited" for reply in replies)


LOOKS: dict[str, tuple[Look, object, object, object, object]] = {
    "lease_s": (lease_seconds, 60, 6, 300, 30),
    "lease_max_s": (longest_lease, 60, 6, 300, 30),
    "leases_per_agent": (parts_held, 1, 1, 3, 3),
    "holders_per_node": (agents_on_a_part, 1, 1, 2, 2),
    "digest/next": (length("digest", "next"), 2, 2, 4, 4),
    "digest/frontier": (length("digest", "frontier"), 2, 2, 4, 4),
    "digest/lemmas": (length("digest", "lemmas"), 2, 2, 4, 4),
    "digest/messages": (length("digest", "messages"), 2, 2, 4, 4),
    "shown/errors": (length("check", "errors", source="x"), 2, 2, 4, 4),
    "shown/goals": (length("check", "goals", source="x"), 2, 2, 4, 4),
    "shown/error_bytes": (length("check", "errors", 0, "text", source="x"), 100, 100, 300, 300),
    "shown/goal_bytes": (length("check", "goals", 0, source="x"), 100, 100, 300, 300),
    "shown/attempts": (attempts_shown, 1, 1, 3, 3),
    "shown/missing": (length("submit", "missing"), 2, 2, 4, 4),
    "shown/statement_bytes": (length("submit", "missing", 1, "statement"), 80, 80, 300, 300),
    "shown/events": (length("wait", "events"), 2, 2, 4, 4),
    "delta_bytes": (news_lines, 200, 2, 1500, 7),
    "reply_bytes": (reply_kilobytes, 4000, 3, 8000, 7),
    "wait_max_s": (waited_for, 1.0, "nothing in 1 s", 2.0, "nothing in 1.2 s"),
    "find_limit": (length("find", "hits", q="word"), 2, 2, 4, 4),
    "repeat_window_s": (is_a_retry, 0, False, 60, True),
    "rates/calls_per_s": (was_slowed_down, 1, True, 50, False),
}
"""Knob → what is looked at, then twice a value of the knob and what is seen under it."""

BY_THE_BUS = {"open_parts_max", "roles", "portfolio"}
"""Knobs that the tests at the end, or `test_only_so_many_parts_may_be_open`, look at through a daemon."""


def test_no_knob_is_left_out() -> None:
    policy = read_files(default_bundle_folder())["policy.json"]
    assert {knob.component.partition("#/")[2] for knob in knobs(policy, policy)} == {*LOOKS, *BY_THE_BUS}


@pytest.mark.parametrize("knob", LOOKS)
async def test_a_knob_changes_what_an_agent_meets(board: Board, knob: str) -> None:
    look, *values = LOOKS[knob]
    for value, expected in (values[:2], values[2:]):
        policy = msgspec.to_builtins(BUNDLE.policy)
        *path, last = knob.split("/")
        place = policy
        for step in path:
            place = place[step]
        place[last] = value
        room = Room(board, f"{knob}-{value}".replace("/", "-"), msgspec.convert(policy, Policy))
        await room.fill()
        assert await look(room) == expected, f"{knob} = {value}"


async def test_roles_and_portfolio_reach_agents(link: Link) -> None:
    limits = {"roles": {"default": ["scout", "planner"]}, "portfolio": ["rewrite", "simp_all"]}
    episode = (await open_episode(link, limits=limits)).episode
    joined = [await register(link, episode, name) for name in ("ada", "bob", "cyd")]
    assert [one.role for one in joined] == ["scout", "planner", "scout"]
    assert [one.portfolio for one in joined] == [["rewrite", "simp_all"]] * 3
