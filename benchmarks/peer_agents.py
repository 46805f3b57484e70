"""The peer of `blackboard.py --peer`: the collaboration functions of hermit-harness 0.1.0, called without any server.

    peer_agents.py install FOLDER             a virtual environment with the package, in FOLDER/venv
    FOLDER/venv/bin/python peer_agents.py fill FOLDER LEMMAS PARTS
    FOLDER/venv/bin/python peer_agents.py       as `wire_agents.py`: an order from standard input, a result to output

An agent is a process, as its tools take a lock on a file. It does what `wire_agents.py` does as far as the peer has it:
it looks at the plan, takes a part, gives it back with a note, and says something as often as it may.
"""
# ruff: noqa: SLF001 - the peer has no other way to fill its library than its tools, which would run Lean
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import json
import os
import random
import subprocess
import sys
import time
import venv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = "hermit-harness==0.1.0"
INSTALL_S = 300
SAID_MAX = 6
"""Messages of an agent in ten minutes."""

WEIGHTS = {"digest": 6, "claim": 6, "say": 1}


def install(folder: Path) -> None:
    """Make the environment; the functions need nothing but the package itself."""
    venv.create(folder / "venv")
    pip = [sys.executable, "-m", "pip", "--python", folder / "venv" / "bin" / "python"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", PACKAGE], check=True, timeout=INSTALL_S, stdout=sys.stderr)


def collab(folder: str, agent: str) -> Any:
    """The peer's functions, called by this agent."""
    os.environ |= {"COLLAB_DIR": folder, "COLLAB_AGENT": agent}
    from hermit.algorithms.templates.lean_collab import collab as functions

    return functions


def fill(folder: Path, lemmas: int, parts: int) -> None:
    """Put parts and lemmas into the library, as its own functions do."""
    functions = collab(str(folder / "library"), "server")
    for number in range(parts):
        functions.plan("add", name=f"part{number}", statement=f"length (append xs ys) = part {number}")
    with functions._State(functions._dir()) as state:
        known = {"kind": "thm", "typehash": "0", "axioms": set(), "uses": set(), "aux": False}
        functions.ingest_verified(
            state, "server", [("first", "theorem first : True := by simp", False)], {"first": known}
        )
        kept, first = state.data["lemmas"], state.data["lemmas"]["first"]
        for number in range(1, lemmas):  # as the function does; it compares each with all, which takes minutes
            name = f"length_append_{number}"
            says = f"theorem {name} : ∀ (xs ys : list), length (append xs ys) = plus (length xs) (length ys) + {number}"
            text = f"{says} := by simp"
            (functions._dir() / "verified" / functions.file_of(name)).write_text(text)
            kept[name] = first | {"name": name, "statement": says, "typehash": str(number), "text": text}
            state.event(kind="verified", by="server", name=name, statement=says)
        functions.write_index(state)


class PeerAgent:
    """One agent: its calls one after another, its latencies in milliseconds."""

    def __init__(self, folder: str, name: str, *, parts: int, seed: int) -> None:
        self._functions = collab(folder, name)
        self._random = random.Random(seed)
        self._parts = parts
        self._held = ""
        self._said = 0
        self.took: dict[str, list[float]] = defaultdict(list)
        self.errors: dict[str, int] = defaultdict(int)

    def run(self, until: float) -> None:
        """Call until the time is over."""
        while (since := time.time()) < until:
            name, call = self._choice()
            try:
                call()
            except ValueError as error:
                self.errors[f"{name} {error}"] += 1
            self.took[name].append((time.time() - since) * 1000)

    def _choice(self) -> tuple[str, Callable[[], object]]:
        (name,) = self._random.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))
        if name == "say" and self._said < SAID_MAX:
            return name, self._say
        if name == "claim":
            return name, self._give_back if self._held else self._take
        return "digest", lambda: self._functions.plan("show")

    def _say(self) -> None:
        self._said += 1
        self._functions.say("idea", f"note {self._random.random()}")

    def _take(self) -> None:
        self._held = f"part{self._random.randrange(self._parts)}"
        self._functions.plan("take", name=self._held, text="induction")

    def _give_back(self) -> None:
        self._functions.plan("drop", name=self._held, text="needs a lemma")
        self._held = ""


def work(order: dict[str, Any]) -> dict[str, Any]:
    """Be the one agent of the order."""
    (who,) = order["agents"]
    agent = PeerAgent(who["folder"], who["name"], parts=int(who["parts"]), seed=order["seed"])
    print("ready", flush=True)
    begins = float(sys.stdin.readline())
    time.sleep(max(0.0, begins - time.time()))
    before = time.process_time()
    agent.run(begins + order["seconds"])
    return {"took": agent.took, "errors": agent.errors, "processor_s": time.process_time() - before}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["install", folder]:
            install(Path(folder))
        case ["fill", folder, lemmas, parts]:
            fill(Path(folder), int(lemmas), int(parts))
        case _:
            print(json.dumps(work(json.loads(sys.stdin.readline()))))
