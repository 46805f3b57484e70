"""`adapter-server bench`: a team on every problem of a suite."""

import json
import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from rich.console import Console
from rich.progress import track

from adapter_server.logs import configure_logs
from bus.errors import BadArguments
from bus.records import Caps
from clients.hosts import find_hosts
from lemma_store.verification import verify
from scenarios.lean.run_folder import free_path
from scenarios.lean.suite import run_suite
from scenarios.lean.suite_folder import SuiteFolder, SuiteOrder, new_suite_folder
from scenarios.lean.suite_page import suite_page
from scenarios.lean.suite_progress import suite_progress
from scenarios.lean.suite_summary import print_summary, summary_json, summary_of
from scenarios.lean.suite_tasks import find_open_theorems, find_tasks
from scenarios.lean.team import Hosting, parse_team

from .bench_compare import start_comparison
from .exit_codes import INTERRUPTED, NOT_PROVED, OK

RUNS = Path("runs")
COMPARE = "compare"
"""As the first path: compare ways to work instead of running one suite."""


def start_suite(
    paths: Sequence[Path],
    *,
    team: str,
    seconds: float,
    checks: int | None,
    jobs: int,
    only: str,
    limit: int | None,
    seed: int,
    out: Path | None,
    is_resumed: bool,
    is_verified: bool,
    adapter: Path | None,
    hosting: Hosting,
    project: Path | None = None,
    is_json: bool,
) -> int:
    """Run a suite, or go on with one.

    Raises:
        AdapterError: bad input, or a part that cannot be started.
    """
    if paths and str(paths[0]) == COMPARE:
        if project is not None:
            raise BadArguments("bench compare takes no --project", hint="run `bench --project` once for each team")
        caps = Caps(seconds=seconds, checks=checks)
        return start_comparison(
            paths[1:], team=team, caps=caps, jobs=jobs, only=only, limit=limit, seed=seed, out=out,
            is_resumed=is_resumed, is_json=is_json,
        )  # fmt: skip
    if is_resumed:
        if project is not None:
            raise BadArguments("--resume knows its project; leave --project out")
        return _go_on(out, paths, is_verified=is_verified, is_json=is_json)
    find_hosts({member.kind for member in parse_team(team, seed=seed)}, os.environ)
    find = find_tasks if project is None else partial(find_open_theorems, project)
    order = SuiteOrder(
        tasks=find(paths, only=only, limit=limit),
        team=team,
        seed=seed,
        caps=Caps(seconds=seconds, checks=checks),
        jobs=jobs,
        adapter=str(adapter.absolute()) if adapter else "",
        hosting=hosting,
        project=str(project.expanduser().absolute()) if project is not None else "",
    )
    folder = new_suite_folder(out or free_path(RUNS, "suite"), order)
    return _carry_out(order, folder, is_verified=is_verified, is_json=is_json)


def _go_on(out: Path | None, paths: Sequence[Path], *, is_verified: bool, is_json: bool) -> int:
    if out is None:
        raise BadArguments("--resume needs the suite's folder", hint="name it with --out")
    if paths:
        raise BadArguments("--resume knows its problems; leave them out")
    folder = SuiteFolder(out.expanduser().absolute())
    return _carry_out(folder.order(), folder, is_verified=is_verified, is_json=is_json)


def _carry_out(order: SuiteOrder, folder: SuiteFolder, *, is_verified: bool, is_json: bool) -> int:
    configure_logs(level="warning")
    with suite_progress() as viewer:

        async def work() -> bool:
            return await run_suite(order, folder, viewer=viewer)

        is_complete = anyio.run(work)
    wrong = _report(order, folder, is_verified=is_verified, is_json=is_json)
    if not is_complete:
        Console(stderr=True).print(f"go on with: adapter-server bench --resume --out {folder.path}", soft_wrap=True)
        return INTERRUPTED
    return NOT_PROVED if wrong else OK


def _not_verified(order: SuiteOrder, folder: SuiteFolder, solved: Sequence[str]) -> dict[str, list[str]]:
    """The solved tasks whose certificate proves nothing, and why; a few seconds for each."""
    project = Path(order.project) if order.project else None
    wrong: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="verify-") as cache:
        for task in track(solved, description="verifying", console=Console(stderr=True)):
            found = anyio.run(partial(verify, folder.kept(task), project=project, cache=Path(cache)))
            if not found.is_proved:
                wrong[task] = list(found.reasons)
    return wrong


def _write(folder: SuiteFolder, result: dict[str, Any]) -> None:
    folder.summary_file.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _report(order: SuiteOrder, folder: SuiteFolder, *, is_verified: bool, is_json: bool) -> dict[str, list[str]]:
    """Write and print what there is; the tasks whose certificate proves nothing, and why."""
    records = folder.records(order.tasks)
    summary = summary_of(order, records, folder)
    result = summary_json(summary, records)
    folder.page_file.write_text(suite_page(order, records, summary, folder), encoding="utf-8")
    _write(folder, result)
    wrong: dict[str, list[str]] = {}
    if is_verified:
        wrong = _not_verified(order, folder, [task for task in records if records[task].outcome == "solved"])
        result |= {"verified": summary.solved - len(wrong), "not_verified": wrong}
        _write(folder, result)
    if is_json:
        print(json.dumps(result))
    else:
        print_summary(summary, records, Console(highlight=False))
        if is_verified:
            print(f"certificates verified: {result['verified']} of {summary.solved}")
            for task, reasons in wrong.items():
                print(f"  {task}: {'; '.join(reasons)}")
        Console(highlight=False).print(f"report: {folder.page_file}", soft_wrap=True)
    return wrong
