"""Cost of checks beside the bare Lean fork on the same files, and the server's memory afterwards.

    python -P benchmarks/checking.py [--rounds 30] [--batch 40] [--chain 1000]      (0 leaves a part out)

Prints one JSON object. `one`: a small lemma through MCP. `batch`: larger lemmas through the lemma store, one at a time
and with a worker per core; `eta` is the time that the bare fork takes for them alone over cores times wall clock.
`chain`: lemmas that each rest on the one before. Both ways run in turn, lemma by lemma, so that the ratios hold when
the machine's speed drifts. Bare: a process that has initialised Lean forks once a file and calls `lean_main`; no
sandbox, no judge, no store. Every lemma is new to both.
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
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import psutil

from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from bus.link import connect as connect_bus
from bus.messages import AgentRegister, AgentRegistered, EpisodeCreate, EpisodeCreated, ProblemText
from clients.tactician.session import McpToolbox, connect
from lemma_store.in_redis import LemmaIndex
from lemma_store.in_redis import connect as connect_index
from lemma_store.lean.core_library import library_id, read_core_sources
from lemma_store.lean.toolchain import cache_folder, find_toolchain
from lemma_store.store import LemmaStore, open_lemma_store
from lemma_store.types import CheckReport
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

REV = """\
def rev {a : Type} : lst a → lst a
  | .nil => .nil
  | .cons x xs => app (rev xs) (.cons x .nil)
theorem target"""

LARGE = (
    """\
theorem rev_rev_{n} {{a : Type}} (x : a) (xs : lst a) (n : Nat) (h : n = {n}) :
    rev (rev xs) = xs ∧ rev (app (rev xs) (app (rev xs) xs)) = app (rev xs) (app xs xs)
    ∧ rev (app (rev xs) (.cons x xs)) = app (rev xs) (.cons x xs) ∧ n + 0 = {n} := by
  have app_nil : ∀ (xs : lst a), app xs .nil = xs := by
    intro xs; induction xs with
    | nil => simp [app]
    | cons x xs ih => simp [app, ih]
  have app_assoc : ∀ (xs ys zs : lst a), app (app xs ys) zs = app xs (app ys zs) := by
    intro xs ys zs; induction xs with
    | nil => simp [app]
    | cons x xs ih => simp [app, ih]
  have rev_app : ∀ (xs ys : lst a), rev (app xs ys) = app (rev ys) (rev xs) := by
    intro xs ys; induction xs with
    | nil => simp [app, rev, app_nil]
    | cons x xs ih => simp [app, rev, ih, app_assoc]
  have rev_rev : ∀ (xs : lst a), rev (rev xs) = xs := by
    intro xs; induction xs with
    | nil => simp [rev]
    | cons x xs ih => simp [rev, rev_app, ih, app]
  have turned : ∀ (xs ys zs : lst a), rev (app (rev xs) (app (rev ys) zs)) = app (rev zs) (app ys xs) := by
    intro xs ys zs; simp [rev_app, rev_rev, app_assoc]
  have around : ∀ (xs ys : lst a) (x : a), rev (app xs (.cons x ys)) = app (rev ys) (.cons x (rev xs)) := by
    intro xs ys x; induction xs with
    | nil => simp [app, rev]
    | cons y xs ih => simp [app, rev, ih, app_assoc]
  have between : ∀ (xs ys : lst a) (x y : a),
      rev (app xs (.cons x (.cons y ys))) = app (rev ys) (.cons y (.cons x (rev xs))) := by
    intro xs ys x y; induction xs with
    | nil => simp [app, rev, app_assoc]
    | cons z xs ih => simp [app, rev, ih, app_assoc]
  have outside : ∀ (xs ys zs : lst a) (x : a),
      app (rev (.cons x (app xs ys))) zs = app (rev ys) (app (rev xs) (.cons x zs)) := by
    intro xs ys zs x; induction xs with
    | nil => simp [app, rev, app_assoc]
    | cons z xs ih => simp [app, rev, rev_app, app_assoc]
  have among : ∀ (xs ys : lst a) (x y z : a), app (app xs (.cons x (.cons y .nil))) (.cons z ys)
      = rev (app (rev ys) (.cons z (.cons y (.cons x (rev xs))))) := by
    intro xs ys x y z; induction xs with
    | nil => simp [app, rev, rev_app, rev_rev, app_assoc]
    | cons w xs ih => simp [app, rev, rev_app, rev_rev, app_assoc]
  exact ⟨rev_rev xs, turned xs xs xs, by simp [around, rev_rev], by simp [h]⟩
""",
    """\
theorem cases_{n} (p q r s t u v : Prop) (n : Nat) (h : n = {n}) (a : p ∨ q ∨ u) (b : q → r) (c : p → r)
    (d : r → s ∧ t) (e : t → ¬ q) (f : u → v ∧ r) (g : v → p) : (s ∧ t ∧ r ∧ ¬ q) ∧ (p ∧ n = {n}) := by
  rcases a with a | a | a <;> by_cases hv : v <;> by_cases hs : s <;> by_cases hr : r <;> by_cases ht : t
    <;> by_cases hq : q <;> simp_all
""",
)
TINY = "theorem tiny_{n} : {n} = {n} := rfl\n"
LINK = """\
theorem link_{n} {{a : Type}} (xs : lst a) : app .nil xs = xs ∧ {n} = {n} := by
  have earlier := @{below} a xs
  exact And.intro earlier.1 rfl
"""
FIRST = "theorem link_0 {a : Type} (xs : lst a) : app .nil xs = xs ∧ 0 = 0 := And.intro rfl rfl\n"
TENTH, SPAN = 10, 5
CORES = os.cpu_count() or 1
EPISODE = "bench"

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
    """Return MiB of the daemon and of the processes that it started, by kind; shared pages are divided."""
    daemon = psutil.Process(json.loads(url_note.read_text())["pid"])
    found = {"server": round(daemon.memory_full_info().pss / 2**20, 1)}
    for child in daemon.children(recursive=True):
        words = " ".join(child.cmdline())
        kind = next((name for name in ("judge_process", "forkserver", "valkey") if name in words), "other")
        found[kind] = round(found.get(kind, 0) + child.memory_full_info().pss / 2**20, 1)
    return found


async def measure_one(rounds: int, folder: Path) -> dict[str, object]:
    """Check small lemmas both ways in turn."""
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
        return report(pairs) | {"mib": memory(data / "server.json")}


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[tuple[LemmaStore, Callable[[], BareFork]]]:
    """Open a lemma store with an episode, and a maker of bare forks that see its modules."""
    data, made = folder / "data", list[BareFork]()
    async with (
        open_store(Settings(data=str(data))) as address,
        open_lemma_store(
            data / "episodes",
            index=LemmaIndex(connect_index(address.url), is_durable=address.durability == "always"),
            scratch=data / "scratch",
            workers=CORES,
        ) as store,
    ):
        await store.open_problem(EPISODE, source=PROBLEM.replace("theorem target", REV))

        core = await store.ground.library(("MiniCore",))

        def bare_fork() -> BareFork:
            place = Path(tempfile.mkdtemp(dir=folder))
            path = f"{core.folder}:{data / 'episodes' / EPISODE / 'modules'}"
            made.append(BareFork(store.ground.toolchain.library, path, place))
            return made[-1]

        yield store, bare_fork
        for fork in made:
            fork.close()


async def measure_batch(count: int, folder: Path) -> dict[str, object]:
    """Check larger lemmas one at a time, then with a worker per core, and tiny ones."""
    async with opened(folder) as (store, bare_fork):
        bare = bare_fork()
        await checked(store, large(-1))
        alone = [(await checked(store, text), bare.run(text)) for text in map(large, range(count))]
        tiny = [await checked(store, TINY.format(n=n)) for n in range(count)]
        texts = [large(n) for n in range(count, 2 * count)]
        forks = [bare_fork() for _ in range(CORES)]
        ours = await shared(texts, lambda text, _: checked(store, text))
        theirs = await shared(texts, lambda text, worker: anyio.to_thread.run_sync(forks[worker].run, text))
        return {
            "lemmas": count,
            "bare_ms": round(statistics.median(one for _, one in alone), 1),
            "integrity_share": integrity_share([one for one, _ in alone]),
            "integrity_share_by_lemma": [
                integrity_share([one for one, _ in alone[kind :: len(LARGE)]]) for kind in range(len(LARGE))
            ],
            "tiny_integrity_ms": round(statistics.median(one.judge_ms for one in tiny), 1),
            "eta": round(sum(one for _, one in alone) / 1000 / (CORES * ours), 3),
            "per_s": round(count / ours, 2),
            "bare_per_s": round(count / theirs, 2),
            "rate": round(theirs / ours, 3),
        }


def integrity_share(checks: Sequence[CheckReport]) -> float:
    """Return what the judge and publication took of these checks, as a share of what elaboration took."""
    return round(sum(one.judge_ms for one in checks) / sum(one.elaborate_ms for one in checks), 3)


def large(n: int) -> str:
    """Return the text of the `n`-th larger lemma."""
    return LARGE[n % len(LARGE)].format(n=abs(n) + 10_000)


async def checked(store: LemmaStore, text: str) -> CheckReport:
    """Check a text that must be accepted."""
    found = await store.check(EPISODE, author="ada", source=text)
    assert found.verdicts[0].outcome == "accepted", found
    return found


async def shared(texts: list[str], work: Callable[[str, int], Awaitable[object]]) -> float:
    """Return the seconds that a worker per core need for all texts."""
    left = iter(texts)

    async def run(worker: int) -> None:
        for text in left:
            await work(text, worker)

    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for worker in range(CORES):
            tasks.start_soon(run, worker)
    return time.perf_counter() - began


async def measure_chain(length: int, folder: Path) -> dict[str, object]:
    """Check lemmas that each rest on the one before; the judge's part of each, publication included."""
    async with opened(folder) as (store, _):
        costs: list[float] = []
        text = FIRST
        for n in range(1, length + 1):
            found = await checked(store, text)
            costs.append(found.judge_ms)
            assert found.verdicts[0].lemma is not None
            text = LINK.format(n=n, below=found.verdicts[0].lemma.name)
        tenth, last = (statistics.median(part) for part in (costs[TENTH - SPAN : TENTH + SPAN], costs[-2 * SPAN :]))
        return {
            "length": length,
            "tenth_ms": round(tenth, 1),
            "last_ms": round(last, 1),
            "growth": round(last / tenth, 2),
        }


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
    parts = {
        "one": ("rounds", 30, measure_one),
        "batch": ("batch", 40, measure_batch),
        "chain": ("chain", 1000, measure_chain),
    }
    for option, default, _ in parts.values():
        parser.add_argument(f"--{option}", type=int, default=default)
    chosen = vars(parser.parse_args())
    configure_logs(level="warning")
    found: dict[str, object] = {"cores": CORES}
    for part, (option, _, measure) in parts.items():
        if chosen[option]:
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                found[part] = anyio.run(measure, chosen[option], Path(folder))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
