"""Tool calls that need no Lean, through MCP, by many agents in several processes, against a real daemon.

    python -P benchmarks/blackboard.py [--full]      (-P: the script is named like the package)

Prints one JSON object: calls per second and latencies with many lemmas, the cost of a call with many lemmas over that
with few (the two taken in turn), and the time of the scripts in the store. `--full`: 10,000 lemmas and 2,000 nodes.
"""
# ruff: noqa: E402

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

# the package of the same name is meant below, not this file
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

import anyio
import anyio.to_thread
from redis.asyncio import Redis

from adapter_server.embedded_store import open_store
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from adapter_server.store_access import store_to_read
from blackboard.board import Board
from blackboard.in_redis import _script  # the names of scripts by what the store calls them
from blackboard.types import LemmaNote, NodeDraft
from bus.link import connect as connect_bus
from bus.messages import AgentRegister, AgentRegistered, EpisodeCreate, EpisodeCreated, ProblemText
from clients.tactician.session import McpToolbox, connect
from lemma_store.in_redis import LemmaIndex
from lemma_store.in_redis import connect as connect_index
from lemma_store.types import Lemma, Statement
from scenarios.lean.server_process import own_server

PROBLEM = "theorem target : ∀ (n : Nat), n + 0 = n := by sorry\n"
FEW = 100
OPEN = 60
"""Open parts, as many as the built-in adapter version allows; all others are closed by lemmas."""
SCRIPTS = ("claim", "send", "begin_call", "end_call", "frontier", "release")

# what an agent does between two checks, by weight
MIX: Sequence[tuple[str, dict[str, Any], int]] = (
    ("digest", {}, 6),
    ("claim", {"action": "next", "approach": "induction"}, 3),
    ("claim", {"action": "release", "node": "", "outcome": "stuck", "note": "needs a lemma"}, 3),
    ("say", {"type": "note", "text": "the base case is easy"}, 1),
    ("find", {"q": "length append"}, 3),
    ("get", {"id": "problem"}, 2),
    ("submit", {"action": "status"}, 1),
    ("wait", {"for": ["mail"], "timeout_s": 0}, 1),
)


class Sample:
    """An agent's calls, one after another."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.held: str | None = None
        self.took: dict[str, list[float]] = defaultdict(list)
        self.errors: dict[str, int] = defaultdict(int)

    async def run(self, tools: McpToolbox, *, until: float) -> None:
        """Call tools until the time is over."""
        while time.time() < until:
            name, arguments, _ = self.random.choices(MIX, weights=[weight for *_, weight in MIX])[0]
            if name == "claim":
                arguments = self._claim()
            elif name == "say":
                arguments = {**arguments, "text": f"note {self.random.random()}"}
            began = time.perf_counter()
            reply = await tools.call(name, arguments)
            self.took[name].append((time.perf_counter() - began) * 1000)
            if reply.is_error:
                self.errors[reply.code] += 1
            if name == "claim":
                self.held = reply.facts.get("node") if arguments["action"] == "next" else None

    def _claim(self) -> dict[str, Any]:
        if self.held is None:
            return {"action": "next", "approach": "induction"}
        return {"action": "release", "node": self.held, "outcome": "stuck", "note": "needs a lemma"}


async def work(order: dict[str, Any]) -> dict[str, Any]:
    """Be some of the agents, in a process of their own; begin at the moment that is read when all are connected."""
    connected, start = 0, anyio.Event()
    until = 0.0
    samples = [Sample(order["seed"] + number) for number in range(len(order["agents"]))]

    async def one(sample: Sample, agent: dict[str, str]) -> None:
        async with connect(agent["url"], token=agent["token"]) as tools:
            nonlocal connected, until
            await tools.call("digest", {})
            connected += 1
            if connected == len(samples):
                print("ready", flush=True)
                begins = float(await anyio.to_thread.run_sync(sys.stdin.readline))
                await anyio.sleep(max(0.0, begins - time.time()))
                until = begins + order["seconds"]
                start.set()
            await start.wait()
            await sample.run(tools, until=until)

    async with anyio.create_task_group() as tasks:
        for sample, agent in zip(samples, order["agents"], strict=True):
            tasks.start_soon(one, sample, agent)
    took: dict[str, list[float]] = defaultdict(list)
    errors: dict[str, int] = defaultdict(int)
    for sample in samples:
        for name, values in sample.took.items():
            took[name] += values
        for code, count in sample.errors.items():
            errors[code] += count
    return {"took": took, "errors": errors}


def together(agents: Sequence[AgentRegistered], *, processes: int, seconds: float) -> dict[str, Any]:
    """Let all agents work at the same time; returns what the processes report, as one."""
    running: list[subprocess.Popen[bytes]] = []
    for number in range(processes):
        share = [{"url": one.url, "token": one.token} for one in agents[number::processes]]
        order = json.dumps({"agents": share, "seconds": seconds, "seed": number * 1000})
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(order.encode() + b"\n")
        process.stdin.flush()
        running.append(process)
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    begins = time.time() + 0.5
    for process in running:
        assert process.stdin is not None
        process.stdin.write(f"{begins}\n".encode())
        process.stdin.flush()
    took: dict[str, list[float]] = defaultdict(list)
    errors: dict[str, int] = defaultdict(int)
    for process in running:
        said = json.loads(process.communicate()[0])
        for name, values in said["took"].items():
            took[name] += values
        for code, count in said["errors"].items():
            errors[code] += count
    return summary(took, seconds) | {"errors": errors}


def summary(took: dict[str, list[float]], seconds: float) -> dict[str, Any]:
    """Rates and latencies in milliseconds."""
    every = [value for values in took.values() for value in values]
    return {
        "calls": len(every),
        "calls_per_s": round(len(every) / seconds, 1),
        "mean_ms": round(statistics.fmean(every), 2),
        "p50_ms": round(statistics.median(every), 2),
        "p95_ms": round(statistics.quantiles(every, n=20)[-1], 2),
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


async def script_times(settings: Settings, agents: Sequence[AgentRegistered], *, processes: int) -> dict[str, Any]:
    """Microseconds of the scripts in the store, by its own clock."""
    names = {_script(name).sha: name for name in SCRIPTS}
    found: dict[str, list[int]] = defaultdict(list)
    async with store_to_read(settings) as url, Redis.from_url(url) as redis:
        await redis.config_set("slowlog-max-len", 20_000)
        await redis.config_set("slowlog-log-slower-than", 0)
        await redis.slowlog_reset()
        await anyio.to_thread.run_sync(lambda: together(agents, processes=processes, seconds=4))
        await redis.config_set("slowlog-log-slower-than", -1)
        for entry in await redis.slowlog_get(20_000):
            words = entry["command"].split(b" ", 2)
            if words[0].upper() == b"EVALSHA" and (name := names.get(words[1].decode())):
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
    rounds: dict[str, list[dict[str, Any]]] = {"few": [], "many": []}
    async with running(data, folder, (few, many), agents=given.agents) as (few_team, many_team):
        for _ in range(given.rounds):
            for name, team in (("few", few_team), ("many", many_team)):
                found = await anyio.to_thread.run_sync(
                    lambda team=team: together(team, processes=given.processes, seconds=given.seconds)
                )
                rounds[name].append(found)
        alone = await anyio.to_thread.run_sync(
            lambda: [together(team[:1], processes=1, seconds=given.seconds) for team in (few_team, many_team)]
        )
        scripts = await script_times(settings, many_team[:4], processes=1)
    ratio = [big["mean_ms"] / small["mean_ms"] for small, big in zip(rounds["few"], rounds["many"], strict=True)]
    return {
        "agents": given.agents, "client_processes": given.processes, "nodes": given.nodes,
        "lemmas": {"few": FEW, "many": given.lemmas}, "fill_s": round(filled_s, 1),
        "few": rounds["few"], "many": rounds["many"],
        "one_agent": {"few": alone[0], "many": alone[1]},
        "cost_many_over_few": round(statistics.median(ratio), 3),
        "cost_many_over_few_one_agent": round(alone[1]["mean_ms"] / alone[0]["mean_ms"], 3),
        "scripts": scripts,
    }  # fmt: skip


def main() -> None:
    """Print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=32)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--lemmas", type=int, default=1_000)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--full", action="store_true", help="10,000 lemmas, 2,000 nodes, three rounds")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    configure_logs(level="error")
    if given.worker:
        print(json.dumps(anyio.run(work, json.loads(sys.stdin.readline()))))
        return
    if given.full:
        given.lemmas, given.nodes, given.rounds = 10_000, 2_000, 3
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        print(json.dumps(anyio.run(measure, given, Path(folder)), indent=2))


if __name__ == "__main__":
    main()
