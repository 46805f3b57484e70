"""A machine without Landlock and without namespaces, made by a filter of system calls around the real command."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adapter_server.data_folder import DataFolder
from lemma_store.lean import seccomp

pytestmark = [
    pytest.mark.timeout(200),
    pytest.mark.skipif(not seccomp.is_known_machine(), reason="the filter is for x86-64 only"),
]

POOR = """
import ctypes, errno, os, struct, sys
from lemma_store.lean import libc
LANDLOCK, UNSHARE, CLONE, CLONE3, SETNS = (444, 445, 446), 272, 56, 435, 308
NEW_NAMESPACES = 0x7E020000
LOAD, EQUAL, ANY_BIT, RETURN, ALLOW, ERROR = 0x20, 0x15, 0x45, 0x06, 0x7FFF0000, 0x50000
def line(code, value, then=0, otherwise=0):
    return struct.pack("=HBBI", code, then, otherwise, value)
lines = [line(LOAD, 0)]
for number in (*LANDLOCK, UNSHARE, CLONE3, SETNS):
    lines += [line(EQUAL, number, 0, 1), line(RETURN, ERROR | (errno.EPERM if number == UNSHARE else errno.ENOSYS))]
lines += [line(EQUAL, CLONE, 0, 3), line(LOAD, 16), line(ANY_BIT, NEW_NAMESPACES, 0, 1)]
lines.append(line(RETURN, ERROR | errno.EPERM))
lines.append(line(RETURN, ALLOW))
program = b"".join(lines)
held = ctypes.create_string_buffer(program, len(program))
libc.forbid_new_privileges()
libc.syscall(317, 1, 0, struct.pack("=H6xQ", len(lines), ctypes.addressof(held)))
os.execv(sys.executable, [sys.executable, "-m", "adapter_server.cli.main", *sys.argv[1:]])
"""


def poor(*words: str) -> list[str]:
    return [sys.executable, "-c", POOR, *words]


def said(*words: str, cwd: Path) -> tuple[int, str]:
    done = subprocess.run(poor(*words), cwd=cwd, capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [("serve", "--port", "0", "--data", "data"), ("demo", "--out", "demo", "--json")])
def test_serve_and_demo_refuse_to_run_text_that_nothing_confines(words: tuple[str, ...], tmp_path: Path):
    code, told = said(*words, cwd=tmp_path)

    assert code == 3
    assert "neither Landlock nor namespaces" in told
    assert "--unsafe-no-sandbox lets checked text read and write your files" in " ".join(told.split())


def test_doctor_says_that_serve_would_not_work(tmp_path: Path):
    done = subprocess.run(
        poor("doctor", "--data", "data", "--port", "0"),
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip

    assert done.returncode == 3
    assert "MISSING sandbox" in done.stdout
    assert "--unsafe-no-sandbox" in done.stdout


def test_serve_runs_there_when_told_so(tmp_path: Path):
    data = tmp_path / "data"
    command = poor("serve", "--port", "0", "--data", str(data), "--unsafe-no-sandbox")
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        daemon = DataFolder(path=data)
        while process.poll() is None and daemon.server() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
