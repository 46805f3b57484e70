"""What checks and judges stand on: a toolchain, Lean running, and the libraries that problems may import."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread

from bus.errors import BadProblem

from .lean.core_library import ROOT_MODULE, CoreLibrary, build_core_library
from .lean.elaboration import ForkServer
from .lean.project import Project, open_project
from .lean.toolchain import Toolchain, find_toolchain


class Ground:
    """The embedded Lean with its core library, or the toolchain of a Lake project with the modules found there."""

    def __init__(self, toolchain: Toolchain, lean: ForkServer, found: CoreLibrary | Project) -> None:
        self.toolchain = toolchain
        self.lean = lean
        self._found = found

    async def library(self, imports: tuple[str, ...]) -> CoreLibrary:
        """Return the library that a text with these imports rests on.

        Raises:
            BadProblem: a module is not there, or cannot be replayed.
        """
        if isinstance(self._found, Project):
            return await anyio.to_thread.run_sync(self._found.library, imports)
        for name in imports:
            if name not in ("Init", *(module.name for module in self._found.modules)):
                reason = f"the file imports {name}, which is no part of the embedded core library {ROOT_MODULE}"
                raise BadProblem(f"{reason}; name its Lake project with --project")
        return self._found


@asynccontextmanager
async def open_ground(
    *, project: Path | None = None, scratch: Path, readable: Sequence[Path] = (), workers: int = 2,
    unsafe: bool = False, cache: Path | None = None,
) -> AsyncGenerator[Ground]:  # fmt: skip
    """Run Lean: that of `project`, or the embedded one, whose core library is built when `cache` has none.

    Raises:
        BadProblem: `project` is no Lake project.
        LeanUnavailable: the toolchain is missing, or not one that is known.
        NoSandbox: checks could not be confined, and `unsafe` is not given.
    """
    used = await anyio.to_thread.run_sync(open_project, project) if project else None
    toolchain = used.toolchain if used else await anyio.to_thread.run_sync(find_toolchain)
    readable = (*readable, *(folder for folder in (used.search_path if used else ()) if folder.is_dir()))
    async with ForkServer(toolchain, scratch=scratch, readable=readable, workers=workers, unsafe=unsafe) as lean:
        yield Ground(toolchain, lean, used or await build_core_library(toolchain, lean=lean, cache=cache))
