"""A toolchain's own `leanchecker`: a second process that replays modules, where the toolchain has one."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import anyio

from bus.errors import LeanUnavailable

from .core_library import CoreLibrary
from .toolchain import Toolchain

_SECONDS = 600


async def second_opinion(
    toolchain: Toolchain, core: CoreLibrary, modules: Sequence[str], *, folder: Path
) -> tuple[str, ...]:
    """Return the checker, as certificates name it, if it accepts `modules` in `folder`; nothing when there is none.

    It maps the modules into memory, so they must have passed the memory-safe reader.

    Raises:
        LeanUnavailable: it refuses them, or does not run.
    """
    if toolchain.checker is None:
        return ()
    path = ":".join([*core.lean_path, str(folder)])
    command = [str(toolchain.checker), *modules]
    try:
        with anyio.fail_after(_SECONDS):
            done = await anyio.run_process(
                command, stdin=subprocess.DEVNULL, check=False, cwd=folder, env={"LEAN_PATH": path}
            )
    except (OSError, TimeoutError) as error:
        raise LeanUnavailable(f"leanchecker does not run: {error or f'{_SECONDS} s are over'}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise LeanUnavailable(f"leanchecker refuses the proof: {said[-1] if said else done.returncode}")
    return (f"leanchecker of lean {toolchain.version}",)
