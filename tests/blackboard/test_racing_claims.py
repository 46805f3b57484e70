import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_processes_that_race_for_the_same_parts_never_get_one_twice() -> None:
    program = ROOT / "benchmarks" / "racing_claims.py"
    options = ["--processes", "4", "--claims", "400", "--nodes", "2"]
    # -P: a benchmark is named like the package that it measures
    command = [sys.executable, "-P", str(program), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["violations"] == []
    assert result["granted"] > 100
