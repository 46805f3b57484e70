"""A small evolution with real teams: from a plain version, by knob search, on the shipped problems.

    python -P benchmarks/evolve_demo.py [runs/evolve-demo] [--seconds 430]

The plain version lets every agent do one thing only: simplify. The search may offer other techniques, or change numbers
that do not matter. What is promoted, if anything, is decided by the gates alone; the report and the verification of the
ledger come at the end. Sizes are small, so that it ends within ten minutes on two cores: only large gains can be seen.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

import msgspec

from adapter_server.bundle import default_bundle_folder
from adapter_server.cli.main import run_command
from adapter_server.staging import load_bundle

PROBLEMS = Path(__file__).parents[1] / "scenarios" / "lean" / "problems"
PLAN = {"aa_pairs": 2, "screen_pairs": 0, "gate_pairs": 9, "confirm_pairs": 8, "guard_trials": 3, "max_failures": 3}
SPACE = {
    "policy.json#/portfolio": {
        "type": "choices",
        "values": [
            ["simp_all", "definitions"],
            ["simp_all", "rewrite"],
            ["simp_all", "rewrite", "generalise", "explore"],
            ["simp_all", "definitions", "newest", "half", "star", "rewrite", "generalise", "explore", "conditions"],
        ],
    },
    "policy.json#/repeat_window_s": {"type": "choices", "values": [5, 20]},
}
ROUNDS = 4


def plain_version(folder: Path) -> Path:
    """The built-in version with one technique and one role."""
    shutil.copytree(default_bundle_folder(), folder)
    file = folder / "policy.json"
    policy = json.loads(file.read_text(encoding="utf-8"))
    changed = policy | {"portfolio": ["simp_all"], "roles": {"default": ["prover"]}}
    file.write_text(json.dumps(changed, indent=2) + "\n", encoding="utf-8")
    return folder


def command(*words: object) -> None:
    """Run a command of adapter-server; the demo ends when it fails."""
    shown = " ".join(str(word) for word in words)
    print(f"\n$ adapter-server {shown}", flush=True)
    if code := run_command([str(word) for word in words]):
        sys.exit(code)


def main() -> None:
    """Evolve, report, verify."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", default=Path("runs") / "evolve-demo", help="folder, made anew")
    parser.add_argument("--seconds", type=int, default=430, help="for all episodes together")
    parser.add_argument("--time", type=int, default=10, help="seconds for one episode")
    given = parser.parse_args()
    began = time.monotonic()
    shutil.rmtree(given.out, ignore_errors=True)
    data = given.out / "data"
    version = load_bundle(plain_version(given.out / "plain")).id
    for name, content in (("plan.json", PLAN), ("space.json", SPACE)):
        (given.out / name).write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=1))
    command("adapter", "stage", given.out / "plain", "--data", data)
    command("adapter", "activate", version, "--data", data)
    command(
        "evolve", "init", PROBLEMS, "--team", "tactician:2", "--time", given.time, "--checks", 20, "--auto",
        "--budget", "checks=1500", "--budget", f"seconds={given.seconds}", "--plan", given.out / "plan.json",
        "--shares", "45,30,0,25", "--data", data,
    )  # fmt: skip
    command("evolve", "check", "--data", data)
    command("evolve", "run", "--proposer", f"knobs:{given.out / 'space.json'}", "--rounds", ROUNDS, "--data", data)
    command("evolve", "report", "--out", given.out / "report.html", "--data", data)
    command("evolve", "verify", "--data", data)
    print(f"\n{time.monotonic() - began:.0f} s; the report is {given.out / 'report.html'}")


if __name__ == "__main__":
    main()
