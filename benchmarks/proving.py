"""What a team costs and yields on problems: checks to proof beside a single agent, useful checks, use of the cores.

    python -P benchmarks/proving.py [--problems scenarios/lean/problems] [--limit 6] [--time 60] [--team tactician:5]
                                    [--adapter FOLDER]

Prints one JSON object. Every problem is solved by the team and by one agent, one after the other, on servers of their
own. Lean's share of the CPU time is that of the fork servers and judges with all that they started; the server's is
that of the daemon and its store. Processes are looked at five times a second, so what a process used after the last
look is missing. How many cores run Lean is what Lean's processes used between two looks, over the time between them; all
cores run it at least for the part of that time by which this exceeds all cores but one. On a machine with other load,
times and shares of the wall clock say little.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import anyio
import psutil

from adapter_server.logs import configure_logs
from bus.messages import Event
from bus.records import Caps, EpisodeRecord, Task
from scenarios.lean.episode_facts import busy_together, interval, proved_ms
from scenarios.lean.measured_episode import EpisodePlan, Station, measured
from scenarios.lean.suite import station
from scenarios.lean.suite_folder import SuiteFolder, SuiteOrder, slug
from scenarios.lean.suite_tasks import find_tasks

LOOK_S = 0.2
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
        used: Counter[Key] = Counter()
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


async def solve(order: SuiteOrder, folder: SuiteFolder) -> dict[str, float]:
    """Let a team solve every problem; return the CPU seconds by kind of process."""
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
    return cpu.seconds()


async def one(task: Task, order: SuiteOrder, folder: SuiteFolder, place: Station) -> None:
    """One problem."""
    plan = EpisodePlan(task=task, team=order.team, caps=order.caps)
    folder.save_record(await measured(plan, place, name=slug(task.id), kept=folder.kept(task.id)))


def both_share(episodes: Sequence[Sequence[Event]]) -> float | None:
    """Share of the time from the first check to the proof, or to the last check, in which two or more checks ran."""
    together = whole = 0.0
    for events in episodes:
        spans = [interval(event) for event in events if event.kind == "check_finished"]
        if not spans:
            continue
        end = (proved_ms(events) or 1000 * max(stop for _, stop in spans)) / 1000
        spans = [(start, min(stop, end)) for start, stop in spans if start < end]
        whole += end - min(start for start, _ in spans)
        together += busy_together(spans)
    return round(together / whole, 3) if whole else None


def numbers(records: Sequence[EpisodeRecord], cpu: dict[str, float], both: float | None) -> dict[str, object]:
    """What one team did."""
    checks = sum(record.spent.checks for record in records)
    useful = sum(record.counters.get("useful_checks", 0) for record in records)
    total = sum(cpu.values())
    shares = {kind: round(seconds / total, 3) for kind, seconds in cpu.items()} if total else {}
    return {
        "solved": sum(record.outcome == "solved" for record in records),
        "checks": checks,
        "useful_share": round(useful / checks, 3) if checks else None,
        "two_checks_at_once_share": both,
        "cpu_s": cpu,
        "cpu_shares": shares,
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
        events = [events for task in tasks for events in folder.events(task.id)]
        result[name] = numbers(found[name], cpu, both_share(events))
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
