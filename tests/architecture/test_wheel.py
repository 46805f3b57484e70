"""The wheel is complete: in a fresh environment, away from the checkout, it helps, diagnoses and proves."""

import json
import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("bus", "blackboard", "lemma_store", "adapter_server", "clients", "scenarios")
DATA_SUFFIXES = {".lean", ".lua", ".json", ".md", ".typed"}

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel; its dependencies are those of this one, without the checkout."""
    if not request.config.getoption("--run-wheel", default=False):
        pytest.skip("needs --run-wheel")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, text=True, timeout=300)
    (wheel,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, text=True, timeout=300)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([str(python), "-c", where], check=True, capture_output=True, text=True).stdout.strip()
    # a path in a .pth file is searched last and its own .pth files, the editable install among them, are not read
    (Path(packages) / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return folder


def ran(environment: Path, *args: str, program: str = "adapter-server") -> subprocess.CompletedProcess[str]:
    away = environment / "away"
    away.mkdir(exist_ok=True)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(environment / "venv" / "bin" / program), *args]
    return subprocess.run(command, cwd=away, env=variables, capture_output=True, text=True, timeout=300, check=False)


def test_the_wheel_holds_every_data_file(environment: Path) -> None:
    script = "import importlib.resources as r, sys\nfor p in sys.argv[1:]: print(r.files(p))"
    places = ran(environment, "-c", script, *PACKAGES, program="python").stdout.split()
    assert len(places) == len(PACKAGES)
    for package, place in zip(PACKAGES, places, strict=True):
        assert Path(place).is_relative_to(environment)
        here = {
            path.relative_to(ROOT / package) for path in (ROOT / package).rglob("*") if path.suffix in DATA_SUFFIXES
        }
        there = {path.relative_to(place) for path in Path(place).rglob("*") if path.suffix in DATA_SUFFIXES}
        assert here == there


def test_the_command_helps_and_the_doctor_finds_what_it_needs(environment: Path) -> None:
    assert "demo" in ran(environment, "--help").stdout
    done = ran(environment, "doctor", "--json", "--port", "0", "--data", str(environment / "data"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["ok"] is True


def test_the_installed_program_proves_a_shipped_problem(environment: Path) -> None:
    done = ran(environment, "run", "append_nil", "--team", "tactician:2", "--out", "run", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "solved"
