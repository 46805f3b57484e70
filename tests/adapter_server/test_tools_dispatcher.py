"""What goes wrong inside the server, as agents meet it: real Valkey, and a Lean side that is out of order."""

from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import msgspec
import pytest

from adapter_server import settling as settling_module
from adapter_server.bundle import default_bundle_folder
from adapter_server.data_folder import open_data_folder
from adapter_server.embedded_store import open_store
from adapter_server.settings import Settings
from adapter_server.settling import Settling
from adapter_server.staging import load_bundle
from adapter_server.tools import dispatcher as dispatcher_module
from adapter_server.tools.caller import Caller
from adapter_server.tools.claim import seconds_left
from adapter_server.tools.closing import settle
from adapter_server.tools.dispatcher import Answer, Dispatcher
from adapter_server.tools.statements import shown
from blackboard.board import Board
from blackboard.types import LemmaNote, NodeDraft
from bus.errors import LeanUnavailable, NotLean, StorageUnavailable
from bus.tasks import background_tasks
from lemma_store.store import LemmaStore
from lemma_store.types import CheckReport, LeanMessage, Statement, Verdict
from tests.blackboard.servers import running_valkey

pytestmark = pytest.mark.anyio

BUNDLE = load_bundle(default_bundle_folder())


class Broken:
    """A Lean side that fails in the way that a test wants, then works as far as the test needs it."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)

    async def lemmas(self, _episode: str) -> list[Any]:
        if self.failures:
            raise self.failures.pop(0)
        return []

    async def check(self, _episode: str, **_arguments: object) -> None:
        raise self.failures.pop(0)

    async def compose(self, _episode: str, **_arguments: object) -> None:
        raise self.failures.pop(0)

    async def release(self, _episode: str) -> None:
        pass

    async def prepare(self, _episode: str) -> None:
        raise LeanUnavailable("no")

    def as_store(self) -> LemmaStore:
        return cast(LemmaStore, self)


@pytest.fixture
async def store_url(tmp_path: Path) -> AsyncGenerator[str]:
    settings = Settings(data=str(tmp_path / "data"))
    open_data_folder(settings.data_path)
    async with open_store(settings) as store:
        yield store.url


@pytest.fixture
async def board(store_url: str) -> AsyncGenerator[Board]:
    async with Board.open(store_url) as board:
        await board.open_episode("e", NodeDraft(name="main", statement="P", statement_hash="p"), BUNDLE.id, {})
        await board.join("e", "ada", "prover")
        yield board


def caller(**limits: Any) -> Caller:
    policy = msgspec.structs.replace(BUNDLE.policy, **limits)
    return Caller(episode="e", agent="ada", role="prover", version=BUNDLE, policy=policy)


def dispatcher(board: Board, *failures: Exception, changed: list[str] | None = None) -> Dispatcher:
    heard = changed if changed is not None else []
    return Dispatcher(board=board, lemma_store=Broken(*failures).as_store(), on_change=heard.append)


def facts(answer: Answer) -> dict[str, Any]:
    return msgspec.json.decode(answer.text.split("\n")[1])


async def test_a_defect_is_answered_with_a_trace_and_nothing_of_the_inside(board: Board) -> None:
    answer = await dispatcher(board, ZeroDivisionError("secret detail")).call(caller(), "check", {"source": "x"})
    assert answer.is_error
    assert facts(answer)["code"] == "internal"
    assert len(facts(answer)["trace"]) == 12
    assert "secret" not in answer.text


async def test_a_lean_side_that_is_down_is_a_typed_error(board: Board) -> None:
    answer = await dispatcher(board, LeanUnavailable("Lean is gone")).call(caller(), "check", {"source": "x"})
    assert facts(answer)["code"] == "lean_unavailable"


async def test_a_call_that_takes_too_long_is_cut_off(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher_module, "CALL_DEADLINE_S", 0.1)
    answer = await dispatcher(board).call(caller(), "wait", {"timeout_s": 30})
    assert (facts(answer)["code"], facts(answer)["retry"]) == ("deadline", True)


async def test_an_agent_that_floods_the_server_is_slowed_down(board: Board) -> None:
    tools, answers = dispatcher(board), list[Answer]()
    slow = caller(rates=msgspec.structs.replace(BUNDLE.policy.rates, calls_per_s=1))
    for _ in range(4):
        answers.append(await tools.call(slow, "digest", {}))
    assert [facts(answer).get("code") for answer in answers][-1] == "rate_limited"


async def test_without_the_store_reads_are_errors_and_never_empty(tmp_path: Path) -> None:
    with running_valkey(tmp_path) as server:
        async with Board.open(f"unix://{tmp_path / 's'}") as board:
            await board.open_episode("e", NodeDraft(name="main", statement="P", statement_hash="p"), BUNDLE.id, {})
            await board.join("e", "ada", "prover")
            tools = dispatcher(board)
            assert not (await tools.call(caller(), "digest", {})).is_error
            server.kill()
            server.wait(10)
            answer = await tools.call(caller(), "digest", {})
            assert (facts(answer)["code"], facts(answer)["retry"]) == ("storage_unavailable", True)


async def test_only_calls_that_something_may_follow_from_wake_the_server(board: Board) -> None:
    changed: list[str] = []
    tools = dispatcher(board, changed=changed)
    for name, arguments in (("digest", {}), ("plan", {"action": "show"}), ("submit", {})):
        assert not (await tools.call(caller(), name, arguments)).is_error
    await tools.call(caller(), "say", {"type": "note", "text": "x"})
    assert changed == []
    await tools.call(caller(), "check", {"source": "x"})
    assert changed == ["e"]


async def test_a_digest_says_wait_while_the_proof_is_put_together(board: Board) -> None:
    note = LemmaNote(id="l", name="l", statement="P", statement_hash="p", author="ada")
    assert (await board.record_lemma("e", "ada", note)).closed == ("n0",)
    digest = facts(await dispatcher(board).call(caller(), "digest", {}))
    assert (digest["phase"], digest["next"][0]["do"]) == ("assembling", "wait")
    refused = await dispatcher(board).call(
        caller(), "plan", {"action": "split", "parent": "n0", "children": ["n0"], "glue": "rfl"}
    )
    assert (facts(refused)["code"], facts(refused)["replacement"]) == ("gone", "l")


async def test_a_digest_proposes_what_fits_the_state_of_the_parts(board: Board) -> None:
    tools = dispatcher(board)
    await board.join("e", "bob", "prover")
    terms: dict[str, Any] = {"ttl_s": 60, "per_agent": 2, "per_node": 1}
    for _ in range(2):
        assert await board.claim_next("e", "ada", **terms)
        await board.release("e", "ada", node="n0", outcome="stuck")
    proposed = facts(await tools.call(caller(), "digest", {}))["next"]
    assert [one["do"] for one in proposed] == ["claim next", "plan split"]
    assert proposed[0]["why"] == "free, tried 2 times"
    await board.claim_next("e", "bob", **terms)
    await board.add_node("e", "bob", NodeDraft(name="part", statement="Q", statement_hash="q"))
    await board.claim("e", "bob", node="part", **terms)
    proposed = facts(await tools.call(caller(), "digest", {}))["next"]
    assert "claim next" not in [one["do"] for one in proposed]
    bob = msgspec.structs.replace(caller(leases_per_agent=2), agent="bob")
    assert [one["do"] for one in facts(await tools.call(bob, "digest", {}))["next"]] == ["check", "check"]


async def test_an_agent_without_anything_to_do_is_told_to_find_lemmas_or_wait(board: Board) -> None:
    await board.join("e", "bob", "prover")
    await board.claim_next("e", "bob", ttl_s=60, per_agent=1, per_node=1)
    proposed = facts(await dispatcher(board).call(caller(), "digest", {}))["next"]
    assert [one["do"] for one in proposed] == ["plan add", "wait"]


async def test_waiting_in_an_ended_episode_returns_at_once(board: Board) -> None:
    tools = dispatcher(board)
    await board.close_episode("e", "unsolved", "over")
    first = facts(await tools.call(caller(), "wait", {"timeout_s": 30}))
    assert [event["kind"] for event in first["events"]] == ["episode_closed"]
    with anyio.fail_after(5):
        assert facts(await tools.call(caller(), "wait", {"timeout_s": 30})) == {"events": [], "timed_out": False}


async def test_a_check_that_takes_longer_than_its_author_wants_is_given_up(board: Board) -> None:
    async def check(_episode: str, **_arguments: object) -> None:
        await anyio.sleep_forever()

    store = cast(LemmaStore, SimpleNamespace(check=check))
    tools = Dispatcher(board=board, lemma_store=store, on_change=lambda _: None)
    answer = await tools.call(caller(), "check", {"source": "x", "wait_s": 1})
    assert facts(answer)["code"] == "deadline"


async def test_only_the_first_errors_and_goals_of_a_check_are_shown(board: Board) -> None:
    messages = tuple(LeanMessage(severity="error", line=n, column=0, text=f"no {n}") for n in range(1, 9))
    report = CheckReport(
        verdicts=(Verdict(name="t", outcome="rejected", reasons=("no 1",)),), messages=messages, goals=("⊢ P",) * 5
    )
    reports = [report, msgspec.structs.replace(report, messages=())]

    async def check(_episode: str, **_arguments: object) -> CheckReport:
        return reports.pop(0)

    tools = Dispatcher(
        board=board, lemma_store=cast(LemmaStore, SimpleNamespace(check=check)), on_change=lambda _: None
    )
    answer = await tools.call(caller(), "check", {"source": "x"})
    assert answer.text.startswith("not accepted: line 1: no 1\n")
    assert (len(facts(answer)["errors"]), len(facts(answer)["goals"])) == (5, 3)
    assert facts(answer)["left_out"] == {"errors": 3, "goals": 2}
    assert (await tools.call(caller(), "check", {"source": "x"})).text.startswith("not accepted: no 1\n")


async def test_much_news_is_shortened_so_that_the_reply_keeps_its_facts(board: Board) -> None:
    await board.join("e", "bob", "prover")
    for number in range(30):
        await board.send("e", "bob", type="note", text=f"{number} " + "∀" * 300)
    answer = await dispatcher(board).call(caller(), "digest", {})
    news = answer.text.split("\nnews:\n")[1]
    assert len(news.encode()) <= BUNDLE.policy.delta_bytes + 200
    assert news.endswith("more with the next reply")


async def test_waiting_keeps_leases_alive(board: Board) -> None:
    short = caller(lease_s=6)
    tools = dispatcher(board)
    lease = await board.claim_next("e", "ada", ttl_s=6, per_agent=1, per_node=1)
    assert lease is not None
    assert not (await tools.call(short, "wait", {"timeout_s": 2.5})).is_error
    (renewed,) = await board.leases("e", "ada")
    assert renewed.expires_at_ms - lease.expires_at_ms >= 1900
    assert seconds_left(renewed) <= 6


async def test_an_alternative_that_does_not_compose_leaves_its_parent_open(board: Board) -> None:
    part = await board.add_node("e", "ada", NodeDraft(name="part", statement="Q", statement_hash="q"))
    await board.add_alternative("e", "ada", parent="n0", children=(part.id,), glue="glue")
    note = LemmaNote(id="l", name="l", statement="Q", statement_hash="q", author="ada")
    assert (await board.record_lemma("e", "ada", note)).ready == ("a1",)
    broken = Broken(LeanUnavailable("no"))
    assert await settle("e", board=board, lemma_store=broken.as_store()) is None
    assert not broken.failures
    assert (await board.node("e", "n0")).status == "open"


async def test_settling_is_tried_again_when_it_may_help_and_survives_defects(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling_module, "RETRY_S", 0.01)
    folder = open_data_folder(tmp_path / "data")
    for name in ("e", "never-opened"):
        (folder.episodes / name).mkdir()
    broken = Broken(StorageUnavailable("away"), StorageUnavailable("away"))
    with anyio.fail_after(5):
        async with background_tasks() as tasks:
            settling = await Settling.recover(folder, board=board, lemma_store=broken.as_store(), tasks=tasks)
            while broken.failures:
                await anyio.sleep(0.01)
            for failure in (LeanUnavailable("no"), ZeroDivisionError("defect")):
                broken.failures.append(failure)
                settling.nudge("e")
                settling.nudge("e")
                while broken.failures:
                    await anyio.sleep(0.01)
            settling.watch_time("e", seconds=0.01)
            while (await board.meta("e")).status == "open":
                await board.wait("e", await board.last_seq("e"), 1)
    assert (await board.meta("e")).status == "unsolved"


async def test_a_statement_is_shown_as_written_when_lean_cannot_read_what_it_prints() -> None:
    given = Statement(text=" P ∧ Q ", pretty="And P Q", hash="1")

    def reading(result: Statement | Exception) -> LemmaStore:
        async def elaborate(_episode: str, _text: str) -> Statement:
            if isinstance(result, Exception):
                raise result
            return result

        return cast(LemmaStore, SimpleNamespace(elaborate=elaborate))

    same = Statement(text="And P Q", pretty="And P Q", hash="1")
    other = Statement(text="And P Q", pretty="And P Q", hash="2")
    assert await shown(given, episode="e", lemma_store=reading(same)) == "And P Q"
    assert await shown(given, episode="e", lemma_store=reading(other)) == "P ∧ Q"
    assert await shown(given, episode="e", lemma_store=reading(NotLean("no"))) == "P ∧ Q"
    assert await shown(same, episode="e", lemma_store=reading(NotLean("no"))) == "And P Q"
