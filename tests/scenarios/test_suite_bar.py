"""The bar of a suite on a terminal: a real one, made narrow."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

SCRIPT = """
from bus.records import Caps, EpisodeRecord, Spent
from scenarios.lean.suite_progress import suite_progress
record = EpisodeRecord(episode="e", task="t", bundle="b", purpose="user", outcome="solved", team="tactician:5",
                       caps=Caps(), spent=Spent(seconds=1.0, checks=2), started_at=0.0)
with suite_progress() as progress:
    progress.begin(3, [record])
    progress.starts("set/a_problem_whose_name_is_longer_than_the_terminal_is_wide")
    progress.starts("set/another")
    progress.ends("set/another", record)
"""


@pytest.mark.parametrize("columns", [100, 40])
def test_counts_and_times_stay_in_sight_whatever_runs(columns: int) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    subprocess.run(
        [sys.executable, "-c", SCRIPT], stderr=theirs, check=True, timeout=60, env={**variables, "TERM": "xterm"}
    )
    os.close(theirs)
    drawn = _all_of(ours)

    assert "2/3 0:00:00 gone, -:--:-- left" in drawn[-2]
    assert drawn[-1].startswith("2 solved  set/a_problem")
    assert len(drawn[-1]) <= columns


def _all_of(end: int) -> list[str]:
    """The lines that were written to a terminal, without its control sequences."""
    data = bytearray()
    try:
        while chunk := os.read(end, 65536):
            data += chunk
    except OSError:  # what Linux says when nobody is at the other end any more
        pass
    finally:
        os.close(end)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode())
    return [line for line in re.split(r"[\r\n]+", text) if line.strip()]
