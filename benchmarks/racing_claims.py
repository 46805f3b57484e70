"""Many processes claim the same few parts: nothing is granted twice, and fences strictly grow.

    python -P benchmarks/racing_claims.py [--full]

Prints one JSON object; the exit code is 1 when the log or the claimants saw a violation. `--full` makes 100,000 claims.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import anyio

from adapter_server.data_folder import open_data_folder
from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from blackboard.board import Board
from blackboard.types import NodeDraft
from bus.errors import CallerError
from bus.messages import Event

EPISODE = "race"
LOST_EVERY = 50
"""One claim in so many is never given back: its lease has to expire."""


async def claimant(url: str, number: int, claims: int) -> list[tuple[str, int]]:
    """Claim and give back; returns what was granted as nodes with fences."""
    granted: list[tuple[str, int]] = []
    agent = f"a{number}"
    async with Board.open(url) as board:
        for attempt in range(claims):
            is_lost = attempt % LOST_EVERY == number % LOST_EVERY
            lease = await board.claim_next(
                EPISODE, agent, ttl_s=0.0 if is_lost else 60.0, approach="", per_agent=1, per_node=1
            )
            if lease is None:
                continue
            granted.append((lease.node, lease.fence))
            try:
                if not is_lost:
                    await board.confirm_fence(EPISODE, agent, lease.node, lease.fence)
                    await board.release(EPISODE, agent, node=lease.node, fence=lease.fence)
            except CallerError as error:
                raise SystemExit(f"{agent} lost fence {lease.fence} of {lease.node}: {error.message}") from error
    return granted


def violations(events: Iterable[Event], granted: list[tuple[str, int]]) -> list[str]:
    """What the log or the claimants show that must not be."""
    found: list[str] = []
    held: dict[str, str] = {}
    fences: dict[str, int] = {}
    logged: set[tuple[str, int]] = set()
    for event in events:
        node = event.body.get("node", "")
        if event.kind == "lease_granted":
            if node in held:
                found.append(f"event {event.seq}: {node} granted to {event.actor} while {held[node]} holds it")
            if event.body["fence"] <= fences.get(node, 0):
                found.append(f"event {event.seq}: fence {event.body['fence']} of {node} does not grow")
            held[node], fences[node] = event.actor, event.body["fence"]
            logged.add((node, event.body["fence"]))
        is_end = event.kind in ("lease_released", "lease_expired")
        if is_end and held.pop(node, None) != event.body["agent"]:
            found.append(f"event {event.seq}: {node} given back by {event.body['agent']}, who does not hold it")
    found += [f"{lease} granted {count} times" for lease, count in Counter(granted).items() if count > 1]
    found += [f"{lease} granted but not in the log" for lease in granted if lease not in logged]
    return found


async def all_events(board: Board) -> list[Event]:
    """The whole log."""
    events: list[Event] = []
    while page := await board.events(EPISODE, events[-1].seq if events else 0, 2_000):
        events += page
    return events


async def race(folder: Path, *, processes: int, claims: int, nodes: int) -> dict[str, object]:
    """Let the claimants run against one store and judge what happened."""
    settings = Settings(data=str(folder / "data"))
    open_data_folder(settings.data_path)
    async with open_store(settings) as store, Board.open(store.url) as board:
        await board.open_episode(EPISODE, NodeDraft(name="main", statement="P", statement_hash="p"), "ab1-race", {})
        for number in range(1, nodes):
            draft = NodeDraft(name=f"part{number}", statement=f"P{number}", statement_hash=f"p{number}")
            await board.add_node(EPISODE, "server", draft)
        for number in range(processes):
            await board.join(EPISODE, f"a{number}")
        each = -(-claims // processes)
        granted, seconds = await anyio.to_thread.run_sync(_run_all, store.url, processes, each)
        found = violations(await all_events(board), granted)
        broken_at = await board.verify_chain(EPISODE)
    found += [] if broken_at is None else [f"the log is broken at event {broken_at}"]
    return {
        "processes": processes,
        "nodes": nodes,
        "claims": each * processes,
        "granted": len(granted),
        "seconds": round(seconds, 2),
        "claims_per_s": round(each * processes / seconds),
        "violations": found[:20],
    }


def _run_all(url: str, processes: int, each: int) -> tuple[list[tuple[str, int]], float]:
    """What was granted, and the seconds from the first claim to the last."""
    command = [sys.executable, "-P", __file__, "--claims", str(each), "--store", url]
    running = [
        subprocess.Popen([*command, "--claimant", str(number)], stdout=subprocess.PIPE) for number in range(processes)
    ]
    outputs = [json.loads(process.communicate()[0] or b"{}") for process in running]
    if any(process.returncode for process in running):
        raise SystemExit("a claimant failed")
    granted = [(node, fence) for output in outputs for node, fence in output["granted"]]
    return granted, max(output["ended"] for output in outputs) - min(output["began"] for output in outputs)


def main() -> None:
    """Race, or be one of the claimants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--claims", type=int, default=4_000)
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--full", action="store_true", help="100,000 claims")
    parser.add_argument("--claimant", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    given = parser.parse_args()
    configure_logs(level="error")
    if given.claimant is not None:
        began = time.time()
        granted = anyio.run(claimant, given.store, given.claimant, given.claims)
        print(json.dumps({"granted": granted, "began": began, "ended": time.time()}))
        return
    claims: int = 100_000 if given.full else given.claims

    async def run(folder: Path) -> dict[str, object]:
        return await race(folder, processes=given.processes, claims=claims, nodes=given.nodes)

    with tempfile.TemporaryDirectory(prefix="race-") as folder:
        result = anyio.run(run, Path(folder))
    print(json.dumps(result, indent=2))
    sys.exit(1 if result["violations"] else 0)


if __name__ == "__main__":
    main()
