"""Checks that outlive their calls, against a real store; how long Lean takes is decided by the test."""

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import anyio.lowlevel
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
from blackboard.jobs import JobRecord
from blackboard.types import NodeDraft
from bus.errors import LeanUnavailable
from bus.tasks import background_tasks
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, Verdict
from tests.adapter_server.conftest import APP_NIL_PROOF, DaemonProcess, agent_client, open_episode, register

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


@asynccontextmanager
async def a_run_of_the_server(board: Board, lean: SlowLean) -> AsyncGenerator[Dispatcher]:
    store = cast(LemmaStore, SimpleNamespace(check=lean.check))
    async with background_tasks() as tasks:
        yield Dispatcher(board=board, lemma_store=store, on_change=lambda _: None, tasks=tasks)


@pytest.fixture
async def tools(board: Board, lean: SlowLean) -> AsyncGenerator[Dispatcher]:
    async with a_run_of_the_server(board, lean) as tools:
        yield tools


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


@pytest.mark.parametrize("failure", [None, LeanUnavailable("Lean is gone")], ids=["answered", "failed"])
async def test_what_came_of_a_job_is_answered_by_the_next_run_of_the_server(
    board: Board, lean: SlowLean, failure: Exception | None
) -> None:
    async with a_run_of_the_server(board, lean) as tools:
        job = await begin(tools)
        lean.failure = failure
        lean.may_end.set()
        before = await tools.call(caller(), "job", {"id": job, "wait_s": 5})
        with anyio.fail_after(5):
            while (record := await board.job("e", job)) is None or record.state == "running":
                await anyio.lowlevel.checkpoint()
    async with a_run_of_the_server(board, lean) as tools:
        after = await tools.call(caller("bob"), "job", {"id": job})
        assert (facts(after), after.is_error) == (facts(before), before.is_error)
        assert after.text.split("\n")[0] == before.text.split("\n")[0]


async def test_a_job_that_a_restart_cut_off_says_that_it_has_to_be_repeated(board: Board, lean: SlowLean) -> None:
    async with a_run_of_the_server(board, lean) as tools:
        job = await begin(tools)
    async with a_run_of_the_server(board, lean) as tools:
        answer = await tools.call(caller(), "job", {"id": job, "wait_s": 5})
        assert facts(answer) == {"job": job, "state": "interrupted", "check_again": True}
        assert "check again" in answer.text
        lean.may_end.set()
        assert facts(await tools.call(caller(), "check", {"source": "x"}))["verdicts"]


async def test_a_job_that_was_cancelled_stays_so(board: Board, lean: SlowLean) -> None:
    async with a_run_of_the_server(board, lean) as tools:
        job = await begin(tools)
        await tools.call(caller(), "job", {"id": job, "cancel": True, "wait_s": 5})
        with anyio.fail_after(5):
            while (record := await board.job("e", job)) is None or record.state == "running":
                await anyio.lowlevel.checkpoint()
    async with a_run_of_the_server(board, lean) as tools:
        assert facts(await tools.call(caller(), "job", {"id": job})) == {"job": job, "state": "cancelled"}


async def test_only_so_many_jobs_are_remembered(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blackboard.jobs.KEPT", 2)
    for name in ("j1", "j2", "j3"):
        await board.record_job("e", JobRecord(id=name, agent="ada"))
    assert [await board.job("e", name) is None for name in ("j1", "j2", "j3")] == [True, False, False]


@pytest.mark.slow
async def test_jobs_over_a_kill_of_a_real_server(fresh_daemon: DaemonProcess) -> None:
    texts = [f"theorem t{at} : ∀ (x : L), app x .nil = x := {APP_NIL_PROOF.partition(':= ')[2]}" for at in range(800)]
    async with fresh_daemon.bus() as link:
        joined = await register(link, (await open_episode(link)).episode, "ada")
    async with agent_client(joined) as ada:
        short = await ada.ok("check", source="\n".join(texts[:400]), wait_s=1)
        done = await ada.ok("job", id=short["job"], wait_s=44)
        long = await ada.ok("check", source="\n".join(texts), wait_s=1)
    fresh_daemon.stop(signal.SIGKILL)
    fresh_daemon.start()
    async with agent_client(joined) as ada:
        again = await ada.ok("job", id=short["job"])
        assert (again["ms"], again["state"], again["verdicts"][:9]) == (done["ms"], "done", done["verdicts"][:9])
        assert (await ada.ok("job", id=long["job"]))["state"] == "interrupted"
        assert (await ada.ok("check", source=texts[0]))["verdicts"][0]["outcome"] == "accepted"
