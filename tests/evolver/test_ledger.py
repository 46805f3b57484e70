"""The ledger: one writer, whole lines, and no change that stays unseen."""

import multiprocessing
import os
from multiprocessing.synchronize import Event
from pathlib import Path

import msgspec
import pytest

from adapter_server.evolver.events import BudgetRaised, Frozen, Reference, RolledBack, RunStarted
from adapter_server.evolver.ledger import Ledger, open_ledger, read_ledger, sealed, torn_line
from adapter_server.evolver.plan import Plan, Tasks, check_plan
from adapter_server.evolver.state import fold
from bus.errors import BadArguments, BadLedger
from bus.records import Task

PLAN = Plan(budget={"episodes": 100}, episode_cost={"episodes": 1}, confirm_pairs=5)


def tasks(count: int = 5, prefix: str = "c") -> list[Task]:
    return [Task(id=f"{prefix}{number}", family="f", path="") for number in range(count)]


def started() -> RunStarted:
    splits = Tasks(search=tasks(prefix="s"), confirm=tasks())
    return RunStarted(plan=PLAN, tasks=splits, champion=Reference(bundle="ab1-0", epoch=0), config_hash="x")


def filled(path: Path, *, events: int = 3) -> Path:
    with open_ledger(path, clock=lambda: 1.5) as ledger:
        ledger.append(started())
        for number in range(events - 1):
            ledger.append(Frozen(reason=f"reason {number}"))
    return path


def test_what_was_written_is_read_in_order(tmp_path: Path) -> None:
    entries = read_ledger(filled(tmp_path / "ledger.jsonl"))
    assert [entry.seq for entry in entries] == [1, 2, 3]
    assert entries[2].prev == entries[1].hash
    assert fold(entries).frozen == "reason 1"


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_torn_last_line_is_set_aside_and_the_ledger_goes_on(tmp_path: Path, kept: int) -> None:
    whole = filled(tmp_path / "whole" / "ledger.jsonl").read_bytes()
    torn = whole.splitlines(keepends=True)[2][:kept]
    path = filled(tmp_path / "ledger.jsonl", events=2)
    with path.open("ab") as file:
        file.write(torn)
    assert len(read_ledger(path)) == 2
    assert torn_line(path) == 3
    with open_ledger(path, clock=lambda: 1.5) as ledger:
        assert len(ledger.entries) == 2
        assert [file.read_bytes() for file in tmp_path.glob("*.torn-*")] == [torn]
        ledger.append(Frozen(reason="reason 1"))
    assert path.read_bytes() == whole
    assert torn_line(path) is None


@pytest.mark.parametrize("kept", [0, 1, 2])
@pytest.mark.parametrize("half", [b"", b'{"seq":'])
def test_lines_cut_off_the_end_are_no_crash_and_the_first_is_named(tmp_path: Path, kept: int, half: bytes) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    cut = b"".join(path.read_bytes().splitlines(keepends=True)[:kept]) + half
    path.write_bytes(cut)
    for attempt in (lambda: read_ledger(path), lambda: open_ledger(path).__enter__()):
        with pytest.raises(BadLedger, match="cut off") as caught:
            attempt()
        assert caught.value.facts == {"line": kept + 1, "last": 3}
    assert path.read_bytes() == cut
    assert not list(tmp_path.glob("*.torn-*"))


def test_a_ledger_that_is_gone_while_its_anchor_is_there_was_cut_off(tmp_path: Path) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    path.unlink()
    for attempt in (lambda: read_ledger(path), lambda: open_ledger(path).__enter__()):
        with pytest.raises(BadLedger, match="lines 1 to 3 were cut off"):
            attempt()


def test_an_end_written_anew_with_right_hashes_is_noticed(tmp_path: Path) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    forged = sealed(Frozen(reason="another"), after=read_ledger(path)[1], at=1.5)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + msgspec.json.encode(forged) + b"\n")
    with pytest.raises(BadLedger, match=r"line 3 of .* is not the one"):
        read_ledger(path)


@pytest.mark.parametrize("content", [None, b"", b"{", b'{"lines":"3","head":""}'])
def test_without_a_readable_anchor_a_ledger_is_not_believed(tmp_path: Path, content: bytes | None) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    path.with_suffix(".anchor").unlink()
    if content is not None:
        path.with_suffix(".anchor").write_bytes(content)
    for attempt in (lambda: read_ledger(path), lambda: open_ledger(path).__enter__()):
        with pytest.raises(BadLedger, match="anchor"):
            attempt()


def test_a_crash_between_a_line_and_its_anchor_loses_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    whole, anchor = path.read_bytes(), path.with_suffix(".anchor")
    for events in (1, 2):
        behind = filled(tmp_path / str(events) / "ledger.jsonl", events=events).with_suffix(".anchor").read_bytes()
        anchor.write_bytes(behind)
        with open_ledger(path) as ledger:
            assert len(ledger.entries) == 3
    first = tmp_path / "first.jsonl"
    first.write_bytes(whole.splitlines(keepends=True)[0])
    with open_ledger(first, clock=lambda: 1.5) as ledger:
        ledger.append(Frozen(reason="reason 0"))
    assert len(read_ledger(first)) == 2


@pytest.mark.parametrize("line", [1, 2, 3])
@pytest.mark.parametrize("old_and_new", [(b'"at":1.5', b'"at":1.6'), (b'"event":{', b'"event": {'), (b"{", b"[")])
def test_an_edited_line_is_named(tmp_path: Path, line: int, old_and_new: tuple[bytes, bytes]) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(*old_and_new, 1)
    path.write_bytes(b"".join(lines))
    for attempt in (lambda: read_ledger(path), lambda: open_ledger(path).__enter__()):
        with pytest.raises(BadLedger, match=f"line {line} ") as caught:
            attempt()
        assert caught.value.facts["line"] == line


@pytest.mark.parametrize("order", [(0, 2), (0, 2, 1), (1, 2), (0, 1, 1, 2)])
def test_lines_taken_out_moved_or_doubled_are_noticed(tmp_path: Path, order: tuple[int, ...]) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[number] for number in order))
    with pytest.raises(BadLedger, match="line"):
        read_ledger(path)


def hold(path: Path, is_held: Event, is_done: Event) -> None:
    with open_ledger(path):
        is_held.set()
        is_done.wait(60)


def test_a_second_writer_fails_while_readers_work(tmp_path: Path) -> None:
    path = filled(tmp_path / "ledger.jsonl")
    context = multiprocessing.get_context("fork")
    is_held, is_done = context.Event(), context.Event()
    holder = context.Process(target=hold, args=(path, is_held, is_done))
    holder.start()
    assert is_held.wait(60)
    with pytest.raises(BadLedger, match=f"process {holder.pid}"), open_ledger(path):
        pass
    assert len(read_ledger(path)) == 3
    is_done.set()
    holder.join(60)
    with open_ledger(path) as ledger:
        assert len(ledger.entries) == 3


def test_state_is_the_same_whether_folded_from_the_file_or_kept_while_writing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with open_ledger(path) as ledger:
        ledger.append(started())
        ledger.append(BudgetRaised(amounts={"episodes": 3}))
        ledger.append(RolledBack(reason="by hand", champion=Reference(bundle="ab1-1", epoch=1)))
        kept = fold(ledger.entries)
    assert fold(read_ledger(path)) == kept
    assert kept.raised == {"episodes": 3.0}


def test_a_ledger_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadLedger, match="there is no ledger"):
        read_ledger(tmp_path / "none.jsonl")
    with open_ledger(tmp_path / "ledger.jsonl") as ledger:
        with pytest.raises(BadLedger, match="empty"):
            fold(ledger.entries)
        ledger.append(Frozen(reason="first"))
        with pytest.raises(BadLedger, match="run_started"):
            fold(ledger.entries)


def test_a_full_disk_is_an_error_that_says_so() -> None:
    if os.path.exists("/dev/full"):  # noqa: PTH110 - a device
        ledger = Ledger(Path("/dev/full"), [], clock=lambda: 0.0)
        with pytest.raises(BadLedger, match="No space"):
            ledger.append(started())
        with pytest.raises(BadLedger, match="could not be written before"):
            ledger.append(started())


@pytest.mark.parametrize(
    ("plan", "splits", "words"),
    [
        (PLAN, Tasks(search=tasks(), confirm=tasks()), "is in search and in confirm"),
        (PLAN, Tasks(search=[], confirm=tasks()), "no search tasks"),
        (PLAN, Tasks(search=tasks(1, "s"), confirm=tasks(4)), "has 4"),
        (
            PLAN,
            Tasks(
                search=[Task(id="a", family="f", path="", statement_hash="h")],
                confirm=[*tasks(), Task(id="b", family="f", path="", statement_hash="h")],
            ),
            "say the same",
        ),
        (
            Plan(budget={"usd": 1}, episode_cost={"checks": 1}, confirm_pairs=5),
            Tasks(search=tasks(1, "s"), confirm=tasks()),
            "bound in episode_cost",
        ),
    ],
)
def test_a_plan_that_cannot_be_honest_is_refused(plan: Plan, splits: Tasks, words: str) -> None:
    with pytest.raises(BadArguments, match=words):
        check_plan(plan, splits)
