"""`find` on the labelled set of benchmarks/finding, with real Lean: what is right comes among the first five."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "finding.py"
FLOORS = {"text": 0.9, "parts": 0.9, "messages": 1.0, "same": 1.0, "closes": 0.8, "uses": 1.0}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_right_answer_is_among_the_first_five() -> None:
    command = [sys.executable, "-P", str(BENCHMARK), "--noise", "40"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert {kind: share for kind, share in found["recall_at_5"].items() if share < FLOORS[kind]} == {}, found["missed"]
    assert found["recall_at_5"].keys() == FLOORS.keys()
