"""What people are told follows from the events; run folders keep what was asked for and how it ended."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live

from bus.errors import BadArguments
from bus.messages import AgentSummary, Credit, EpisodeStatus, Event, EventKind
from scenarios.lean.live_view import PlainView, TerminalView, live_view, plan_tree
from scenarios.lean.problem import LeanProblem
from scenarios.lean.report import print_report
from scenarios.lean.run_folder import RunFolder, free_path, new_run_folder
from scenarios.lean.run_record import RunOrder, RunRecord, record_of_end, record_of_stop
from scenarios.lean.run_state import RunState
from scenarios.lean.team import parse_team

ORDER = RunOrder(
    problem=LeanProblem(name="p", source="theorem t : 1 = 1 := by sorry\n", theorem="t"), team="tactician:2"
)


def event(seq: int, kind: EventKind, *, actor: str = "ann", **body: object) -> Event:
    return Event(episode="e", seq=seq, kind=kind, actor=actor, at_ms=1_000 * seq, body=body)


STORY = [
    event(1, "episode_opened", actor="server", root="n0"),
    event(2, "node_added", actor="server", node="n0", name="target", statement="A"),
    event(3, "agent_joined", agent="ann", role="planner"),
    event(4, "agent_joined", actor="bob", agent="bob", role="prover"),
    event(5, "lease_granted", node="n0", agent="ann", fence=1, approach="induction"),
    event(6, "node_added", node="n1", name="part", statement="B"),
    event(7, "alternative_added", alternative="a1", parent="n0", children=["n1"], glue="l0"),
    event(8, "lease_granted", actor="bob", node="n1", agent="bob", fence=1, approach=""),
    event(9, "check_finished", actor="bob", agent="bob", node="n1", accepted=["part"], rejected=0, undecided=0, ms=5),
    event(10, "lemma_accepted", actor="bob", lemma="l1", name="part_1", author="bob", statement="B", uses=[]),
    event(11, "node_closed", actor="bob", node="n1", lemma="l1"),
    event(12, "lemma_accepted", lemma="l2", name="target_2", author="ann", statement="A", closes=["n0"], uses=["l1"]),
    event(13, "node_closed", node="n0", lemma="l2"),
    event(14, "message_sent", message="m1", type="note", to=[], text="done", **{"from": "ann"}),
    event(15, "episode_closed", actor="server", status="solved", reason="checked"),
]  # fmt: skip


def told(events: list[Event]) -> tuple[RunState, list[str]]:
    state = RunState()
    return state, [line for one in events for line in state.take(one)]


def test_the_story_of_an_episode_is_told_line_by_line() -> None:
    state, lines = told(STORY)
    assert lines == [
        "ann joins as planner",
        "bob joins as prover",
        "ann claims target (induction)",
        "ann adds part: B",
        "ann splits target into part",
        "bob claims part",
        "bob proves part_1: B",
        "part is closed by part_1",
        "ann proves target_2: A",
        "ann reuses part_1 by bob",
        "target is closed by target_2",
        "ann to everyone: done",
        "the episode ends: solved (checked)",
    ]
    assert state.is_target_proved
    assert (state.status, state.seconds, state.checks) == ("solved", 14.0, 1)
    assert (state.agents["bob"].lemmas, state.agents["bob"].reused, state.agents["bob"].doing) == (1, 1, "")
    assert [node.id for node in state.children("n0")] == ["n1"]


def test_leases_come_and_go() -> None:
    state, _ = told(STORY[:8])
    assert state.nodes["n1"].holders == {"bob": ""}
    assert state.take(event(9, "lease_expired", actor="server", node="n1", agent="bob")) == [
        "bob loses (time is over) part"
    ]
    assert state.agents["bob"].doing == ""
    state.take(event(10, "lease_granted", node="n1", agent="ann", approach=""))
    handed = event(11, "lease_handed_off", node="n1", to="bob", **{"from": "ann"})
    assert state.take(handed) == ["ann hands part to bob"]
    assert state.nodes["n1"].holders == {"bob": ""}
    assert state.agents["ann"].doing == "target"
    state.take(event(12, "lease_released", actor="bob", node="n1", agent="bob"))
    assert state.nodes["n1"].holders == {}


def test_an_event_of_an_unknown_kind_or_without_its_facts_changes_nothing() -> None:
    state = RunState()
    assert state.take(event(1, "attempt_noted")) == []
    assert state.take(event(2, "node_closed")) == []


def screen() -> Console:
    return Console(width=110, record=True, file=io.StringIO())


def test_a_refuted_target_is_told_with_its_witness() -> None:
    state, lines = told([*STORY[:4], event(5, "node_refuted", actor="bob", node="n0", lemma="l1", witness="nil")])
    assert lines[-1] == "bob refutes target at nil"
    assert (state.nodes["n0"].is_refuted, state.witness) == (True, "nil")


def test_plain_lines_tell_the_story() -> None:
    console = screen()
    view = PlainView(console)
    view.begin(ORDER, "A")
    state = RunState()
    for one in STORY:
        view.show(state, state.take(one))
    lines = console.export_text().splitlines()
    assert lines[0].endswith("p: to prove A")
    assert any(line.endswith("bob proves part_1: B") for line in lines)


def test_the_plan_shows_who_holds_what() -> None:
    console = screen()
    console.print(plan_tree(told(STORY[:9])[0]))
    assert "… part  B  ← bob" in console.export_text()


def test_a_terminal_gets_a_picture_with_plan_team_and_news() -> None:
    console = screen()
    view = TerminalView(Live(console=console, auto_refresh=False))
    view.begin(ORDER, "A")
    state = RunState()
    for one in STORY:
        view.show(state, state.take(one))
    console.print(view.picture())
    text = console.export_text()
    for expected in ("2 lemmas, 1 checks, solved", "bob", "✓ target  A", "✓ part  B", "ann reuses part_1 by bob"):
        assert expected in text


def test_a_silent_run_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with live_view(is_silent=True) as view:
        view.begin(ORDER, "A")
        view.show(*told(STORY))
        view.note("x")
    assert capsys.readouterr() == ("", "")


def test_the_report_shows_proof_credit_and_certificate(tmp_path: Path) -> None:
    folder = new_run_folder(tmp_path / "run", ORDER)
    folder.proof_file.write_text("theorem t : 1 = 1 := rfl\n")
    status = EpisodeStatus(
        episode="e",
        status="solved",
        statement="A",
        seconds=2.5,
        lemmas=2,
        checks=1,
        agents=[AgentSummary(name="bob", lemmas=1, used=1)],
        certificate="/x/certificate.json",
        credit=[
            Credit(lemma="l1", name="part_1", author="bob", used_by=["target_2"]),
            Credit(lemma="l2", name="t2", author="ann"),
        ],
    )
    record = record_of_end(ORDER, status, seconds=2.5, exit_codes={"bob": 0}, reason="")
    console = screen()
    print_report(record, folder, console)
    text = console.export_text()
    for expected in (
        "theorem t : 1 = 1 := rfl",
        "part_1",
        "target_2",
        "the theorem itself",
        "solved in 2.5 s: 2 lemmas, 1 checks",
    ):
        assert expected in text
    assert "certificate: /x/certificate.json" in text
    assert list(record.summary()) == ["status", "seconds", "lemmas", "checks", "certificate", "agents"]


def test_a_run_folder_keeps_order_events_and_record(tmp_path: Path) -> None:
    folder = new_run_folder(tmp_path / "run", ORDER)
    assert folder.order() == ORDER
    assert folder.record() is None
    for one in STORY:
        folder.keep_event(one)
    with folder.events_file.open("ab") as file:
        file.write(b'{"episode": "e", "se')  # what a crash leaves
    assert folder.last_seq() == 15
    assert folder.events() == STORY
    record = record_of_stop(ORDER, told(STORY)[0], seconds=3.0, status="interrupted", reason="stopped by a signal")
    folder.save_record(record)
    assert folder.record() == record
    assert (record.lemmas, record.checks, record.agents["bob"].lemmas) == (2, 1, 1)


def test_a_run_never_mixes_with_what_is_there(tmp_path: Path) -> None:
    new_run_folder(tmp_path / "run", ORDER)
    with pytest.raises(BadArguments, match="holds a run already"):
        new_run_folder(tmp_path / "run", ORDER)
    with pytest.raises(BadArguments, match="not empty"):
        new_run_folder(tmp_path, ORDER)
    with pytest.raises(BadArguments, match="holds no run"):
        RunFolder(tmp_path).order()
    (tmp_path / "run.json").write_text('{"format": "adapter-server run 0"}')
    with pytest.raises(BadArguments, match="cannot be understood"):
        RunFolder(tmp_path).order()
    (tmp_path / "file").write_text("")
    with pytest.raises(BadArguments, match="cannot make"):
        new_run_folder(tmp_path / "file" / "run", ORDER)


def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    folder = new_run_folder(tmp_path / "run", ORDER)
    folder.order_file.write_text(folder.order_file.read_text().replace("run 1", "run 7"))
    with pytest.raises(BadArguments, match="another version: adapter-server run 7"):
        folder.order()


def test_free_paths_count_up(tmp_path: Path) -> None:
    assert free_path(tmp_path / "runs", "demo") == tmp_path / "runs" / "demo-1"
    for name in ("demo-2", "demo-10", "demo-x"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    assert free_path(tmp_path / "runs", "demo") == tmp_path / "runs" / "demo-11"


def test_a_team_is_named_by_kind_and_count() -> None:
    team = parse_team("tactician:2,tactician", seed=3)
    assert [member.name for member in team] == ["tactician-1", "tactician-2", "tactician-3"]
    assert len({member.seed for member in (*team, *parse_team("tactician:64", seed=2))}) == 67


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not of the form"),
        ("tactician:x", "not of the form"),
        ("tactician:0", "at least one"),
        ("tactician:65", "at most 64"),
        ("oracle:1", "no agent of kind oracle"),
    ],
)
def test_any_other_team_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        parse_team(text)


def test_the_summary_of_a_record_is_what_programs_read() -> None:
    record = RunRecord(status="unsolved", seconds=1.0)
    assert record.summary() == {
        "status": "unsolved", "seconds": 1.0, "lemmas": 0, "checks": 0, "certificate": None, "agents": {},
    }  # fmt: skip
