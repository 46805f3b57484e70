"""What a check can reach: nothing but its source, the library and a scratch folder."""

import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from lemma_store.lean import landlock, libc, sandbox
from lemma_store.lean.jobs import Confinement
from lemma_store.lean.sandbox import SandboxReport
from tests.lemma_store.attacks import (
    MACHINE,
    NAMESPACES_ONLY,
    NOTHING,
    attack,
    filtered,
    layers,
    listed,
    needs_landlock,
    needs_namespaces,
    say,
    tried,
)


@pytest.mark.parametrize("confinement", [*layers, pytest.param(NOTHING, id="no layer")])
def test_an_honest_run_reads_its_source_and_hands_over_its_artifact(confinement: Confinement, scratch: Path):
    def action() -> int:
        Path("out.olean").write_bytes(b"artifact of " + Path("Attack.lean").read_bytes())
        return say("fine")

    report = attack(action, scratch=scratch, confinement=confinement)

    assert (report.outcome, report.exit_code, report.output) == ("finished", 0, b"fine\n")
    assert report.artifact == b"artifact of -- text\n"
    assert list(scratch.iterdir()) == []


def test_without_any_layer_the_same_attacks_succeed(scratch: Path, tmp_path: Path, victim: subprocess.Popen[bytes]):
    secret = tmp_path / "secret"
    secret.write_text("secret")

    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        report = attack(
            tried(
                secret.read_text,
                (tmp_path / "new").touch,
                lambda: listed("/usr"),
                lambda: socket.socket().connect(address),
                lambda: libc.syscall(434, victim.pid, 0),
                lambda: os.kill(victim.pid, signal.SIGKILL),
            ),
            scratch=scratch,
            confinement=NOTHING,
        )

    assert report.output.split() == [b"done"] * 6
    assert victim.wait(5) == -signal.SIGKILL


@pytest.mark.parametrize("confinement", layers)
def test_nothing_outside_can_be_read(confinement: Confinement, scratch: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    home = Path.home()

    report = attack(
        tried(
            secret.read_text,
            (scratch / ".." / "secret").read_text,
            Path("/etc/passwd").read_text,
            lambda: listed(home),
            lambda: listed("/usr"),
            Path(f"/proc/{os.getppid()}/environ").read_bytes,
            Path("/proc/self/environ").read_bytes,
        ),
        scratch=scratch,
        confinement=confinement,
    )

    assert report.output.splitlines()
    assert set(report.output.split()) <= {b"PermissionError", b"FileNotFoundError"}


@pytest.mark.parametrize("confinement", layers)
def test_nothing_outside_can_be_written(confinement: Confinement, scratch: Path, tmp_path: Path):
    target = tmp_path / "target"
    target.write_text("as it was")
    library = tmp_path / "library"
    library.mkdir()
    (library / "M.olean").write_text("as it was")
    (library / "M.olean").chmod(0o400)

    def action() -> int:
        inside = os.environ["LEAN_PATH"]
        return tried(
            lambda: target.write_text("changed"),
            lambda: (tmp_path / "new").write_text("new"),
            lambda: Path(inside, "M.olean").write_text("changed"),
            lambda: Path(inside, "N.olean").write_text("new"),
            Path(inside, "M.olean").unlink,
            lambda: os.truncate(Path(inside, "M.olean"), 0),
            lambda: Path(inside, "M.olean").chmod(0o600),
        )()

    attack(action, scratch=scratch, confinement=confinement, lean_path=(str(library),))

    assert target.read_text() == "as it was"
    assert [path.name for path in library.iterdir()] == ["M.olean"]
    assert (library / "M.olean").read_text() == "as it was"
    assert (library / "M.olean").stat().st_mode & 0o777 == 0o400
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("confinement", layers)
def test_the_library_can_be_read_and_no_other_check(confinement: Confinement, scratch: Path, tmp_path: Path):
    library = tmp_path / "library"
    library.mkdir()
    (library / "M.olean").write_text("module")
    sibling = scratch / "sibling"
    sibling.mkdir()
    (sibling / "Attack.lean").write_text("of another agent")

    def action() -> int:
        say(Path(os.environ["LEAN_PATH"], "M.olean").read_text())
        return tried((sibling / "Attack.lean").read_text)()

    report = attack(action, scratch=scratch, confinement=confinement, lean_path=(str(library),))

    first, second = report.output.splitlines()
    assert first == b"module"
    assert second != b"done"


@needs_landlock
@pytest.mark.parametrize("level", range(1, MACHINE.landlock + 1))
def test_every_level_of_landlock_keeps_files_out_of_reach(level: int, scratch: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("secret")

    report = attack(
        tried(
            secret.read_text,
            lambda: secret.write_text("changed"),
            (tmp_path / "new").touch,
            lambda: Path("inside").write_text("allowed"),
            Path("inside").read_text,
        ),
        scratch=scratch,
        confinement=Confinement(landlock=level),
    )

    assert report.output.split() == [b"PermissionError"] * 3 + [b"done"] * 2
    assert secret.read_text() == "secret"


def test_the_environment_is_empty_but_for_what_lean_needs(scratch: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ADAPTER_TOKEN", "secret")

    report = attack(lambda: say(sorted(os.environ)), scratch=scratch)

    assert report.output == b"['LEAN_NUM_THREADS', 'LEAN_PATH']\n"


def test_only_the_standard_descriptors_are_open(scratch: Path):
    def action() -> int:
        for number in range(256):
            with suppress(OSError):
                os.fstat(number)
                say(number)
        return 0

    with socket.socket():
        report = attack(action, scratch=scratch)

    assert report.output.split() == [b"0", b"1", b"2"]


@pytest.mark.parametrize("confinement", filtered)
def test_no_socket_can_be_made(confinement: Confinement, scratch: Path):
    report = attack(
        tried(
            lambda: socket.socket(socket.AF_INET),
            lambda: socket.socket(socket.AF_UNIX),
            lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
            socket.socketpair,
        ),
        scratch=scratch,
        confinement=confinement,
    )

    assert report.output.split() == [b"PermissionError"] * 4


@needs_namespaces
def test_the_network_is_another_one_even_where_sockets_can_be_made(scratch: Path):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0adapter-{os.getpid()}")
        abstract.listen()
        address, name = server.getsockname(), abstract.getsockname()
        report = attack(
            tried(
                lambda: socket.socket().connect(address),
                lambda: socket.socket(socket.AF_UNIX).connect(name),
            ),
            scratch=scratch,
            confinement=NAMESPACES_ONLY,
        )

    assert b"done" not in report.output
    assert len(report.output.split()) == 2


@needs_landlock
@pytest.mark.skipif(MACHINE.landlock < landlock.SCOPE_LEVEL, reason="this kernel's Landlock does not know them")
def test_landlock_alone_stops_connections_and_signals(scratch: Path, victim: subprocess.Popen[bytes]):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        report = attack(
            tried(
                lambda: socket.socket().connect(address),
                lambda: os.kill(victim.pid, signal.SIGKILL),
            ),
            scratch=scratch,
            confinement=Confinement(landlock=MACHINE.landlock),
        )

    assert report.output.split() == [b"PermissionError"] * 2
    assert victim.poll() is None


def test_the_report_names_every_layer_and_gives_a_reason_for_each_that_is_missing():
    report = sandbox.probe()

    assert {"user_namespace", "process_namespace", "landlock_files", "seccomp", "limits"} <= set(report.layers)
    assert set(report.reasons) == {layer for layer, holds in report.layers.items() if not holds}


@pytest.mark.parametrize(
    ("confinement", "is_sufficient"),
    [
        (Confinement(is_isolated=True), True),
        (Confinement(landlock=1), True),
        (Confinement(is_filtered=True), False),
    ],
)
def test_files_must_be_out_of_reach_by_one_layer_at_least(confinement: Confinement, is_sufficient: bool):
    report = SandboxReport(layers={}, reasons={}, confinement=confinement)

    assert report.is_sufficient is is_sufficient
