"""`adapter-server bench compare`: one agent, isolated agents, a team that does not share lemmas, and the whole team."""

import json
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
from rich.console import Console

from adapter_server.evolver.statistics import mcnemar
from adapter_server.logs import configure_logs
from bus.errors import BadArguments
from bus.records import Caps
from scenarios.lean.comparison_page import comparison_page, print_comparison
from scenarios.lean.run_folder import free_path
from scenarios.lean.suite import run_jobs
from scenarios.lean.suite_comparison import (
    BASIS,
    arm_folder,
    comparison_jobs,
    comparison_of,
    comparison_orders,
    new_comparison,
    read_orders,
)
from scenarios.lean.suite_folder import SuiteOrder
from scenarios.lean.suite_progress import suite_progress
from scenarios.lean.suite_tasks import find_tasks

from .exit_codes import INTERRUPTED, OK

RUNS = Path("runs")


def start_comparison(
    paths: Sequence[Path],
    *,
    team: str,
    caps: Caps,
    jobs: int,
    only: str,
    limit: int | None,
    seed: int,
    out: Path | None,
    is_resumed: bool,
    is_json: bool,
) -> int:
    """Run a comparison, or go on with one.

    Raises:
        AdapterError: bad input, or a part that cannot be started.
    """
    if is_resumed:
        if out is None or paths:
            raise BadArguments("--resume needs --out and no problems: it knows them")
        return _carry_out(out, read_orders(out), is_json=is_json)
    tasks = find_tasks(paths, only=only, limit=limit)
    orders = comparison_orders(tasks, team=team, caps=caps, seed=seed, jobs=jobs)
    root = out or free_path(RUNS, "comparison")
    new_comparison(root, orders)
    return _carry_out(root, orders, is_json=is_json)


def _carry_out(out: Path, orders: dict[str, SuiteOrder], *, is_json: bool) -> int:
    configure_logs(level="warning")
    root = out.expanduser().absolute()
    with suite_progress() as viewer:

        async def work() -> bool:
            return await run_jobs(comparison_jobs(root, orders), work=root / "work", viewer=viewer)

        is_complete = anyio.run(work)
    comparison = comparison_of(root, orders, p_value=mcnemar)
    records = {name: arm_folder(root, name).records(order.tasks) for name, order in orders.items()}
    result = msgspec.to_builtins(comparison)
    (root / "summary.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (root / "report.html").write_text(comparison_page(orders[BASIS], comparison, records), encoding="utf-8")
    if is_json:
        print(json.dumps(result))
    else:
        print_comparison(comparison, records, Console(highlight=False))
        Console(highlight=False).print(f"report: {root / 'report.html'}", soft_wrap=True)
    if not is_complete:
        Console(stderr=True).print(f"go on with: adapter-server bench compare --resume --out {root}", soft_wrap=True)
    return OK if is_complete else INTERRUPTED
