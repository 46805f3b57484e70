"""Tool calls that need no Lean, through MCP, by many agents, against a real daemon.

    python -P benchmarks/blackboard.py [--full]      (-P: the script is named like the package)

Prints one JSON object: rates, latencies and processor time of a call when calls come by the clock and when they come as
fast as they are answered, the cost of a call with many lemmas over that with few (the two taken in turn), and the time
of the scripts in the store. `--full`: 10,000 lemmas and 2,000 nodes.
"""
# ruff: noqa: E402

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

# the package of the same name is meant below, not this file
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

import anyio
import anyio.to_thread
import msgspec
import psutil
from redis.asyncio import Redis

from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from adapter_server.store_access import store_to_read
from blackboard.board import Board
from blackboard.scripts_library import function_name
from blackboard.types import LemmaNote, NodeDraft
from bus.link import connect as connect_bus
from bus.messages import AgentRegister, AgentRegistered, EpisodeCreate, EpisodeCreated, ProblemText
from lemma_store.in_redis import LemmaIndex
from lemma_store.in_redis import connect as connect_index
from lemma_store.types import Lemma, Statement
from scenarios.lean.server_process import own_server

PROBLEM = "theorem target : ∀ (n : Nat), n + 0 = n := by sorry\n"
FEW = 100
OPEN = 60
"""Open parts, as many as the built-in adapter version allows; all others are closed by lemmas."""
WIRE_AGENTS = Path(__file__).with_name("wire_agents.py")
SCRIPTS = ("claim", "send", "begin_call", "end_call", "frontier", "release")


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """How agents call.

    Attributes:
        processes: in which they run.
        seconds: for how long.
        rate: calls per second of all together; None for as many as are answered.
        is_modern: whether they speak the protocol without sessions.
    """

    processes: int
    seconds: float
    rate: float | None = None
    is_modern: bool = False


class Processors:
    """Processor time of the daemon and of its store."""

    def __init__(self, data: Path) -> None:
        daemon = psutil.Process(json.loads((data / "server.json").read_text())["pid"])
        store = next(child for child in daemon.children() if "valkey" in child.name() or "redis" in child.name())
        self._processes = {"daemon": daemon, "store": store}

    def seconds(self) -> dict[str, float]:
        """Used so far."""
        return {name: sum(process.cpu_times()[:2]) for name, process in self._processes.items()}


def together(agents: Sequence[AgentRegistered], load: Load, processors: Processors) -> dict[str, Any]:
    """Let all agents work at the same time; returns what the processes report, as one."""
    every_s = len(agents) / load.rate if load.rate else None
    running: list[subprocess.Popen[bytes]] = []
    for number in range(load.processes):
        share = [{"url": one.url, "token": one.token} for one in agents[number :: load.processes]]
        order = {"agents": share, "seconds": load.seconds, "seed": number * 1000, "every_s": every_s}
        process = subprocess.Popen(
            [sys.executable, "-P", str(WIRE_AGENTS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(order | {"is_modern": load.is_modern}).encode() + b"\n")
        process.stdin.flush()
        running.append(process)
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    begins = time.time() + 0.2
    for process in running:
        assert process.stdin is not None
        process.stdin.write(f"{begins}\n".encode())
        process.stdin.flush()
    before = processors.seconds()
    took: dict[str, list[float]] = defaultdict(list)
    errors: dict[str, int] = defaultdict(int)
    for process in running:
        said = json.loads(process.communicate()[0])
        for name, values in said["took"].items():
            took[name] += values
        for code, count in said["errors"].items():
            errors[code] += count
    return summary(took, load.seconds, before, processors.seconds()) | {"errors": errors}


def summary(
    took: dict[str, list[float]], seconds: float, before: dict[str, float], after: dict[str, float]
) -> dict[str, Any]:
    """Rates; latencies and processor time in milliseconds."""
    every = [value for values in took.values() for value in values]
    return {
        "calls": len(every),
        "calls_per_s": round(len(every) / seconds, 1),
        "mean_ms": round(statistics.fmean(every), 2),
        "p50_ms": round(statistics.median(every), 2),
        "p95_ms": round(statistics.quantiles(every, n=20)[-1], 2),
        "processor_ms_per_call": {name: round(1000 * (after[name] - before[name]) / len(every), 3) for name in before},
        "p50_ms_by_tool": {name: round(statistics.median(values), 2) for name, values in sorted(took.items())},
    }


async def fill(settings: Settings, episode: str, *, nodes: int, lemmas: int) -> None:
    """Put parts and lemmas into an episode, with the daemon away."""
    async with open_store(settings) as store, Board.open(store.url) as board, connect_index(store.url) as redis:
        index = LemmaIndex(redis, is_durable=True)

        async def node(number: int) -> None:
            text = f"∀ (xs ys : list), length (append xs ys) = part {number}"
            draft = NodeDraft(name=f"part{number}", statement=text, statement_hash=f"part {number}")
            await board.add_node(episode, "server", draft)

        async def lemma(number: int) -> None:
            made = a_lemma(number, closes=number < nodes - OPEN)
            await index.put(episode, made)
            note = LemmaNote(
                id=made.id, name=made.name, statement=made.statement.pretty, statement_hash=made.statement.hash,
                author="server", uses=(),
            )  # fmt: skip
            await board.record_lemma(episode, "server", note)

        limiter = anyio.CapacityLimiter(16)

        async def limited(make: Any, number: int) -> None:
            async with limiter:
                await make(number)

        async with anyio.create_task_group() as tasks:
            for number in range(nodes):
                tasks.start_soon(limited, node, number)
            for number in range(lemmas):
                tasks.start_soon(limited, lemma, number)


def a_lemma(number: int, *, closes: bool) -> Lemma:
    """A stored lemma as others are; its module is never asked for."""
    digest = sha256(f"lemma {number}".encode()).hexdigest()
    text = f"∀ (xs ys : list), length (append xs ys) = plus (length xs) (length ys) + {number}"
    return Lemma(
        id=digest, name=f"length_append_{number}_{digest[:6]}", author_name=f"length_append_{number}", author="server",
        statement=Statement(text=text, pretty=text, hash=f"part {number}" if closes else digest),
        source=f"theorem t : {text} := sorry", uses=(), axioms=(),
    )  # fmt: skip


async def make_episodes(data: Path, folder: Path) -> tuple[str, str]:
    """Two episodes: one to have few lemmas, one to have many."""
    async with (
        own_server(data, log=folder / "server.log") as address,
        connect_bus(address.url, token=address.token) as bus,
    ):
        made: list[str] = []
        for name in ("few", "many"):
            request = EpisodeCreate(problem=ProblemText(name=name, source=PROBLEM))
            made.append((await bus.call("episode.create", request, EpisodeCreated, timeout_s=120)).episode)
        return made[0], made[1]


@asynccontextmanager
async def running(
    data: Path, folder: Path, episodes: Sequence[str], *, agents: int
) -> AsyncGenerator[list[list[AgentRegistered]]]:
    """The daemon with a team in each episode."""
    async with (
        own_server(data, log=folder / "server.log") as address,
        connect_bus(address.url, token=address.token) as bus,
    ):
        yield [
            [
                await bus.call("agent.register", AgentRegister(episode=episode, name=f"a{number}"), AgentRegistered)
                for number in range(agents)
            ]
            for episode in episodes
        ]


async def script_times(settings: Settings, agents: Sequence[AgentRegistered], processors: Processors) -> dict[str, Any]:
    """Microseconds of the scripts in the store, by its own clock."""
    names = {function_name(name).encode(): name for name in SCRIPTS}
    found: dict[str, list[int]] = defaultdict(list)
    async with store_to_read(settings) as url, Redis.from_url(url) as redis:
        await redis.config_set("slowlog-max-len", 20_000)
        await redis.config_set("slowlog-log-slower-than", 0)
        await redis.slowlog_reset()
        load = Load(processes=1, seconds=4)
        await anyio.to_thread.run_sync(lambda: together(agents, load, processors))
        await redis.config_set("slowlog-log-slower-than", -1)
        for entry in await redis.slowlog_get(20_000):
            words = entry["command"].split(b" ", 2)
            if words[0].upper() == b"FCALL" and (name := names.get(words[1])):
                found[name].append(entry["duration"])
    return {
        name: {"count": len(values), "median_us": statistics.median(values), "max_us": max(values)}
        for name, values in sorted(found.items())
    }


async def measure(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Fill, serve, and measure few and many in turn."""
    data = folder / "data"
    settings = Settings(data=str(data))
    few, many = await make_episodes(data, folder)
    began = time.perf_counter()
    await fill(settings, few, nodes=min(given.nodes, FEW + OPEN), lemmas=FEW)
    await fill(settings, many, nodes=given.nodes, lemmas=given.lemmas)
    filled_s = time.perf_counter() - began
    load = Load(processes=given.processes, seconds=given.seconds, rate=given.rate, is_modern=given.modern)
    fastest = msgspec.structs.replace(load, rate=None)
    alone = msgspec.structs.replace(fastest, processes=1)
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    async with running(data, folder, (few, many), agents=given.agents) as teams:
        processors = Processors(data)

        async def take(name: str, team: Sequence[AgentRegistered], load: Load) -> None:
            found[name].append(await anyio.to_thread.run_sync(lambda: together(team, load, processors)))

        for _ in range(given.rounds):
            for size, team in zip(("few", "many"), teams, strict=True):
                await take(f"by_the_clock_{size}", team, load)
                await take(f"one_agent_{size}", team[:1], alone)
        await take("fastest_many", teams[1], fastest)
        scripts = await script_times(settings, teams[1][:4], processors)
    return {
        "agents": given.agents, "client_processes": given.processes, "nodes": given.nodes, "rate": given.rate,
        "protocol": "2026-07-28" if given.modern else "2025-11-25",
        "lemmas": {"few": FEW, "many": given.lemmas}, "fill_s": round(filled_s, 1),
        "cost_many_over_few": costs(found), "scripts": scripts, **found,
    }  # fmt: skip


def costs(found: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    """Median over the rounds of many over few: processor time under load, and the time of a call of one agent alone."""

    def ratio(name: str, cost: Callable[[dict[str, Any]], float]) -> float:
        rounds = zip(found[f"{name}_few"], found[f"{name}_many"], strict=True)
        return round(statistics.median(cost(many) / cost(few) for few, many in rounds), 3)

    return {
        "processor_time": ratio("by_the_clock", lambda one: sum(one["processor_ms_per_call"].values())),
        "one_agent_mean": ratio("one_agent", lambda one: one["mean_ms"]),
    }


def main() -> None:
    """Print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=32)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rate", type=float, default=220, help="calls per second of all agents together")
    parser.add_argument("--modern", action="store_true", help="the protocol without sessions")
    parser.add_argument("--lemmas", type=int, default=1_000)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--full", action="store_true", help="10,000 lemmas, 2,000 nodes, three rounds")
    given = parser.parse_args()
    configure_logs(level="error")
    if given.full:
        given.lemmas, given.nodes, given.rounds = 10_000, 2_000, 3
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        print(json.dumps(anyio.run(measure, given, Path(folder)), indent=2))


if __name__ == "__main__":
    main()
