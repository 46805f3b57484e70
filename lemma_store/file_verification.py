"""Verify a theorem of one Lean file: compiled in the sandbox, then replayed in a kernel that never saw the text."""

import contextlib
import resource
import tempfile
import time
from pathlib import Path

import anyio

from bus.errors import AdapterError

from .blocks import cut
from .ground import open_ground
from .header import cut_header
from .intake import MAX_BYTES
from .judge import start_judge
from .lean.core_library import CoreLibrary
from .lean.elaboration import Elaborated, Elaboration, ForkServer
from .lean.leanchecker import second_opinion
from .lean.toolchain import Toolchain
from .lexing import words
from .policy import ALLOWED_AXIOMS
from .tasks import LEMMA_PREFIX, Admit, Judged
from .verification import NotProved, Verification

_MODULE = f"{LEMMA_PREFIX}File"
_HEARTBEATS, _WALL_MS, _JUDGE_MS = 200_000, 120_000, 120_000
_JUDGE_BYTES = 4 << 30
_MAX_ERRORS = 5


async def verify_file(
    path: Path, *, theorem: str | None = None, project: Path | None = None, unsafe: bool = False
) -> Verification:
    """Verify `theorem` of a Lean file, or its last theorem; the file's own definitions give it its meaning.

    With `project`, the file may import modules of that Lake project, which are trusted, and its toolchain is used.

    The text may say anything: what decides is the artifact, read by the memory-safe reader and replayed declaration by
    declaration after the core library.
    """
    began = time.monotonic()
    try:
        found = await _verify(path, theorem=theorem, project=project, unsafe=unsafe)
    except NotProved as failure:
        found = Verification(is_proved=False, theorem=theorem or "", reasons=failure.reasons)
    except AdapterError as error:
        found = Verification(is_proved=False, reasons=(f"not decided: {error.message}",))
    return found.after(began)


async def _verify(path: Path, *, theorem: str | None, project: Path | None, unsafe: bool) -> Verification:
    text, imports = cut_header(await _read(path))
    name = theorem or _last_theorem(text)
    with tempfile.TemporaryDirectory(prefix="verify-") as work:
        async with open_ground(project=project, scratch=Path(work) / "scratch", unsafe=unsafe) as ground:
            toolchain, core = ground.toolchain, await ground.library(imports)
            artifact = anyio.Path(work, "L", "File.olean")
            await artifact.parent.mkdir()
            await artifact.write_bytes(await _compile(text, lean=ground.lean, core=core))
        unit, declarations = await _replay(Path(artifact), name, toolchain=toolchain, core=core)
        reasons = unproved(unit)
        more = () if reasons else await second_opinion(toolchain, core, [_MODULE], folder=Path(work))
    return Verification(
        is_proved=not reasons,
        theorem=name,
        statement=unit.pretty,
        axioms=unit.axioms,
        kernels=(toolchain.kernel, *more),
        reasons=reasons,
        modules=len(core.modules) + 1,
        declarations=declarations,
        basis=core.basis,
    )


async def _read(path: Path) -> str:
    data = await anyio.Path(path).read_bytes()
    if len(data) > MAX_BYTES:
        raise NotProved(f"{path.name} is longer than {MAX_BYTES} bytes")
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise NotProved(f"{path.name} is not UTF-8: {error}") from error


def _last_theorem(text: str) -> str:
    names = [name for block in cut(words(text), len(text)) for name in block.theorems]
    if not names:
        raise NotProved("the file has no theorem")
    return names[-1]


async def _compile(text: str, *, lean: ForkServer, core: CoreLibrary) -> bytes:
    header = core.header()
    done = await lean.run(
        Elaboration(
            source=(header + text).encode(),
            lean_path=core.lean_path,
            module=_MODULE,
            wants_artifact=True,
            heartbeats=_HEARTBEATS,
            wall_ms=_WALL_MS,
        )
    )
    if done.outcome == "finished" and done.artifact is not None:
        return done.artifact
    raise NotProved(*_complaints(done, lines=header.count("\n")))


def _complaints(done: Elaborated, *, lines: int) -> list[str]:
    if done.outcome != "finished":
        return [f"not decided: {done.outcome} {done.reason}".strip()]
    errors = [message for message in done.messages if message.severity == "error"]
    said = [f"line {max(1, item.line - lines)}: {item.text.strip()}" for item in errors[:_MAX_ERRORS]]
    if len(errors) > len(said):
        said.append(f"and {len(errors) - len(said)} more errors")
    return said or ["Lean compiled no module and gave no reason"]


async def _replay(artifact: Path, name: str, *, toolchain: Toolchain, core: CoreLibrary) -> tuple[Judged, int]:
    """Return what a new kernel holds under `name` once it has accepted the library and the whole file."""
    async with start_judge(toolchain, core) as judge:
        with contextlib.suppress(ProcessLookupError):
            most = _JUDGE_BYTES + core.imported_bytes
            resource.prlimit(judge.pid, resource.RLIMIT_AS, (most, most))
        admitted = await judge.ask(Admit(module=_MODULE, path=str(artifact)), limit_ms=_JUDGE_MS)
        if admitted.status == "refused":
            raise NotProved(admitted.reason)
        if admitted.status != "done":
            raise NotProved(f"not decided: {admitted.reason}")
        answer = await judge.look_up(name)
        if answer.status == "refused":
            raise NotProved(f"Lean compiled nothing named {name}")
        if answer.status != "done":
            raise NotProved(f"not decided: {answer.reason}")
        return answer.judged[0], admitted.declarations


def unproved(unit: Judged) -> tuple[str, ...]:
    """Return why a constant that the kernel accepted is no proof."""
    if not unit.is_theorem:
        return (f"{unit.name} is no theorem",)
    if "sorryAx" in unit.axioms:
        return ("the proof uses sorry",)
    forbidden = sorted(set(unit.axioms) - set(ALLOWED_AXIOMS))
    return (f"the proof rests on {', '.join(forbidden)}",) if forbidden else ()
