"""Verify a finished proof from its folder alone: rebuild what is trusted, replay the rest in a fresh kernel."""

import tempfile
import time
from pathlib import Path

import msgspec

from bus.errors import AdapterError

from .assembly import CERTIFICATE, sha256
from .checking import Limits, Tools
from .ground import Ground, open_ground
from .judge import start_judge
from .lean.leanchecker import second_opinion
from .lean.project import ID_PREFIX
from .opening import compile_definitions, lock_statement, unlocked
from .policy import ALLOWED_AXIOMS, POLICY_ID
from .problem_text import split
from .tasks import Admit, Judged
from .types import Certificate, Statement
from .world import PROBLEM_MODULE, World, write_atomically


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What a verification found out."""

    is_proved: bool
    """True only on positive evidence; false also when it could not be decided."""

    theorem: str = ""
    statement: str = ""
    """As the kernel holds it."""

    axioms: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why it is not proved."""

    modules: int = 0
    declarations: int = 0
    """Accepted by the kernel, from an empty environment or from the imported library."""

    basis: str = "replayed"
    """See `Certificate.basis`."""

    seconds: float = 0.0

    def after(self, began: float) -> "Verification":
        """Return this finding with the time it took since `began`, on the monotonic clock."""
        return msgspec.structs.replace(self, seconds=round(time.monotonic() - began, 3))


class NotProved(Exception):
    """There is no proof here, for these reasons."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = reasons


async def verify(
    path: Path, *, project: Path | None = None, unsafe: bool = False, cache: Path | None = None
) -> Verification:
    """Verify the certificate in `path`, or the only one below it; `project` is the Lake project that it rests on.

    Nothing is taken from a server or a cache: the core library and the problem are compiled anew, the target is
    elaborated anew, and the stored modules are replayed in a new kernel. Who verifies many gives all of them one empty
    folder as `cache`, so that the core library is compiled for the first only.
    """
    began = time.monotonic()
    try:
        found = await _verify(_certificate_folder(path), project=project, unsafe=unsafe, cache=cache)
    except NotProved as failure:
        found = Verification(is_proved=False, reasons=failure.reasons)
    except AdapterError as error:
        found = Verification(is_proved=False, reasons=(f"{error.code}: {error.message}",))
    return found.after(began)


def _certificate_folder(path: Path) -> Path:
    if not path.exists():
        raise NotProved(f"there is no {path}")
    found = sorted(path.rglob(CERTIFICATE))
    if not found:
        raise NotProved(f"{path} holds no certificate: the problem was not solved there")
    if len(found) > 1:
        raise NotProved(f"{path} holds {len(found)} certificates; name the folder of one")
    return found[0].parent


async def _verify(folder: Path, *, project: Path | None, unsafe: bool, cache: Path | None) -> Verification:
    try:
        certificate = msgspec.json.decode((folder / CERTIFICATE).read_bytes(), type=Certificate)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotProved(f"the certificate cannot be read: {error}") from error
    _compare_files(folder, certificate)
    if certificate.library.startswith(ID_PREFIX) is (project is None):
        wanted = "rests on no Lake project; leave --project out" if project else "rests on a Lake project"
        raise NotProved(f"the certificate {wanted}{'' if project else '; name it with --project'}")
    with tempfile.TemporaryDirectory(prefix="verify-") as name:
        work = Path(name)
        cache = cache or work / "cache"
        async with open_ground(
            project=project, scratch=work / "scratch", readable=[work, cache], unsafe=unsafe, cache=cache
        ) as ground:
            if (certificate.toolchain, certificate.policy) != (ground.toolchain.id, POLICY_ID):
                raise NotProved("the certificate was made with another toolchain or policy")
            return await _replay(folder, certificate, ground=ground, work=work)


def _compare_files(folder: Path, certificate: Certificate) -> None:
    for name, digest in certificate.files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            raise NotProved(f"{name} is missing")
        if sha256(path) != digest:
            raise NotProved(f"{name} is not the file that the certificate names")


async def _replay(folder: Path, certificate: Certificate, *, ground: Ground, work: Path) -> Verification:
    toolchain, lean = ground.toolchain, ground.lean
    text = split((folder / "problem.lean").read_text(), theorem=certificate.theorem)
    core = await ground.library(text.imports)
    artifact = await compile_definitions(text.definitions, lean=lean, core=core)
    fresh = work / "modules" / f"{PROBLEM_MODULE}.olean"
    write_atomically(fresh, artifact)
    lemmas = [(f"L.{ident}", folder / "modules" / "L" / f"{ident}.olean") for ident in certificate.lemmas]
    if missing := [name for name, path in lemmas if str(path.relative_to(folder)) not in certificate.files]:
        raise NotProved(f"the certificate does not name the file of {missing[0]}")
    world = World(work, core=core, toolchain=toolchain, problem=unlocked("verification", text, core))
    async with start_judge(toolchain, core, [(PROBLEM_MODULE, fresh)]) as judge:
        # The target is locked before the kernel hears of any lemma.
        wanted = await lock_statement(text, Tools(world=world, lean=lean, judge=judge, limits=Limits()))
        declarations = judge.declarations
        for name, path in lemmas:
            admitted = await judge.ask(Admit(module=name, path=str(path)))
            if admitted.status != "done":
                raise NotProved(f"{name} is not accepted: {admitted.reason}")
            declarations = admitted.declarations
        answer = await judge.look_up(certificate.root)
    if answer.status != "done":
        raise NotProved(answer.reason)
    for _, path in lemmas:
        write_atomically(work / "modules" / "L" / path.name, path.read_bytes())
    more = await second_opinion(toolchain, core, [name for name, _ in lemmas], folder=work / "modules")
    found = Verification(
        is_proved=True, theorem=text.theorem, statement=answer.judged[0].pretty, axioms=answer.judged[0].axioms,
        kernels=(toolchain.kernel, *more), modules=len(core.modules) + 1 + len(lemmas),
        declarations=declarations, basis=core.basis,
    )  # fmt: skip
    reasons = [*_unproved(answer.judged[0], wanted, certificate), *_untrue(certificate, found, library=core.id)]
    return msgspec.structs.replace(found, is_proved=not reasons, reasons=tuple(reasons))


def _unproved(unit: Judged, wanted: Statement, certificate: Certificate) -> list[str]:
    """Return why `unit` is no proof of `wanted`."""
    reasons: list[str] = []
    if (unit.statement_hash, unit.universes) != (wanted.hash, wanted.universes):
        reasons.append(f"{certificate.root} states {unit.pretty}, not {wanted.pretty}")
    if not unit.is_theorem:
        reasons.append(f"{certificate.root} is no theorem")
    if forbidden := set(unit.axioms) - set(ALLOWED_AXIOMS):
        reasons.append(f"the proof rests on {', '.join(sorted(forbidden))}")
    if unit.statement_hash != certificate.statement_hash:
        reasons.append("the certificate gives another hash of the statement")
    return reasons


def _untrue(certificate: Certificate, found: Verification, *, library: str) -> list[str]:
    """Return what the certificate says and the replay does not; that may check more of the library, but not less."""
    claims = {
        "statement": (certificate.statement, found.statement),
        "axioms": (certificate.axioms, found.axioms),
        "kernels": (certificate.kernels, found.kernels),
        "library": (certificate.library, library),
    }
    if (certificate.basis, found.basis) != ("imported", "replayed"):
        claims |= {
            "declarations": (certificate.declarations, found.declarations),
            "basis": (certificate.basis, found.basis),
        }
    return [f"the certificate says {name} {one}, not {two}" for name, (one, two) in claims.items() if one != two]
