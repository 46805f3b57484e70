"""`adapter-server run`: a team on one problem."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import anyio
from rich.console import Console

from adapter_server.logs import configure_logs
from bus.errors import BadArguments
from clients.agent_spec import Budget
from clients.hosts import find_hosts
from scenarios.lean.live_view import live_view
from scenarios.lean.open_theorems import find_theorem
from scenarios.lean.problem import LeanProblem
from scenarios.lean.problem_files import load_problem, shipped_problems
from scenarios.lean.report import print_report
from scenarios.lean.run_folder import RunFolder, free_path, new_run_folder
from scenarios.lean.run_limits import RunLimits
from scenarios.lean.run_record import RunOrder, RunRecord, RunStatus
from scenarios.lean.runner import run
from scenarios.lean.team import Hosting, parse_by_kind, parse_team

from .exit_codes import INTERRUPTED, NOT_PROVED, OK, REFUTED, SERVICE_FAILURE

RUNS = Path("runs")
UNSAFE = ("--unsafe-no-sandbox",)
_EXIT_CODES: dict[RunStatus, int] = {
    "solved": OK,
    "refuted": REFUTED,
    "unsolved": NOT_PROVED,
    "closed": NOT_PROVED,
    "interrupted": INTERRUPTED,
    "failed": SERVICE_FAILURE,
}


def start_run(
    name: str | None,
    *,
    team: str,
    seconds: float,
    out: Path | None,
    server: str | None,
    token_file: Path | None,
    seed: int,
    is_json: bool,
    hosting: Hosting | None = None,
    project: Path | None = None,
    theorem: str | None = None,
    is_unsafe: bool = False,
) -> int:
    """Begin a run and see it to its end.

    Raises:
        AdapterError: bad input, or a part that cannot be started.
    """
    problem = _problem(name, project=project, theorem=theorem)
    find_hosts({member.kind for member in parse_team(team, seed=seed)}, os.environ)
    order = RunOrder(
        problem=problem,
        team=team,
        seed=seed,
        hosting=hosting or Hosting(),
        project=str(project.expanduser().absolute()) if project else None,
        server=server,
    )
    folder = new_run_folder(out or free_path(RUNS, order.problem.name), order)
    limits = RunLimits(seconds=seconds, token_file=token_file, server_options=UNSAFE if is_unsafe else ())
    return _carry_out(order, folder, limits, is_json=is_json)


def _problem(name: str | None, *, project: Path | None, theorem: str | None) -> LeanProblem:
    """What is to be proved: a file, a shipped problem, or an open theorem of a file or of a Lake project."""
    if project is None and theorem is None and name is not None:
        return load_problem(name)
    place = Path(name) if name is not None else project
    if place is None:
        hint = f"name a .smt2 or .lean file, or one of {', '.join(shipped_problems())}"
        raise BadArguments("no problem was named", hint=hint)
    in_project = project / place if project is not None and not place.exists() else place
    return find_theorem(in_project.expanduser(), theorem)


def hosting_of(
    *, models: Sequence[str], reasoning: Sequence[str], tokens: int | None, turns: int | None, seconds: float | None
) -> Hosting:
    """The options for agents that are played by a model.

    Raises:
        BadArguments: an option of another form.
    """
    return Hosting(
        models=parse_by_kind(models, option="--model"),
        reasoning=parse_by_kind(reasoning, option="--reasoning"),
        budget=Budget(tokens=tokens, turns=turns, seconds=seconds),
    )


def go_on(path: Path, *, problem: str | None, seconds: float, token_file: Path | None, is_json: bool) -> int:
    """Go on with a run that was interrupted or ran out of time; one that is settled or closed is only told about.

    Raises:
        AdapterError: as `start_run`, and when the folder holds no run.
    """
    if problem is not None:
        raise BadArguments("--resume knows its problem; leave the problem out")
    folder = RunFolder(path.expanduser().absolute())
    order = folder.order()
    record = folder.record()
    if record is not None and record.status in ("solved", "refuted", "closed"):
        Console(stderr=True).print(f"this run has ended already: {record.status}")
        return _report(record, folder, is_json=is_json)
    return _carry_out(order, folder, RunLimits(seconds=seconds, token_file=token_file), is_json=is_json)


def _carry_out(order: RunOrder, folder: RunFolder, limits: RunLimits, *, is_json: bool) -> int:
    configure_logs(level="warning")
    with live_view(is_silent=is_json) as viewer:

        async def work() -> RunRecord:
            return await run(order, folder, limits=limits, viewer=viewer)

        record = anyio.run(work)
    code = _report(record, folder, is_json=is_json)
    if record.status == "interrupted" or (record.status == "unsolved" and order.server is None):
        Console(stderr=True).print(f"go on with: adapter-server run --resume {folder.path}", soft_wrap=True)
    return code


def _report(record: RunRecord, folder: RunFolder, *, is_json: bool) -> int:
    if is_json:
        print(json.dumps(record.summary(), ensure_ascii=False))
    else:
        print_report(record, folder, Console(highlight=False))
    return _EXIT_CODES[record.status]
