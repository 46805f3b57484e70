"""bubblewrap around the whole fork server: a second layer, used where the program is installed and works.

Inside it there is no network, no other process, and no file but Python, this program, Lean, compiled modules and the
scratch folder. It does not stand in for the layers around each check; those go on inside it.
"""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

PROGRAM = "bwrap"
_PACKAGES = ("lemma_store", "bus")
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc/ld.so.cache")
_PROBE_SECONDS = 20


def missing() -> str:
    """Return why bubblewrap is not used on this machine; nothing when it is."""
    program = shutil.which(PROGRAM)
    return _fault(program) if program else f"{PROGRAM} is not installed (package bubblewrap)"


def wrapped(command: Sequence[str], *, scratch: Path, readable: Sequence[Path]) -> list[str]:
    """Return the command that runs `command` inside bubblewrap; it may write in `scratch` only.

    Args:
        command: what to run; open descriptors go along.
        scratch: an existing folder.
        readable: what it may read besides Python and this program; what does not exist yet is left out.
    """
    words = [shutil.which(PROGRAM) or PROGRAM, "--unshare-all", "--die-with-parent", "--new-session"]
    words += ["--tmpfs", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in _existing([*_system(), *readable]):
        words += ["--ro-bind", path, path]
    words += ["--bind", str(scratch), str(scratch), "--remount-ro", "/", "--chdir", str(scratch), "--"]
    return [*words, *command]


def _system() -> list[Path]:
    """What Python and this program are made of."""
    found = [*(Path(path) for path in _SYSTEM), Path(sys.prefix), Path(sys.base_prefix)]
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        found += [Path(place) for place in spec.submodule_search_locations or ()]
    return found


def _existing(paths: Sequence[Path]) -> list[str]:
    """Return paths that exist, each once, containing folders before what they contain."""
    return sorted({str(path.absolute()) for path in paths if path.exists()})


@lru_cache
def _fault(program: str) -> str:
    """Return why `program` cannot start Python here; nothing when it can."""
    folder = Path(__file__).parent
    command = wrapped([sys.executable, "-I", "-c", "import lemma_store.lean.jobs"], scratch=folder, readable=[])
    command[0] = program
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not run: {error}"
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return "" if done.returncode == 0 else f"{program} does not work here: {said[-1] if said else done.returncode}"
