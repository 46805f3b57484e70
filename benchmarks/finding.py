"""How often `find` has the right answer among its first five, on a labelled set among generated lemmas.

    python -P benchmarks/finding.py [--noise 500]

Prints one JSON object: recall@5 and median milliseconds per kind of question, and the questions whose answer was
missed. A real daemon, through MCP; the set is benchmarks/finding/: lemmas that are proved by real Lean, parts and
messages, and questions with the names of what answers them. The generated lemmas are about the same functions.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

from bus.link import connect as connect_bus
from bus.messages import AgentRegister, AgentRegistered, EpisodeCreate, EpisodeCreated, ProblemText
from clients.tactician.session import McpToolbox, connect
from scenarios.lean.server_process import own_server

SET = Path(__file__).with_name("finding")
FIRST = 5
BATCH = 50
LIMITS = {"rates": {"calls_per_s": 1000}}
NOISE = (
    "theorem len_cons_{0} : ∀ (x : L), len (.cons {0} x) = len x + 1 := fun _ => rfl",
    "theorem sum_cons_{0} : ∀ (x : L), sum (.cons {0} x) = {0} + sum x := fun _ => rfl",
    "theorem rev_one_{0} : rev (.cons {0} .nil) = .cons {0} .nil := rfl",
    "theorem app_cons_{0} : ∀ (x y : L), app (.cons {0} x) y = .cons {0} (app x y) := fun _ _ => rfl",
    "theorem map_cons_{0} : ∀ (f : Nat → Nat) (x : L), map f (.cons {0} x) = .cons (f {0}) (map f x) := fun _ _ => rfl",
    "theorem snoc_cons_{0} : ∀ (x : L) (n : Nat), snoc (.cons {0} x) n = .cons {0} (snoc x n) := fun _ _ => rfl",
    "theorem rev_cons_{0} : ∀ (x : L), rev (.cons {0} x) = app (rev x) (.cons {0} .nil) := fun _ => rfl",
)


def noise(count: int) -> Iterator[str]:
    """Texts of generated lemmas, a batch each."""
    lemmas = [NOISE[at % len(NOISE)].format(at) for at in range(count)]
    for at in range(0, count, BATCH):
        yield "\n".join(lemmas[at : at + BATCH])


async def ok(tools: McpToolbox, tool: str, **arguments: Any) -> dict[str, Any]:
    """Facts of a call that works."""
    reply = await tools.call(tool, arguments)
    assert not reply.is_error, reply
    return dict(reply.facts)


async def store(tools: McpToolbox, source: str) -> dict[str, str]:
    """Have a text judged; returns author's names and stored names."""
    facts = await ok(tools, "check", source=source, wait_s=40)
    if facts.get("state") == "running":
        facts = await ok(tools, "job", id=facts["job"], wait_s=40)
    verdicts = facts["verdicts"]
    refused = [one for one in verdicts if one["outcome"] != "accepted"]
    assert not refused, (refused, facts["errors"])
    return {one["name"]: one["lemma"] for one in verdicts}


async def fill(tools: McpToolbox, labels: dict[str, Any], *, count: int) -> dict[str, str]:
    """Half of the noise, the set, the other half; returns stored name → label."""
    batches = list(noise(count))
    for batch in batches[::2]:
        await store(tools, batch)
    known: dict[str, str] = {}
    for text in (SET / "lemmas.lean").read_text().split("\n\n"):
        for stored, name in known.items():
            text = re.sub(rf"\b{name}\b", stored, text)  # noqa: PLW2901
        known |= {stored: name for name, stored in (await store(tools, text)).items()}
    for batch in batches[1::2]:
        await store(tools, batch)
    for name, statement in labels["nodes"].items():
        await ok(tools, "plan", action="add", name=name, statement=statement)
        known[name] = name
    for text in labels["messages"]:
        await ok(tools, "say", type="note", text=text)
        known[text] = text
    return known


def questions(labels: dict[str, Any], known: dict[str, str]) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """Kind of question, arguments of `find`, labels of the right answers."""
    stored = {label: name for name, label in known.items()}
    for text, answers in labels["text"]:
        yield "text", {"q": text, "in": ["lemmas"], "mode": "text"}, answers
    for text, answers in labels["parts"]:
        yield "parts", {"q": text, "in": ["nodes"], "mode": "text"}, answers
    for text, words in labels["messages"].items():
        yield "messages", {"q": words, "in": ["messages"]}, [text]
    for statement, answers in labels["same"]:
        yield "same", {"statement": statement, "mode": "same"}, answers
    for goal, answers in labels["closes"]:
        yield "closes", {"goal": goal, "in": ["lemmas"]}, answers
    for name, answers in labels["uses"]:
        yield "uses", {"q": stored[name], "mode": "uses", "in": ["lemmas"]}, answers


async def measure(tools: McpToolbox, *, count: int) -> dict[str, Any]:
    """Fill an episode, ask everything, and sum up."""
    labels = json.loads((SET / "queries.json").read_text())
    known = await fill(tools, labels, count=count)
    found: dict[str, list[float]] = {}
    took: dict[str, list[float]] = {}
    missed: list[str] = []
    for kind, arguments, answers in questions(labels, known):
        began = time.perf_counter()
        hits = (await ok(tools, "find", limit=FIRST, **arguments))["hits"]
        took.setdefault(kind, []).append((time.perf_counter() - began) * 1000)
        names = {known.get(text) for hit in hits[:FIRST] for text in (hit["name"], hit["statement"])}
        share = len(names & set(answers)) / len(answers)
        found.setdefault(kind, []).append(share)
        if share < 1:
            missed.append(f"{kind}: {arguments.get('q') or arguments.get('statement') or arguments.get('goal')}")
    return {
        "noise": count,
        "questions": {kind: len(shares) for kind, shares in found.items()},
        "recall_at_5": {kind: round(statistics.fmean(shares), 3) for kind, shares in found.items()},
        "median_ms": {kind: round(statistics.median(values), 1) for kind, values in took.items()},
        "missed": missed,
    }


async def run(count: int, folder: Path) -> dict[str, Any]:
    """Measure in an episode of a server of its own."""
    async with (
        own_server(folder / "data", log=folder / "server.log") as address,
        connect_bus(address.url, token=address.token) as bus,
    ):
        problem = ProblemText(name="finding", source=(SET / "problem.lean").read_text())
        request = EpisodeCreate(problem=problem, limits=LIMITS)
        made = await bus.call("episode.create", request, EpisodeCreated, timeout_s=120)
        agent = await bus.call("agent.register", AgentRegister(episode=made.episode, name="ada"), AgentRegistered)
        async with connect(agent.url, token=agent.token) as tools:
            return await measure(tools, count=count)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", type=int, default=500, help="generated lemmas")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(anyio.run(run, given.noise, Path(folder)), ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
