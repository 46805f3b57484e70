"""Checks that outlive their calls, against a real store; how long Lean takes is decided by the test."""

from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import msgspec
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.data_folder import open_data_folder
from adapter_server.embedded_store import open_store
from adapter_server.settings import Settings
from adapter_server.staging import load_bundle
from adapter_server.tools.caller import Caller
from adapter_server.tools.dispatcher import Answer, Dispatcher
from blackboard.board import Board
from blackboard.types import NodeDraft
from bus.errors import LeanUnavailable
from bus.tasks import background_tasks
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, Verdict

pytestmark = pytest.mark.anyio

BUNDLE = load_bundle(default_bundle_folder())
REPORT = CheckReport(
    verdicts=(Verdict(name="t", outcome="rejected", reasons=("no",)),), messages=(), goals=()
)  # fmt: skip


class SlowLean:
    """Checks end when the test says so, with what the test says."""

    def __init__(self) -> None:
        self.calls = 0
        self.may_end = anyio.Event()
        self.failure: Exception | None = None

    async def check(self, _episode: str, **_arguments: object) -> CheckReport:
        self.calls += 1
        await self.may_end.wait()
        if self.failure:
            raise self.failure
        return REPORT


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Board]:
    settings = Settings(data=str(tmp_path / "data"))
    open_data_folder(settings.data_path)
    async with open_store(settings) as store, Board.open(store.url) as board:
        await board.open_episode("e", NodeDraft(name="main", statement="P", statement_hash="p"), BUNDLE.id, {})
        for agent in ("ada", "bob"):
            await board.join("e", agent, "prover")
        yield board


@pytest.fixture
def lean() -> SlowLean:
    return SlowLean()


@pytest.fixture
async def tools(board: Board, lean: SlowLean) -> AsyncGenerator[Dispatcher]:
    store = cast(LemmaStore, SimpleNamespace(check=lean.check))
    async with background_tasks() as tasks:
        yield Dispatcher(board=board, lemma_store=store, on_change=lambda _: None, tasks=tasks)


def caller(agent: str = "ada") -> Caller:
    return Caller(episode="e", agent=agent, role="prover", version=BUNDLE, policy=BUNDLE.policy)


def facts(answer: Answer) -> dict[str, Any]:
    return msgspec.json.decode(answer.text.split("\n")[1])


async def begin(tools: Dispatcher, source: str = "x") -> str:
    begun = facts(await tools.call(caller(), "check", {"source": source, "wait_s": 1}))
    assert begun["state"] == "running"
    return begun["job"]


async def test_a_job_goes_on_after_its_call_and_its_end_is_news(tools: Dispatcher, lean: SlowLean) -> None:
    job = await begin(tools)
    assert facts(await tools.call(caller("bob"), "job", {"id": job, "wait_s": 0}))["state"] == "running"
    lean.may_end.set()
    waited = await tools.call(caller(), "wait", {"for": ["job"], "ref": job, "timeout_s": 10})
    assert facts(waited)["events"][0]["job"] == job
    done = await tools.call(caller(), "job", {"id": job})
    assert done.text.startswith("not accepted: no\n")
    assert (facts(done)["job"], facts(done)["state"]) == (job, "done")


async def test_the_same_check_again_joins_the_job_that_runs(tools: Dispatcher, lean: SlowLean) -> None:
    assert await begin(tools) == await begin(tools)
    assert lean.calls == 1
    assert await begin(tools, "y") != await begin(tools)


async def test_only_its_author_cancels_a_job(tools: Dispatcher) -> None:
    job = await begin(tools)
    assert facts(await tools.call(caller("bob"), "job", {"id": job, "cancel": True}))["code"] == "bad_arguments"
    cancelled = facts(await tools.call(caller(), "job", {"id": job, "cancel": True, "wait_s": 5}))
    assert cancelled == {"job": job, "state": "cancelled"}


async def test_a_job_that_fails_says_so_to_who_follows_it(tools: Dispatcher, lean: SlowLean) -> None:
    job = await begin(tools)
    lean.failure = LeanUnavailable("Lean is gone")
    lean.may_end.set()
    assert facts(await tools.call(caller(), "job", {"id": job, "wait_s": 5}))["code"] == "lean_unavailable"


async def test_an_agent_cannot_pile_up_jobs(tools: Dispatcher, lean: SlowLean) -> None:
    async def one(number: int) -> None:
        await tools.call(caller(), "check", {"source": f"x{number}", "wait_s": 1})

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(one, number)
    assert lean.calls == 8
    assert facts(await tools.call(caller(), "check", {"source": "more", "wait_s": 1}))["code"] == "queue_full"
