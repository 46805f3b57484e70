"""Many checks in a row on one lemma store: do processes, descriptors or memory grow?

    python -P benchmarks/soak.py [--count 10000] [--warm 200] [--bound 0.05]

Accepted, rejected and undecided texts in turn, a worker per core; after the warm-up nothing new enters the store, so
that whatever grows is a leak. Prints one JSON object; the exit code is 1 when something grew by more than `--bound`.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from itertools import count, cycle, islice
from pathlib import Path

import anyio
import psutil

from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from lemma_store.checking import Limits
from lemma_store.in_redis import LemmaIndex, connect
from lemma_store.store import LemmaStore, open_lemma_store

WORKERS = os.cpu_count() or 1
EPISODE = "soak"
PROBLEM = "def double (n : Nat) : Nat := n + n\ntheorem target (n : Nat) : double n = n + n := by sorry\n"
TEXTS = (
    ("accepted", "theorem kept (n : Nat) : double n = n + n := rfl\n"),
    ("rejected", "theorem wrong (n : Nat) : double n = n := by intros; rfl\n"),
    ("rejected", "theorem empty : 1 = 2 := by sorry\n"),
    ("accepted", "def twice (n : Nat) : Nat := double n\ntheorem same (n : Nat) : twice n = n + n := rfl\n"),
    ("undecided", "theorem endless : 1 = 2 := by repeat (first | skip)\n"),
    ("accepted", "theorem kept_too (p q : Prop) (h : p ∧ q) : q ∧ p := ⟨h.2, h.1⟩\n"),
)
LIMITS = Limits(heartbeats=100)
SETTLED_S, SETTLED_TRIES = 0.3, 40


async def soak(checks: int, warm: int, folder: Path) -> tuple[dict[str, object], dict[str, float]]:
    """Return what there was after the warm-up and at the end, and by which part it grew."""
    async with (
        open_store(Settings(data=str(folder / "data"))) as address,
        open_lemma_store(
            folder / "episodes",
            index=LemmaIndex(connect(address.url), is_durable=address.durability == "always"),
            scratch=folder / "scratch",
            workers=WORKERS,
            limits=LIMITS,
        ) as store,
    ):
        await store.open_problem(EPISODE, source=PROBLEM)
        await run(store, warm)
        before, began = await settled(), time.monotonic()
        await run(store, checks)
        took, after = time.monotonic() - began, await settled()
    growth = {name: round(after[name] / before[name] - 1, 4) for name in before}
    return {"checks": checks, "per_s": round(checks / took, 1), "before": before, "after": after}, growth


async def run(store: LemmaStore, checks: int) -> None:
    """Check texts in turn; each must end as it should."""
    left = islice(zip(count(), cycle(TEXTS)), checks)

    async def work() -> None:
        for number, (expected, text) in left:
            source = f"{text}-- {number}\n"  # the same text would not be checked again
            report = await store.check(EPISODE, author="ada", source=source)
            outcome = report.verdicts[-1].outcome
            assert outcome == expected, (number, expected, report)

    async with anyio.create_task_group() as tasks:
        for _ in range(WORKERS):
            tasks.start_soon(work)


async def settled() -> dict[str, float]:
    """Return what this process and all below it hold, once nothing starts or ends any more."""
    found = held()
    for _ in range(SETTLED_TRIES):
        await anyio.sleep(SETTLED_S)
        earlier, found = found, held()
        if (earlier["processes"], earlier["descriptors"]) == (found["processes"], found["descriptors"]):
            break
    return found


def held() -> dict[str, float]:
    """Return the numbers of processes and descriptors, and MiB of memory that no file backs, shared pages divided."""
    found = {"processes": 0, "descriptors": 0, "mib": 0.0}
    here = psutil.Process()
    for process in (here, *here.children(recursive=True)):
        try:
            descriptors, memory = process.num_fds(), Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            continue
        # Pages of files are shared with whoever else maps them on this machine.
        (kib,) = re.findall(r"^Pss_Anon: +(\d+) kB$", memory, re.MULTILINE)
        found["processes"] += 1
        found["descriptors"] += descriptors
        found["mib"] += int(kib) / 2**10
    return {name: round(value, 1) for name, value in found.items()}


def main() -> None:
    """Print what grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--warm", type=int, default=200)
    parser.add_argument("--bound", type=float, default=0.05)
    chosen = parser.parse_args()
    configure_logs(level="warning")
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        found, growth = anyio.run(soak, chosen.count, chosen.warm, Path(folder))
    print(json.dumps(found | {"growth": growth}, indent=2))
    sys.exit(int(any(value > chosen.bound for value in growth.values())))


if __name__ == "__main__":
    main()
