"""A whole evolution with real teams by one command: set up, search, confirm, sealed tasks, report, verification.

    python -P benchmarks/evolution.py demo                      # shipped problems; within 10 minutes on two cores
    python -P benchmarks/evolution.py tip --tip TIP_FOLDER      # TIP problems; about 40 minutes at most on two cores

The start is a plain version: every agent may simplify with all lemmas, and nothing else. Two proposers take turns, both
without a model: a program that adds what was not tried, and the knob search over portfolio and roles. The gates alone
decide. Killed or stopped, the same command goes on. What came of it is told at the end and in the report, also when
nothing was promoted.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from adapter_server.bundle import default_bundle_folder
from adapter_server.cli.main import run_command
from adapter_server.evolver.ledger import read_ledger
from adapter_server.evolver.state import State, fold
from adapter_server.staging import load_bundle
from scenarios.lean.suite_tasks import find_tasks, spread

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "scenarios" / "lean" / "problems"
PROPOSERS = (
    f"command:{sys.executable} {ROOT / 'docs' / 'examples' / 'technique_proposer.py'} {{context}}",
    "knobs:policy.json#/portfolio,policy.json#/roles/default",
)


class Size(NamedTuple):
    """What an evolution is given.

    Attributes:
        time: seconds for an episode.
        checks: Lean checks for an episode.
        budget: for calibration, search and confirmation.
        release: added to it when the sealed tasks are opened.
        rounds: proposals at most.
        shares: of the tasks for search, confirmation, guard, sealed.
        plan: sizes of the gates.
    """

    time: int
    checks: int
    budget: dict[str, int]
    release: dict[str, int]
    rounds: int
    shares: str
    plan: dict[str, Any]


SMALL = {"screen_pairs": 0, "guard_trials": 3, "max_failures": 8}
SIZES = {
    "demo": Size(
        time=8, checks=40, budget={"checks": 4000, "seconds": 390}, release={"checks": 1000, "seconds": 250},
        rounds=4, shares="45,40,0,15", plan={**SMALL, "aa_pairs": 2, "gate_pairs": 8, "confirm_pairs": 8},
    ),
    "tip": Size(
        time=12, checks=100, budget={"checks": 12_000, "seconds": 1800}, release={"checks": 6000, "seconds": 1200},
        rounds=8, shares="50,35,0,15", plan={**SMALL, "aa_pairs": 6, "gate_pairs": 16, "confirm_pairs": 17},
    ),
}  # fmt: skip
GUARDS = 4
"""Problems of isaplanner, which are easier, on which a new version may not get worse. All others are the 50 properties
of prod, which need lemmas."""


def plain_version(folder: Path) -> Path:
    """The built-in version with one technique."""
    shutil.copytree(default_bundle_folder(), folder, dirs_exist_ok=True)
    file = folder / "policy.json"
    policy = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(policy | {"portfolio": ["simp_all"]}, indent=2) + "\n", encoding="utf-8")
    return folder


def problems_of(kind: str, tip: Path | None) -> list[str]:
    """Files of the tasks, and the options that name a guard family."""
    if kind == "demo":
        middle = [file for file in sorted(SHIPPED.glob("*.lean")) if _grade(file) in (2, 3, 4)]
        return [str(file) for file in middle]
    if tip is None or not (tip / "prod").is_dir():
        sys.exit("name the folder with the TIP problems, which has prod and isaplanner in it: --tip FOLDER")
    guards = [task.path for task in spread(find_tasks([tip / "isaplanner"]), GUARDS)]
    return [*map(str, sorted((tip / "prod").glob("prop_*.smt2"))), *guards, "--guard", "isaplanner"]


def _grade(file: Path) -> int:
    return int(file.read_text(encoding="utf-8").partition("Grade: ")[2][0])


class Evolution:
    """One evolution in a folder."""

    def __init__(self, out: Path, size: Size, *, seed: int) -> None:
        self._out = out
        self._data = out / "data"
        self._size = size
        self._seed = seed

    def begin(self, problems: list[str], *, team: str) -> None:
        """Stage the plain version and divide the tasks, unless that was done."""
        if self.state() is not None:
            print(f"{self._out} has an evolution already; going on with it")
            return
        version = load_bundle(plain_version(self._out / "plain")).id
        plan = self._out / "plan.json"
        plan.write_text(json.dumps(self._size.plan, indent=1) + "\n", encoding="utf-8")
        self.command("adapter", "stage", self._out / "plain")
        self.command("adapter", "activate", version)
        self.command(
            "evolve", "init", *problems, "--team", team, "--time", self._size.time, "--checks", self._size.checks,
            "--auto", *_amounts("--budget", self._size.budget), "--plan", plan, "--shares", self._size.shares,
            "--seed", self._seed,
        )  # fmt: skip

    def search(self) -> None:
        """Propose, measure, confirm, promote, as far as rounds and budget go."""
        self.command("evolve", "check")
        left = max(0, self._size.rounds - self.known().rounds)
        self.command("evolve", "run", *[word for one in PROPOSERS for word in ("--proposer", one)], "--rounds", left)

    def release(self) -> None:
        """Open the sealed tasks, if there is something to release."""
        state = self.known()
        if state.champion.bundle == state.reigns[0].bundle:
            print("\nNothing was promoted, so there is nothing to release: the sealed tasks stay closed.")
        elif not state.sealed:
            self.command("evolve", "seal", "open", "--by", "benchmark", *_amounts("--add", self._size.release))
        elif not state.comparisons[state.sealed].closed:
            self.command("evolve", "seal", "open", "--by", "benchmark")

    def tell(self) -> None:
        """Write the report, verify the ledger."""
        self.command("evolve", "status")
        self.command("evolve", "report", "--out", self._out / "report.html")
        self.command("evolve", "verify")

    def state(self) -> State | None:
        """All that is known; None before the beginning."""
        ledger = self._data / "evolver" / "ledger.jsonl"
        return fold(read_ledger(ledger)) if ledger.exists() and ledger.stat().st_size else None

    def known(self) -> State:
        """The same after the beginning."""
        state = self.state()
        assert state is not None
        return state

    def command(self, *words: object) -> None:
        """Run a command of adapter-server on the evolution's folder; the script ends when it fails."""
        said = [str(word) for word in words]
        print(f"\n$ adapter-server {' '.join(said)}", flush=True)
        if code := run_command([*said, "--data", str(self._data)]):
            sys.exit(code)


def _amounts(option: str, amounts: dict[str, int]) -> list[str]:
    return [word for unit, amount in amounts.items() for word in (option, f"{unit}={amount}")]


def main() -> None:
    """Evolve, release, report, verify."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(SIZES))
    parser.add_argument("--tip", type=Path, help="folder with the TIP problems")
    parser.add_argument("--out", type=Path, help="folder; default: runs/evolution-KIND")
    parser.add_argument("--team", default="tactician:3")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--time", type=int, help="seconds for an episode; more on a slow or busy machine")
    parser.add_argument("--seconds", type=int, help="team time for search and confirmation")
    parser.add_argument("--fresh", action="store_true", help="begin anew in the folder")
    given = parser.parse_args()
    out = given.out or Path("runs") / f"evolution-{given.kind}"
    size = SIZES[given.kind]
    size = size._replace(time=given.time or size.time)
    if given.seconds:
        size = size._replace(budget=size.budget | {"seconds": given.seconds})
    if given.fresh:
        shutil.rmtree(out, ignore_errors=True)
    began = time.monotonic()
    evolution = Evolution(out, size, seed=given.seed)
    evolution.begin(problems_of(given.kind, given.tip), team=given.team)
    evolution.search()
    evolution.release()
    evolution.tell()
    state = evolution.known()
    promoted = f"{state.promoted} promoted" if state.promoted else "nothing was promoted"
    spent = ", ".join(f"{amount:.0f} {unit}" for unit, amount in state.spent.items())
    print(f"\n{promoted}; {spent} spent; {time.monotonic() - began:.0f} s now; the report is {out / 'report.html'}")


if __name__ == "__main__":
    main()
