"""Cost of a check through MCP beside the bare Lean fork on the same file, and the server's memory afterwards.

    python benchmarks/checking.py [--rounds 30]

Prints one JSON object. Both ways run in turn, lemma by lemma, in one process tree on the same machine, so that the
ratio holds when the machine's speed drifts. Bare: a process that has initialised Lean forks once a file and calls
`lean_main`; no sandbox, no judge, no store. Every lemma is new to both.
"""

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
import psutil

from bus.link import connect as connect_bus
from bus.messages import AgentRegister, AgentRegistered, EpisodeCreate, EpisodeCreated, ProblemText
from clients.tactician.session import McpToolbox, connect
from lemma_store.lean.core_library import library_id, read_core_sources
from lemma_store.lean.toolchain import cache_folder, find_toolchain
from scenarios.lean.server_process import own_server

PROBLEM = """\
inductive lst (a : Type) where
  | nil
  | cons (x : a) (xs : lst a)
def app {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => .cons x (app xs ys)
theorem target {a : Type} (xs : lst a) : app xs .nil = xs := by sorry
"""

LEMMA = """\
theorem app_assoc_{n} {{a : Type}} (xs ys zs : lst a) (n : Nat) (h : n = {n}) :
    app (app xs ys) zs = app xs (app ys zs) ∧ n + 0 = {n} := by
  constructor
  · induction xs with
    | nil => rfl
    | cons x xs ih =>
      show lst.cons x (app (app xs ys) zs) = lst.cons x (app xs (app ys zs))
      rw [ih]
  · rw [Nat.add_zero]
    exact h
"""

HEADER = "prelude\nimport MiniCore\nimport Problem\nset_option autoImplicit false\nset_option linter.all false\n"

BARE = """
import ctypes, os, sys, struct
lean = ctypes.CDLL(sys.argv[1])
lean.lean_initialize()
os.environ["LEAN_PATH"], os.environ["LEAN_NUM_THREADS"] = sys.argv[2], "1"
while size := sys.stdin.buffer.read(4):
    name = sys.stdin.buffer.read(struct.unpack("<I", size)[0])
    if (child := os.fork()) == 0:
        words = [b"lean", b"--json", b"-R", os.path.dirname(name), b"-o", name + b".olean", name]
        code = lean.lean_main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))
        os._exit(code)
    _, status = os.waitpid(child, 0)
    sys.stdout.buffer.write(struct.pack("<i", os.waitstatus_to_exitcode(status)))
    sys.stdout.buffer.flush()
"""


class BareFork:
    """The bare Lean fork: a file in, an exit code out."""

    def __init__(self, library: Path, lean_path: str, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", BARE, str(library), lean_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, text: str) -> float:
        """Return the milliseconds of one elaboration."""
        file = self._folder / "Bare.lean"
        file.write_text(HEADER + text)
        name = os.fsencode(file)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        began = time.perf_counter()
        self._process.stdin.write(struct.pack("<I", len(name)) + name)
        self._process.stdin.flush()
        (code,) = struct.unpack("<i", self._process.stdout.read(4))
        took = (time.perf_counter() - began) * 1000
        assert code == 0, f"the bare fork refused the lemma: {code}"
        return took

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)


async def one_check(tools: McpToolbox, text: str) -> float:
    """Return the milliseconds of one accepted check through MCP."""
    began = time.perf_counter()
    reply = await tools.call("check", {"source": text})
    took = (time.perf_counter() - began) * 1000
    assert reply.facts["verdicts"][0]["outcome"] == "accepted", reply
    return took


def memory(url_note: Path) -> dict[str, float]:
    """Return resident MiB of the daemon, and of each process that it started."""
    daemon = psutil.Process(json.loads(url_note.read_text())["pid"])
    found = {"server": round(daemon.memory_info().rss / 2**20, 1)}
    for child in daemon.children(recursive=True):
        words = " ".join(child.cmdline())
        kind = next((name for name in ("judge_process", "forkserver", "valkey") if name in words), "other")
        found[kind] = round(found.get(kind, 0) + child.memory_info().rss / 2**20, 1)
    return found


async def measure(rounds: int, folder: Path) -> dict[str, object]:
    """Run both ways in turn."""
    data = folder / "data"
    async with (
        own_server(data, log=folder / "server.log") as address,
        connect_bus(address.url, token=address.token) as bus,
    ):
        problem = ProblemText(name="bench", source=PROBLEM)
        made = await bus.call("episode.create", EpisodeCreate(problem=problem), EpisodeCreated, timeout_s=120)
        agent = await bus.call("agent.register", AgentRegister(episode=made.episode, name="ada"), AgentRegistered)
        toolchain = find_toolchain()
        core = cache_folder() / library_id(read_core_sources(), toolchain=toolchain)
        path = f"{core}:{data / 'episodes' / made.episode / 'modules'}"
        bare = BareFork(toolchain.library, path, folder)
        async with connect(agent.url, token=agent.token) as tools:
            for warm in (-1, -2):
                bare.run(LEMMA.format(n=1000 - warm))
                await one_check(tools, LEMMA.format(n=1000 - warm))
            pairs = [(await one_check(tools, LEMMA.format(n=n)), bare.run(LEMMA.format(n=n))) for n in range(rounds)]
        bare.close()
        return report(pairs) | {"resident_mib": memory(data / "server.json")}


def report(pairs: list[tuple[float, float]]) -> dict[str, object]:
    """Return medians and the ratio, taken pair by pair."""
    ratios = [check / bare for check, bare in pairs]
    return {
        "rounds": len(pairs),
        "check_ms": round(statistics.median(pair[0] for pair in pairs), 1),
        "bare_ms": round(statistics.median(pair[1] for pair in pairs), 1),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_quartiles": [round(value, 2) for value in statistics.quantiles(ratios, n=4)],
    }


def main() -> None:
    """Print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        print(json.dumps(anyio.run(measure, rounds, Path(folder)), indent=2))


if __name__ == "__main__":
    main()
