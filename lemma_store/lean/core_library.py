"""Trusted libraries, and the one that ships: MiniCore, compiled once per machine into a cache keyed by content."""

import fcntl
import hashlib
import importlib.resources
import os
import re
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
import structlog

from bus.errors import LeanUnavailable

from .elaboration import Elaborated, Elaboration, ForkServer
from .toolchain import Toolchain, cache_folder

ROOT_MODULE = "MiniCore"
LIBRARY = "library"
"""What judges call the modules of a library; no text imports it under that name."""

_IMPORT = re.compile(r"^import[ \t]+([A-Za-z0-9_.]+)[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"/-.*?-/|--[^\n]*", re.DOTALL)
_DIGESTS = "digests.json"
_BUILD_MS = 120_000
_LOCK_RETRY_SECONDS = 0.05
_BUILD_HEARTBEATS = 200_000

_log = structlog.get_logger()


class CoreModule(msgspec.Struct, frozen=True, kw_only=True):
    """One compiled module of the core library."""

    name: str
    artifact: Path
    """Its `.olean`."""
    digest: str
    """SHA-256 of the artifact and of what belongs to it, as they were when compiled."""
    more: tuple[Path, ...] = ()
    """Its other files, if it is compiled in parts."""
    source: Path | None = None
    """Its text, where that is for agents to read."""


class CoreLibrary(msgspec.Struct, frozen=True, kw_only=True):
    """The compiled library that everything else rests on. Its files are trusted."""

    folder: Path
    """To be put on Lean's search path."""
    id: str
    """Names the sources and the toolchain that compiled them."""
    modules: tuple[CoreModule, ...]
    """Every module comes after those it imports."""
    imports: tuple[str, ...] = (ROOT_MODULE,)
    """What a text imports to have all of it."""
    is_embedded: bool = True
    """It is the one that ships, and no project's."""
    more_folders: tuple[Path, ...] = ()
    """More folders for Lean's search path, after `folder`."""
    imported_bytes: int = 0
    """Its size, if it is too large to be replayed, so that judges have Lean import it; otherwise 0."""

    def header(self, *more: str) -> str:
        """Return the header of an operator's text that rests on the library and on `more` modules."""
        # A project's texts are read as its own `lake env lean` would read them.
        options = ("linter.all false", "autoImplicit false") if self.is_embedded else ("linter.all false",)
        lines = [*(f"import {name}" for name in (*self.imports, *more)), *(f"set_option {item}" for item in options)]
        return "\n".join(["prelude", *lines, ""])

    @property
    def replayed(self) -> list[tuple[str, tuple[Path, ...]]]:
        """The files of its modules as a judge takes them; none if it is imported."""
        if self.imported_bytes:
            return []
        return [(LIBRARY, (module.artifact, *module.more)) for module in self.modules]

    @property
    def basis(self) -> str:
        """How it comes into a kernel, as certificates say it."""
        return "imported" if self.imported_bytes else "replayed"

    @property
    def lean_path(self) -> tuple[str, ...]:
        """Search path of a text that imports it."""
        return str(self.folder), *(str(folder) for folder in self.more_folders if folder.is_dir())


async def build_core_library(toolchain: Toolchain, *, lean: ForkServer, cache: Path | None = None) -> CoreLibrary:
    """Return the core library, compiling it unless this machine has it. Raises LeanUnavailable.

    Two processes that want it at once build it once: the second waits for the first. A library whose files are not
    what they were when compiled is compiled anew.
    """
    sources = read_core_sources()
    order = order_modules(sources)
    folder = (cache or cache_folder()) / library_id(sources, toolchain=toolchain)
    if library := await anyio.to_thread.run_sync(_load, folder, order):
        return library
    async with _exclusively(folder):
        if library := await anyio.to_thread.run_sync(_load, folder, order):
            return library
        await _build(sources, order=order, lean=lean, folder=folder)
    if library := await anyio.to_thread.run_sync(_load, folder, order):
        return library
    raise LeanUnavailable(f"the compiled core library changed while it was written: {folder}")


def read_core_sources() -> dict[str, str]:
    """Read the shipped sources, by module name."""
    root = importlib.resources.files("lemma_store") / "minicore"
    with importlib.resources.as_file(root) as folder:
        return {
            ".".join(path.relative_to(folder).with_suffix("").parts): path.read_text()
            for path in sorted(folder.rglob("*.lean"))
        }


def order_modules(sources: Mapping[str, str]) -> tuple[str, ...]:
    """Put every module after those it imports; otherwise by name. Raises LeanUnavailable for a broken library."""
    try:
        return tuple(TopologicalSorter(_dependencies(sources)).static_order())
    except CycleError as error:
        raise LeanUnavailable(f"the core library imports itself: {error.args[1]}") from error


def library_id(sources: Mapping[str, str], *, toolchain: Toolchain) -> str:
    """Return the name of the library that these sources become under this toolchain."""
    digest = hashlib.sha256(toolchain.id.encode())
    for name, text in sorted(sources.items()):
        digest.update(f"\0{name}\0{hashlib.sha256(text.encode()).hexdigest()}".encode())
    return f"core-{digest.hexdigest()[:24]}"


def _dependencies(sources: Mapping[str, str]) -> dict[str, list[str]]:
    imports = {name: sorted(_IMPORT.findall(_COMMENT.sub("", text))) for name, text in sorted(sources.items())}
    for name, wanted in imports.items():
        if missing := set(wanted) - set(sources):
            raise LeanUnavailable(f"module {name} of the core library imports {', '.join(sorted(missing))}")
    return imports


async def _build(sources: Mapping[str, str], *, order: tuple[str, ...], lean: ForkServer, folder: Path) -> None:
    """Compile into a folder of its own and move it into place as a whole."""
    started = anyio.current_time()
    draft = Path(await anyio.to_thread.run_sync(_make_draft, folder))
    try:
        await _compile_all(sources, order=order, lean=lean, folder=draft)
        await anyio.to_thread.run_sync(_put_in_place, draft, folder, order)
    finally:
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(draft, ignore_errors=True))
    _log.info("core_library_built", folder=str(folder), seconds=round(anyio.current_time() - started, 2))


async def _compile_all(sources: Mapping[str, str], *, order: Iterable[str], lean: ForkServer, folder: Path) -> None:
    """Compile every module as soon as those it imports are there."""
    imports = _dependencies(sources)
    done = {module: anyio.Event() for module in sources}
    failures: list[LeanUnavailable] = []

    async def compile_one(module: str) -> None:
        for wanted in imports[module]:
            await done[wanted].wait()
        try:
            await _compile(module, source=sources[module], lean=lean, folder=folder)
        except LeanUnavailable as failure:
            failures.append(failure)
            tasks.cancel_scope.cancel()
        done[module].set()

    async with anyio.create_task_group() as tasks:
        for module in order:
            tasks.start_soon(compile_one, module)
    if failures:
        raise failures[0]


async def _compile(module: str, *, source: str, lean: ForkServer, folder: Path) -> None:
    elaboration = Elaboration(
        source=source.encode(),
        module=module,
        lean_path=(str(folder),),
        wants_artifact=True,
        heartbeats=_BUILD_HEARTBEATS,
        wall_ms=_BUILD_MS,
    )
    elaborated = await lean.run(elaboration)
    if elaborated.outcome != "finished" or elaborated.exit_code != 0 or elaborated.artifact is None:
        raise LeanUnavailable(f"module {module} of the core library did not compile: {_complaint(elaborated)}")
    target = anyio.Path(_artifact(folder, module))
    await target.parent.mkdir(parents=True, exist_ok=True)
    await target.write_bytes(elaborated.artifact)


def _complaint(elaborated: Elaborated) -> str:
    errors = [message for message in elaborated.messages if message.severity == "error"]
    if not errors:
        return f"{elaborated.outcome} {elaborated.reason}"
    return f"line {errors[0].line}: {errors[0].text[:500]}"


def _artifact(folder: Path, module: str) -> Path:
    return folder.joinpath(*module.split(".")).with_suffix(".olean")


def _load(folder: Path, order: tuple[str, ...]) -> CoreLibrary | None:
    """Return the library in a folder if every file is there and unchanged."""
    try:
        digests = msgspec.json.decode((folder / _DIGESTS).read_bytes(), type=dict[str, str])
        if digests != _digests(folder, order):
            return None
    except (OSError, msgspec.DecodeError):
        return None
    modules = (CoreModule(name=name, artifact=_artifact(folder, name), digest=digests[name]) for name in order)
    return CoreLibrary(folder=folder, id=folder.name, modules=tuple(modules))


def _digests(folder: Path, order: tuple[str, ...]) -> dict[str, str]:
    return {module: hashlib.sha256(_artifact(folder, module).read_bytes()).hexdigest() for module in order}


def _put_in_place(draft: Path, folder: Path, order: tuple[str, ...]) -> None:
    (draft / _DIGESTS).write_bytes(msgspec.json.encode(_digests(draft, order)))
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)


def _make_draft(folder: Path) -> str:
    """Make a folder to build in. Whoever holds the lock may clear what a killed builder left."""
    for leftover in folder.parent.glob(f"{folder.name}.*/"):
        shutil.rmtree(leftover, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent)


@asynccontextmanager
async def _exclusively(folder: Path) -> AsyncGenerator[None]:
    """Hold the machine-wide lock of a library; the kernel lets go of it when its holder dies."""
    await anyio.Path(folder.parent).mkdir(parents=True, exist_ok=True)
    lock = os.open(folder.with_name(f"{folder.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _try_lock(lock):  # noqa: ASYNC110 (another process holds it, so there is no event to wait for)
            await anyio.sleep(_LOCK_RETRY_SECONDS)
        yield
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
