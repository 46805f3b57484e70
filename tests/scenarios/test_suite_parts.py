"""Tasks, splits and counts: what needs no server."""

from pathlib import Path
from typing import Any

import pytest

from adapter_server.evolver.statistics import mcnemar
from bus.errors import BadArguments
from bus.messages import Event
from bus.records import Caps, EpisodeRecord, Task
from clients.transcript import Account, ToolCalled, Transcript, Usage
from scenarios.lean.call_counts import call_counts, safety_counts
from scenarios.lean.episode_costs import spent_in
from scenarios.lean.episode_facts import busy_together, facts_of
from scenarios.lean.problem_files import shipped_problems, shipped_text
from scenarios.lean.run_record import AgentRecord, RunRecord
from scenarios.lean.suite_comparison import comparison_jobs, comparison_orders, pairing
from scenarios.lean.suite_tasks import find_tasks, spread
from scenarios.lean.task_splits import SPLITS, Shares, TaskSplits, split_tasks
from scenarios.lean.wake_latency import wake_ms


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """Two families of shipped problems."""
    for index, name in enumerate(shipped_problems()):
        folder = tmp_path / ("even", "odd")[index % 2]
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.lean").write_text(shipped_text(name))
    return tmp_path


def test_a_folder_a_list_and_a_file_name_the_same_tasks(problems: Path) -> None:
    whole = find_tasks([problems])
    assert len(whole) == len(shipped_problems())
    (problems / "list.txt").write_text("# all\neven\nodd\n")
    assert find_tasks([problems / "list.txt"]) == whole
    assert find_tasks([Path(whole[0].path)]) == whole[:1]
    assert {task.family for task in find_tasks([problems], only="odd/*")} == {"odd"}


@pytest.mark.parametrize("given", ["nowhere", "empty", "notes.md"])
def test_what_is_no_problem_is_refused(given: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.md").write_text("no problem")
    with pytest.raises(BadArguments):
        find_tasks([tmp_path / given])


def test_a_sample_is_spread_over_all() -> None:
    tasks = [Task(id=f"f/{number}", family="f", path="") for number in range(10)]
    assert [task.id for task in spread(tasks, 2)] == ["f/2", "f/7"]
    assert spread(tasks, 20) == tasks


def members(splits: TaskSplits) -> dict[str, set[str]]:
    return {name: {task.id for task in getattr(splits, name)} for name in SPLITS}


def test_splits_are_disjoint_complete_and_repeatable(problems: Path) -> None:
    tasks = find_tasks([problems])
    splits = split_tasks(tasks, seed=7)
    found = members(splits)
    assert sorted([*splits.left_out, *(task for one in found.values() for task in one)]) == [task.id for task in tasks]
    assert split_tasks(list(reversed(tasks)), seed=7) == splits
    assert members(split_tasks(tasks, seed=8)) != found


def test_one_statement_is_in_one_split_whatever_its_name(problems: Path) -> None:
    tasks = find_tasks([problems], only="even/*")
    text = Path(tasks[0].path).read_text()
    name = tasks[0].id.partition("/")[2]
    (problems / "odd" / "copy.lean").write_text(text.replace(f"theorem {name}", "theorem copied"))
    splits = split_tasks([*tasks, *find_tasks([problems], only="odd/copy")], seed=1)
    assert splits.left_out == ["odd/copy"]


def test_families_stay_together_where_asked(problems: Path) -> None:
    tasks = find_tasks([problems])
    apart = members(split_tasks(tasks, seed=3, are_families_apart=True, shares=Shares(guard=0, sealed=0)))
    families = [{task.partition("/")[0] for task in apart[name]} for name in ("search", "confirm")]
    assert sorted(map(sorted, families)) == [["even"], ["odd"]]
    guarded = split_tasks(tasks, seed=3, guard=["odd"])
    assert {task.family for task in guarded.guard} == {"odd"}
    assert "odd" not in {task.family for name in ("search", "confirm", "sealed") for task in getattr(guarded, name)}


def event(at_ms: int, kind: Any, actor: str = "server", **body: object) -> Event:
    return Event(episode="e", seq=at_ms, kind=kind, actor=actor, at_ms=at_ms, body=body)


def lemma(at_ms: int, author: str, name: str, uses: list[str]) -> Event:
    return event(at_ms, "lemma_accepted", author, lemma=name, statement=name[0], author=author, uses=uses)


EPISODE = [
    event(1000, "episode_opened", root="n0"),
    event(1000, "node_added", node="n0"),
    lemma(3000, "ada", "a1", []),
    event(3000, "check_finished", "ada", accepted=["a1"], ms=1500),
    lemma(3500, "bob", "a2", []),
    event(3500, "check_finished", "bob", accepted=["a2"], ms=1000),
    event(3600, "check_finished", "bob", accepted=[], ms=100),
    lemma(5000, "bob", "b1", ["a1", "a2"]),
    event(5000, "node_closed", "bob", node="n0"),
    event(5001, "check_finished", "bob", accepted=["b1"], ms=1000),
]


def test_work_is_counted_once_and_what_is_done_twice_shows() -> None:
    facts = facts_of([EPISODE])
    assert (facts.lemmas, facts.distinct_lemmas, facts.checks) == (3, 2, 4)
    wanted = {"useful_checks": 3, "check_s": 3.6, "both_busy_s": 0.5, "duplicates": 1, "reused": 1}
    assert facts.counters.items() >= wanted.items()
    assert facts.counters["proved_s"] == 4.0
    assert facts.counters["checks_to_proof"] == 4


def test_isolated_agents_repeat_each_other() -> None:
    alone = [event(at.at_ms, at.kind, "eve", **{**at.body, "author": "eve"}) for at in EPISODE]
    facts = facts_of([EPISODE, alone])
    assert facts.counters["duplicates"] == 4
    assert facts.counters["reused"] == 1


def test_overlap_counts_only_where_enough_run() -> None:
    assert busy_together([(0, 2), (1, 4), (1.5, 3)]) == 2.0
    assert busy_together([(0, 2), (1, 4), (1.5, 3)], at_least=3) == 0.5
    assert busy_together([(0, 1), (1, 2)]) == 0.0


def record(task: str, outcome: Any, **counters: float) -> EpisodeRecord:
    return EpisodeRecord(episode="e", task=task, bundle="b", purpose="user", outcome=outcome, counters=counters)


def test_arms_are_compared_problem_by_problem_and_invalid_ones_left_out() -> None:
    team = {task: record(task, "solved", checks_to_proof=5, proved_s=2) for task in "abcde"}
    other = {
        "a": record("a", "solved", checks_to_proof=10, proved_s=1),
        "b": record("b", "unsolved"),
        "c": record("c", "unsolved"),
        "d": record("d", "invalid"),
    }
    found = pairing("isolated", team, other, p_value=mcnemar)
    assert (found.pairs, found.wins, found.losses, found.p_value) == (3, 2, 0, 0.25)
    assert (found.check_ratio, found.time_ratio) == (0.5, 2.0)


def test_arms_differ_in_what_the_agents_share_and_in_nothing_else() -> None:
    tasks = [Task(id=f"f/{number}", family="f", path="") for number in range(9)]
    caps = Caps(seconds=60, checks=100)
    orders = comparison_orders(tasks, team="tactician:5", caps=caps, seed=3, jobs=1)
    assert {(order.seed, order.caps, tuple(order.tasks)) for order in orders.values()} == {(3, caps, tuple(tasks))}
    jobs = comparison_jobs(Path("nowhere"), orders)
    assert [job.task for job in jobs[::4]] == tasks
    assert len({job.order.arm for job in jobs[::4]}) > 1
    assert {job.order.arm for job in jobs[:4]} == {"single", "isolated", "unshared", "full"}


def test_refused_calls_and_waiting_in_vain_are_counted(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "ada.jsonl", secrets=[])
    for tool, text, is_error in (
        ("check", "ok", False),
        ("claim", "lease_full: taken", True),
        ("check", 'unsafe_source: `sorry` is not allowed\n{"code": "unsafe_source"}', True),
        ("find", "unknown_method: there is no tool find", True),
        ("wait", 'nothing in 2 s\n{"events": [], "timed_out": true}', False),
        ("wait", '1 events: node_added\n{"events": [{"seq": 3}], "timed_out": false}', False),
    ):
        transcript.add(ToolCalled(server="adapter", tool=tool, text=text, is_error=is_error))
    counts = {"tool_errors": 3, "stale_calls": 1, "idle_turns": 1}
    assert call_counts([transcript.path]) == counts
    assert safety_counts([transcript.path]) == {"unsafe_sources": 1}
    assert (call_counts([]), safety_counts([])) == ({}, {})


def test_what_models_used_is_summed_and_unknown_when_one_host_did_not_say() -> None:
    def agent(name: str, account: Account | None) -> RunRecord:
        return RunRecord(status="unsolved", seconds=2.0, agents={name: AgentRecord(calls=3, session=account)})

    told = Account(sessions=1, usage=Usage(input=100, cached=40, output=7), cost_usd=0.5)
    free = Account(sessions=1, usage=Usage(input=1, cached=0, output=1))
    both = spent_in([agent("codex-1", told), agent("codex-2", free)], team="codex:2", checks=5)
    assert (both.tokens_in, both.tokens_cached, both.tokens_out, both.usd, both.calls) == (101, 40, 8, None, 6)
    silent = spent_in([agent("codex-1", told), agent("codex-2", None)], team="codex:2", checks=5)
    assert (silent.tokens_in, silent.usd, silent.checks) == (None, None, 5)
    models = spent_in([agent("tactician-1", None)], team="tactician:1", checks=5)
    assert (models.tokens_in, models.tokens_out, models.usd) == (0, 0, 0.0)
    assert spent_in([], team="tactician:1", checks=0).tokens_in is None


def test_only_what_came_while_an_agent_waited_counts_as_waking_it(tmp_path: Path) -> None:
    (tmp_path / "ada.log").write_text(
        "2026-01-01 00:00:00 [info     ] agent_started                  agent=ada seed=0\n"
        "2026-01-01 00:00:01 [info     ] woken                          began_ms=900 seq=1000 woken_ms=1007\n"
        "2026-01-01 00:00:02 [info     ] woken                          began_ms=4000 seq=3000 woken_ms=4001\n"
    )
    assert wake_ms(tmp_path, EPISODE) == 7
    assert wake_ms(tmp_path / "nobody", EPISODE) is None
