"""Much of everything, and a store that is away for a while: bounded answers, typed errors, and work goes on."""

import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import msgspec
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.staging import load_bundle
from adapter_server.tools.caller import Caller
from adapter_server.tools.dispatcher import Answer, Dispatcher
from blackboard.board import Board
from blackboard.types import NodeDraft
from lemma_store.store import LemmaStore
from lemma_store.types import Hit, Lemma
from tests.blackboard.servers import running_valkey

pytestmark = pytest.mark.anyio

BUNDLE = load_bundle(default_bundle_folder())
NODES = 10_000
AWAY_S = float(os.environ.get("ADAPTER_TEST_AWAY_S", "2"))
"""A real outage is longer: the whole is ADAPTER_TEST_AWAY_S=30."""


class NoLemmas:
    """A lemma store without any: these tests are about the board."""

    async def lemmas(self, _episode: str) -> list[Lemma]:
        return []

    async def find(self, _episode: str, **_arguments: object) -> list[Hit]:
        return []


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Board]:
    with running_valkey(tmp_path):
        async with Board.open(f"unix://{tmp_path / 's'}") as board:
            await begin(board)
            yield board


async def begin(board: Board) -> None:
    await board.open_episode("e", NodeDraft(name="main", statement="P", statement_hash="p"), BUNDLE.id, {})
    for agent in ("ada", "bob"):
        await board.join("e", agent, "prover")


def tools_of(board: Board) -> Dispatcher:
    store = cast(LemmaStore, SimpleNamespace(lemmas=NoLemmas().lemmas, find=NoLemmas().find))
    return Dispatcher(board=board, lemma_store=store, on_change=lambda _: None)


async def call(tools: Dispatcher, tool: str, arguments: dict[str, Any] | None = None, *, agent: str = "ada") -> Answer:
    caller = Caller(episode="e", agent=agent, role="prover", version=BUNDLE, policy=BUNDLE.policy)
    answer = await tools.call(caller, tool, arguments or {})
    assert len(answer.text.encode()) <= BUNDLE.policy.reply_bytes
    return answer


def facts(answer: Answer) -> dict[str, Any]:
    return msgspec.json.decode(answer.text.split("\n")[1])


async def test_ten_thousand_parts_are_answered_in_bounds(board: Board) -> None:
    async def add(start: int) -> None:
        for number in range(start, start + NODES // 50):
            text = f"∀ (xs ys : list), length (append xs ys) = {number}"
            await board.add_node("e", "bob", NodeDraft(name=f"part{number}", statement=text, statement_hash=text))

    async with anyio.create_task_group() as tasks:
        for start in range(0, NODES, NODES // 50):
            tasks.start_soon(add, start)
    tools = tools_of(board)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("digest", {}),
        ("plan", {"action": "show"}),
        ("find", {"q": "length append"}),
        ("get", {"id": "n9999"}),
        ("claim", {"action": "next"}),
        ("wait", {"timeout_s": 1}),
    ]
    for tool, arguments in calls:
        answer = await call(tools, tool, arguments)
        assert not answer.is_error, answer.text
    shown = facts(await call(tools, "plan", {"action": "show"}))
    assert len(shown["nodes"]) + shown["left_out"]["nodes"] == NODES + 1
    assert (await call(tools, "find", {"q": "part4711"})).text.startswith("1 hits: part4711")


async def test_a_flood_of_messages_is_told_a_little_at_a_time(board: Board) -> None:
    async def flood(number: int) -> None:
        for at in range(100):
            await board.send("e", "bob", type="note", text=f"{number} {at} {'x' * 3_000}")

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(flood, number)
    tools = tools_of(board)
    told = set[str]()
    for _ in range(3):
        answer = await call(tools, "get", {"id": "m1"})
        news = [line for line in answer.text.split("\n") if " message_sent " in line]
        assert "more with the next reply" in answer.text
        assert told.isdisjoint(news)
        told.update(news)
    assert told
    assert not (await call(tools, "digest")).is_error
    assert not (await call(tools, "find", {"q": "x", "in": ["messages"]})).is_error
    assert not (await call(tools, "wait", {"for": ["mail"]})).is_error


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("say", {"type": "note", "text": "x" * 1_000_000}),
        ("feedback", {"text": "x" * 1_000_000}),
        ("check", {"source": "x" * 1_000_000}),
        ("plan", {"action": "add", "statement": "x" * 1_000_000}),
    ],
)
async def test_a_megabyte_is_refused_with_the_cap(board: Board, tool: str, arguments: dict[str, Any]) -> None:
    refused = facts(await call(tools_of(board), tool, arguments))
    assert refused["code"] == "too_large"
    assert refused["cap"] > 0
    assert await board.last_seq("e") == (await board.meta("e")).seq == 4


@pytest.mark.timeout(180)
async def test_while_the_store_is_away_calls_fail_and_then_work_goes_on_by_itself(tmp_path: Path) -> None:
    async with Board.open(f"unix://{tmp_path / 's'}") as board:
        with running_valkey(tmp_path) as server:
            await begin(board)
            tools = tools_of(board)
            assert not (await call(tools, "say", {"type": "note", "text": "before"})).is_error
            server.kill()
            server.wait(10)
        back_at = time.monotonic() + AWAY_S
        while time.monotonic() < back_at:
            for answer in (
                await call(tools, "digest"),
                await call(tools, "find", {"q": "before", "in": ["messages"]}),
                await call(tools, "say", {"type": "note", "text": "lost"}),
            ):
                failed = facts(answer)
                assert (failed["code"], failed["retry"]) == ("storage_unavailable", True)
                assert failed["hint"]
        with running_valkey(tmp_path):
            with anyio.fail_after(5):
                while (answer := await call(tools, "digest", agent="bob")).is_error:
                    await anyio.lowlevel.checkpoint()
            assert "before" in answer.text
            assert not (await call(tools, "say", {"type": "note", "text": "after"})).is_error
            assert [message.text for message in await board.messages("e")] == ["before", "after"]
