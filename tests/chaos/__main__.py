"""`python -m tests.chaos --rounds 500`: kill -9 of server, store, check worker and agents at random points.

Prints a line of JSON per round and a summary with recovery times and orphans. The exit code is 1 when a promise was
broken, a process was left over, or a recovery took longer than asked for (`--recovery`, 5 s); 130 after a signal.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path
from statistics import median

import anyio
import msgspec

from scenarios.lean.signals import until_signal
from tests.chaos.rounds import VICTIMS, Chaos, Round


async def play(rounds: int, *, seed: int, folder: Path, seconds: float) -> tuple[list[Round], list[str]]:
    """Play rounds until there were enough or the time is over."""
    chaos, played = Chaos(folder, seed=seed), list[Round]()
    async with chaos.running():
        with anyio.move_on_after(seconds):
            for _ in range(rounds):
                played.append(await chaos.play())
                print(msgspec.json.encode(played[-1]).decode(), flush=True)
        left = await chaos.finish()
    return played, left


def main() -> int:
    """Play, sum up, and return the exit code."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=500)
    options.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options.add_argument("--seconds", type=float, default=86_400)
    options.add_argument("--recovery", type=float, default=5.0)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        done = anyio.run(
            until_signal, lambda: play(given.rounds, seed=given.seed, folder=Path(folder), seconds=given.seconds)
        )
    if done is None:
        return 130
    played, left = done
    times = {name: [one.recovery_s for one in played if one.victim == name] for name in VICTIMS}
    faults = [f"round {one.number}: {fault}" for one in played for fault in one.faults] + left
    slow = sum(one.recovery_s > given.recovery for one in played)
    summary = {
        "rounds": len(played),
        "seed": given.seed,
        "killed": {name: len(found) for name, found in times.items()},
        "recovery_s": {name: {"median": median(found), "max": max(found)} for name, found in times.items() if found},
        "recovery_asked_s": given.recovery,
        "slower_than_asked": slow,
        "orphans": sum(one.orphans for one in played) + sum("a stopped server left" in one for one in left),
        "faults": faults,
    }
    print(msgspec.json.encode(summary).decode())
    return 1 if faults or slow or not played else 0


if __name__ == "__main__":
    sys.exit(main())
