"""Tool calls that need no Lean, through MCP, by many agents, against a real daemon.

    python -P benchmarks/blackboard.py [--full | --peer]      (-P: the script is named like the package)

Prints one JSON object: rates, latencies and processor time of a call when calls come by the clock and when they come as
fast as they are answered, the cost of a call with many lemmas over that with few (the two taken in turn), and the time
of the scripts by the store's own figures. Everything, the agents too, shares two processor cores. How far it is goes to
standard error. `--full`: 10,000 lemmas and 2,000 nodes, some three minutes. `--peer`: five agents that look, claim,
give back and talk, in turn here and with hermit-harness 0.1.0 (see `peer_agents.py`), which is called without a server.
"""
# ruff: noqa: E402

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

# the package of the same name is meant below, not this file
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

import anyio
import anyio.to_thread
import msgspec
import psutil

from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from adapter_server.store_access import store_to_read
from blackboard.board import Board
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
PEER_AGENTS = Path(__file__).with_name("peer_agents.py")
PEER_TEAM, PEER_LEMMAS = 5, 1_000
CORES = 2
ANSWER_S = 60.0
"""The longest that agents may take beyond their time."""

UNLIMITED = {"rates": {"calls_per_s": 1000}}
"""One agent alone calls more often than the built-in adapter version lets agents call."""

SCRIPT_BATCH, SCRIPT_ROUNDS = 30, 20

T = TypeVar("T")


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """How agents call.

    Attributes:
        processes: in which they run.
        seconds: for how long.
        rate: calls per second of all together; None for as many as are answered.
        is_modern: whether they speak the protocol without sessions.
        tools: the only ones that they call; empty for all that need no Lean.
        program: what the processes run.
    """

    processes: int
    seconds: float
    rate: float | None = None
    is_modern: bool = False
    tools: tuple[str, ...] = ()
    program: tuple[str, ...] = (sys.executable, "-P", str(WIRE_AGENTS))


class Processors:
    """Processor time of the daemon and of its store."""

    def __init__(self, data: Path) -> None:
        daemon = psutil.Process(json.loads((data / "server.json").read_text())["pid"])
        store = next(child for child in daemon.children() if "valkey" in child.name() or "redis" in child.name())
        self._processes = {"daemon": daemon, "store": store}

    def seconds(self) -> dict[str, float]:
        """Used so far."""
        return {name: sum(process.cpu_times()[:2]) for name, process in self._processes.items()}


def addresses(team: Sequence[AgentRegistered]) -> list[dict[str, str]]:
    """The agents as the processes take them."""
    return [{"url": one.url, "token": one.token} for one in team]


def together(agents: Sequence[dict[str, str]], load: Load, processors: Processors) -> dict[str, Any]:
    """Let all agents work at the same time; returns what the processes report, as one."""
    every_s = len(agents) / load.rate if load.rate else None
    running: list[subprocess.Popen[bytes]] = []
    for number in range(load.processes):
        order = {"agents": agents[number :: load.processes], "seconds": load.seconds, "seed": number * 1000}
        order |= {"every_s": every_s, "is_modern": load.is_modern, "tools": load.tools}
        process = subprocess.Popen(load.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(json.dumps(order).encode() + b"\n")
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
    agents_s = 0.0
    for process in running:
        said = json.loads(process.communicate(timeout=load.seconds + ANSWER_S)[0])
        agents_s += said["processor_s"]
        for name, values in said["took"].items():
            took[name] += values
        for code, count in said["errors"].items():
            errors[code] += count
    used = {name: after - before[name] for name, after in processors.seconds().items()} | {"agents": agents_s}
    return summary(took, load.seconds, used) | {"errors": errors}


def summary(took: dict[str, list[float]], seconds: float, used: dict[str, float]) -> dict[str, Any]:
    """Rates; latencies and processor time in milliseconds."""
    every = [value for values in took.values() for value in values]
    return {
        "calls": len(every),
        "calls_per_s": round(len(every) / seconds, 1),
        "mean_ms": round(statistics.fmean(every), 2),
        "p50_ms": round(statistics.median(every), 2),
        "p95_ms": round(statistics.quantiles(every, n=20)[-1], 2),
        "processor_ms_per_call": {name: round(1000 * used_s / len(every), 3) for name, used_s in used.items()},
        "p50_ms_by_tool": {name: round(statistics.median(values), 2) for name, values in sorted(took.items())},
    }


async def fill(settings: Settings, episode: str, *, nodes: int, lemmas: int) -> None:
    """Put parts and lemmas into an episode, with the daemon away."""
    async with open_store(settings) as store, Board.open(store.url) as board, connect_index(store.url) as redis:
        tuned: Any = redis  # redis-py leaves its commands untyped
        await tuned.config_set("appendfsync", "no")  # the store that the daemon starts waits for the disk again
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

        limiter = anyio.CapacityLimiter(64)

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
            request = EpisodeCreate(problem=ProblemText(name=name, source=PROBLEM), limits=UNLIMITED)
            made.append((await bus.call("episode.create", request, EpisodeCreated, timeout_s=300)).episode)
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


class StoreFigures:
    """What the store says about the commands that it ran since the last look."""

    def __init__(self, redis: Any) -> None:  # redis-py leaves its commands untyped
        self._redis = redis
        self.found: dict[str, list[float]] = defaultdict(list)

    async def of(self, name: str, work: Sequence[Callable[[], Awaitable[T]]], *, command: str = "fcall") -> list[T]:
        """Do the work, one after another, and note the median time of the command in it, in microseconds."""
        await self._redis.config_resetstat()
        done = [await one() for one in work]
        figures = await self._redis.info("latencystats")
        self.found[name].append(float(figures[f"latency_percentiles_usec_{command}"]["p50"]))
        return done

    def medians(self) -> dict[str, float]:
        """The median over all looks."""
        return {name: round(statistics.median(values), 1) for name, values in sorted(self.found.items())}


async def script_times(settings: Settings, episode: str, agents: Sequence[str]) -> dict[str, float]:
    """Microseconds of the scripts, each alone, by the store's own clock; of a digest, all that it reads."""
    async with store_to_read(settings) as url, Board.open(url) as board, connect_index(url) as redis:
        store = StoreFigures(redis)
        names = [agents[number % len(agents)] for number in range(SCRIPT_BATCH)]
        terms: dict[str, Any] = {"ttl_s": 60, "approach": "induction", "per_agent": SCRIPT_BATCH, "per_node": 1}
        for turn in range(SCRIPT_ROUNDS):
            tokens = await store.of("begin_call", [partial(board.begin_call, episode, one) for one in names])
            for token in tokens:
                await board.delta_page(token)
            await store.of("end_call", [partial(board.end_call, token) for token in tokens])
            leases = await store.of("claim", [partial(board.claim_next, episode, one, **terms) for one in names])
            held = [lease for lease in leases if lease is not None]
            await store.of("part", [partial(board.part, episode, lease.node, attempts=5) for lease in held])
            await store.of("release", [partial(board.release, episode, lease.agent, node=lease.node) for lease in held])
            words = {"type": "note", "text": f"the base case is easy {turn}"}
            await store.of("say", [partial(board.send, episode, one, **words) for one in names])
            looks = [partial(board.overview, episode, one, lemmas=8) for one in names]
            await store.of("digest", looks, command="exec")
        return store.medians()


def say(words: str) -> None:
    """Tell whoever waits how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True)


async def measure(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Fill, serve, and measure few and many in turn."""
    data = folder / "data"
    settings = Settings(data=str(data))
    say("opening two episodes")
    few, many = await make_episodes(data, folder)
    say(f"filling one with {given.nodes} nodes and {given.lemmas} lemmas")
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
            say(f"{name}: {len(team)} agents for {load.seconds:g} s")
            found[name].append(await anyio.to_thread.run_sync(together, addresses(team), load, processors))

        await take("fastest_many", teams[1], fastest)
        for _ in range(given.rounds):
            for size, team in zip(("few", "many"), teams, strict=True):
                await take(f"by_the_clock_{size}", team, load)
                await take(f"one_agent_{size}", team[:1], alone)
        say("scripts in the store")
        scripts = await script_times(settings, many, [one.agent for one in teams[1]])
    return {
        "agents": given.agents, "client_processes": given.processes, "nodes": given.nodes, "rate": given.rate,
        "protocol": "2026-07-28" if given.modern else "2025-11-25",
        "lemmas": {"few": FEW, "many": given.lemmas}, "fill_s": round(filled_s, 1),
        "cost_many_over_few": costs(found), "script_median_us": scripts, **found,
    }  # fmt: skip


async def measure_peer(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The same operations here and there in turn. There an agent is a process that calls functions; nothing is sent."""
    data = folder / "data"
    say("installing and filling the peer")
    python = str(folder / "venv" / "bin" / "python")
    await anyio.run_process([sys.executable, "-P", str(PEER_AGENTS), "install", str(folder)], stderr=None)
    await anyio.run_process([python, str(PEER_AGENTS), "fill", str(folder), str(PEER_LEMMAS), str(OPEN)], stderr=None)
    say("filling an episode")
    episode, _ = await make_episodes(data, folder)
    await fill(Settings(data=str(data)), episode, nodes=2 * OPEN, lemmas=PEER_LEMMAS)
    here = Load(processes=1, seconds=given.seconds, tools=("digest", "claim", "say"))
    there = Load(processes=PEER_TEAM, seconds=given.seconds, program=(python, str(PEER_AGENTS)))
    peers = [
        {"folder": str(folder / "library"), "name": f"a{number}", "parts": str(OPEN)} for number in range(PEER_TEAM)
    ]
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    async with running(data, folder, (episode,), agents=PEER_TEAM) as (team,):
        processors = Processors(data)
        for _ in range(given.rounds):
            for name, agents, load in (("here", addresses(team), here), ("there", peers, there)):
                say(f"{name}: {PEER_TEAM} agents for {load.seconds:g} s")
                found[name].append(await anyio.to_thread.run_sync(together, agents, load, processors))
    rounds = zip(found["here"], found["there"], strict=True)
    times = [here["calls_per_s"] / there["calls_per_s"] for here, there in rounds]
    return {"agents": PEER_TEAM, "lemmas": PEER_LEMMAS, "times_faster": round(statistics.median(times), 1), **found}


def costs(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Median over the rounds of many over few: processor time under load, and the time of a call of one agent alone."""

    def ratio(name: str, cost: Callable[[dict[str, Any]], float]) -> float:
        rounds = zip(found[f"{name}_few"], found[f"{name}_many"], strict=True)
        return round(statistics.median(cost(many) / cost(few) for few, many in rounds), 3)

    def p50(tool: str) -> Callable[[dict[str, Any]], float]:
        return lambda one: one["p50_ms_by_tool"][tool]

    server = ("daemon", "store")
    return {
        "processor_time": ratio("by_the_clock", lambda one: sum(one["processor_ms_per_call"][part] for part in server)),
        "one_agent_mean": ratio("one_agent", lambda one: one["mean_ms"]),
        "one_agent_p50_by_tool": {
            tool: ratio("one_agent", p50(tool)) for tool in found["one_agent_few"][0]["p50_ms_by_tool"]
        },
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
    parser.add_argument("--peer", action="store_true", help="five agents, 1,000 lemmas, in turn here and with the peer")
    given = parser.parse_args()
    configure_logs(level="error")
    if given.full:
        given.lemmas, given.nodes, given.rounds = 10_000, 2_000, 3
    if sys.platform == "linux":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        found = anyio.run(measure_peer if given.peer else measure, given, Path(folder))
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
