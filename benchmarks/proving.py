"""What a team costs and yields on problems: checks to proof beside a single agent, useful checks, use of the cores.

    python -P benchmarks/proving.py [--problems scenarios/lean/problems] [--limit 6] [--time 60] [--team tactician:5]
                                    [--adapter FOLDER]

Prints one JSON object. Every problem is solved by the team and by one agent, one after the other, on servers of their
own. Lean's share of the CPU time is that of the fork servers and judges with all that they started; the server's is
that of the daemon and its store; the agents' is mostly search, which a model does elsewhere, so what the server costs
is also told beside Lean alone. Processes are looked at five times a second, so what a process used after the last look
is missing. How many cores run Lean between two looks is what Lean's processes used over the time between them; all
cores run it at least in the part of that time by which this exceeds all cores but one. On a machine with other load,
times and shares of the wall clock say little.
"""

import argparse
import itertools
import json
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import anyio
import psutil

from adapter_server.logs import configure_logs
from bus.messages import Event
from bus.records import Caps, EpisodeRecord, Task
from scenarios.lean.episode_facts import interval, proved_ms
from scenarios.lean.measured_episode import EpisodePlan, Station, measured
from scenarios.lean.suite import station
from scenarios.lean.suite_folder import SuiteFolder, SuiteOrder, slug
from scenarios.lean.suite_tasks import find_tasks

LOOK_S = 0.2
CORES = len(os.sched_getaffinity(0))
KINDS = {"forkserver": "lean", "judge_process": "lean", "valkey": "store", "clients.tactician": "agents"}
Key = tuple[int, float, str]
"""Process id, when it began, kind. A fork server and all that it forks are one."""


class Look(NamedTuple):
    """What Lean had used when its processes were looked at."""

    at: float
    lean_s: float


class CpuTime:
    """CPU seconds by kind of process, of all processes below one."""

    def __init__(self, root: int) -> None:
        self._root = psutil.Process(root)
        self._used: dict[Key, float] = {}
        self.looks: list[Look] = []

    def look(self) -> None:
        """Note what each process, and what it started and outlived, has used until now."""
        families: dict[int, Key] = {}
        used: dict[Key, float] = defaultdict(float)
        for process in self._root.children(recursive=True):  # parents come before their children
            try:
                words, times, born = " ".join(process.cmdline()), process.cpu_times(), process.create_time()
                parent = process.ppid()
            except psutil.Error:
                continue
            if not words:  # it has ended, and is looked at through its parent from now on
                continue
            kind = next((kind for word, kind in KINDS.items() if word in words), "daemon")
            own = times.user + times.system
            if kind == "lean":  # a fork's use passes to its parent when it ends
                key = families[process.pid] = families.get(parent, (process.pid, born, kind))
                used[key] += own + times.children_user + times.children_system
            else:
                used[process.pid, born, kind] = own
        self._used.update(used)
        self.looks.append(Look(time.time(), self.seconds()["lean"]))

    def seconds(self) -> dict[str, float]:
        """CPU seconds by kind."""
        kinds = ("lean", "daemon", "store", "agents")
        return {kind: round(sum(used for key, used in self._used.items() if key[2] == kind), 2) for kind in kinds}


async def solve(order: SuiteOrder, folder: SuiteFolder) -> CpuTime:
    """Let a team solve every problem; return what its processes used."""
    cpu = CpuTime(os.getpid())

    async def look() -> None:
        while True:
            cpu.look()
            await anyio.sleep(LOOK_S)

    async with (
        station(folder.work, team=order.team, adapter=order.adapter) as place,
        anyio.create_task_group() as looking,
    ):
        looking.start_soon(look)
        for task in order.tasks:
            await one(task, order, folder, place)
        cpu.look()
        looking.cancel_scope.cancel()
    return cpu


async def one(task: Task, order: SuiteOrder, folder: SuiteFolder, place: Station) -> None:
    """One problem."""
    plan = EpisodePlan(task=task, team=order.team, caps=order.caps)
    folder.save_record(await measured(plan, place, name=slug(task.id), kept=folder.kept(task.id)))


class Cores(NamedTuple):
    """Lean's use of the cores, from the first check of each problem to its proof, or to its last check."""

    wall_s: float = 0.0
    lean_s: float = 0.0
    all_s: float = 0.0
    """Time in which all cores ran Lean, at least."""

    def add(self, events: Sequence[Event], looks: Sequence[Look]) -> "Cores":
        """With one more problem."""
        spans = [interval(event) for event in events if event.kind == "check_finished"]
        if not spans:
            return self
        begin = min(start for start, _ in spans)
        end = (proved_ms(events) or 1000 * max(stop for _, stop in spans)) / 1000
        wall_s, lean_s, all_s = self
        for one, other in itertools.pairwise(looks):
            within = min(end, other.at) - max(begin, one.at)
            if within > 0:
                cores = (other.lean_s - one.lean_s) / (other.at - one.at)
                wall_s += within
                lean_s += cores * within
                all_s += max(0.0, cores - (CORES - 1)) * within
        return Cores(wall_s, lean_s, all_s)


def numbers(records: Sequence[EpisodeRecord], cpu: CpuTime, cores: Cores) -> dict[str, object]:
    """What one team did."""
    checks = sum(record.spent.checks for record in records)
    useful = sum(record.counters.get("useful_checks", 0) for record in records)
    used = cpu.seconds()
    total, without_agents = sum(used.values()), sum(used.values()) - used["agents"]
    return {
        "solved": sum(record.outcome == "solved" for record in records),
        "checks": checks,
        "useful_share": round(useful / checks, 3) if checks else None,
        "lean_cores": round(cores.lean_s / cores.wall_s, 2) if cores.wall_s else None,
        "all_cores_share_at_least": round(cores.all_s / cores.wall_s, 3) if cores.wall_s else None,
        "cpu_s": used,
        "cpu_shares": {kind: round(seconds / total, 3) for kind, seconds in used.items()} if total else {},
        "server_beside_lean_share": round(1 - used["lean"] / without_agents, 3) if without_agents else None,
    }


def ratio(team: Sequence[EpisodeRecord], single: Sequence[EpisodeRecord]) -> dict[str, object]:
    """Checks to proof, team ÷ single, on problems that both solved."""
    pairs = [
        (ours.counters["checks_to_proof"], alone.counters["checks_to_proof"])
        for ours, alone in zip(team, single, strict=True)
        if "checks_to_proof" in ours.counters and "checks_to_proof" in alone.counters
    ]
    ratios = [ours / alone for ours, alone in pairs]
    return {"problems": len(pairs), "median": round(statistics.median(ratios), 2) if ratios else None}


async def measure(tasks: list[Task], team: str, caps: Caps, adapter: str, root: Path) -> dict[str, object]:
    """Both teams on all problems."""
    found: dict[str, list[EpisodeRecord]] = {}
    result: dict[str, object] = {"problems": len(tasks), "load_before": os.getloadavg()[0]}
    for name, members in (("team", team), ("single", f"{team.partition(':')[0]}:1")):
        order = SuiteOrder(tasks=tasks, team=members, caps=caps, adapter=adapter)
        folder = SuiteFolder(root / name)
        cpu = await solve(order, folder)
        records = folder.records(order.tasks)
        found[name] = [records[task.id] for task in tasks]
        cores = Cores()
        for events in (events for task in tasks for events in folder.events(task.id)):
            cores = cores.add(events, cpu.looks)
        result[name] = numbers(found[name], cpu, cores)
    return result | {"checks_to_proof_team_by_single": ratio(found["team"], found["single"])}


def main() -> None:
    """Print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shipped = Path(__file__).parents[1] / "scenarios" / "lean" / "problems"
    parser.add_argument("--problems", type=Path, nargs="+", default=[shipped])
    parser.add_argument("--limit", type=int, default=6)
    parser.add_argument("--time", type=float, default=60)
    parser.add_argument("--team", default="tactician:5")
    parser.add_argument("--adapter", default="", help="folder of an adapter version")
    given = parser.parse_args()
    configure_logs(level="warning")
    tasks = find_tasks(given.problems, limit=given.limit)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        found = anyio.run(measure, tasks, given.team, Caps(seconds=given.time), given.adapter, Path(folder))
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
