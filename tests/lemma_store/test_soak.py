import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_checks_in_a_row_leave_no_process_no_descriptor_and_no_memory():
    """A slice; `benchmarks/soak.py` itself runs as many as wanted."""
    program = ROOT / "benchmarks" / "soak.py"
    command = [sys.executable, "-P", str(program), "--count", "36", "--warm", "18"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["checks"] == 36
    assert found["after"]["processes"] >= 5, "the server, its store, the fork server, the judges"
