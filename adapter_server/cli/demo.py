"""`adapter-server demo`: five agents on a shipped problem that needs lemmas."""

from pathlib import Path

from scenarios.lean.run_folder import free_path

from .run import RUNS, start_run

PROBLEM = "rev_rev"


def run_demo(*, team: str, seconds: float, out: Path | None, seed: int, is_unsafe: bool, is_json: bool) -> int:
    """Prove the shipped problem in a new run folder.

    Raises:
        AdapterError: as `start_run`.
    """
    folder = out or free_path(RUNS, "demo")
    return start_run(
        PROBLEM, team=team, seconds=seconds, out=folder, server=None, token_file=None, seed=seed, is_unsafe=is_unsafe,
        is_json=is_json,
    )  # fmt: skip
