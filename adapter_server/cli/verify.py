"""`adapter-server verify`: is what a folder or a Lean file claims to prove proved?"""

from functools import partial
from pathlib import Path

import anyio
import msgspec

from adapter_server.logs import configure_logs
from bus.errors import BadArguments
from lemma_store.file_verification import verify_file
from lemma_store.verification import Verification, verify

from .exit_codes import NOT_PROVED, OK


def run_verify(path: Path, *, theorem: str | None, project: Path | None, is_unsafe: bool, is_json: bool) -> int:
    """Rebuild, replay, and say what came out; the code is 0 only for a proof.

    Raises:
        BadArguments: there is no such folder or file, or a theorem is named for a folder.
        AdapterError: Lean or its sandbox cannot be started.
    """
    configure_logs(level="warning")
    place = path.expanduser()
    if place.is_file() and place.suffix == ".lean":
        found = anyio.run(partial(verify_file, place, theorem=theorem, project=project, unsafe=is_unsafe))
    elif not place.is_dir():
        raise BadArguments(f"{path} is not a folder and no Lean file", hint="name a run folder or a .lean file")
    elif theorem is not None:
        raise BadArguments("the folder's certificate says what it proves; leave --theorem out")
    else:
        found = anyio.run(partial(verify, place, project=project, unsafe=is_unsafe))
    print(msgspec.json.encode(found).decode() if is_json else _text(found))
    return OK if found.is_proved else NOT_PROVED


def _text(found: Verification) -> str:
    name = f"{found.theorem} : {found.statement}" if found.statement else found.theorem
    lines = [f"{'proved' if found.is_proved else 'not proved'}{f': {name}' if name else ''}"]
    lines += [f"  {reason}" for reason in found.reasons]
    if found.kernels:
        lines.append(f"axioms: {', '.join(found.axioms) or 'none'}")
        replayed = f"{found.modules} modules, {found.declarations} declarations replayed in {found.seconds:.1f} s"
        lines.append(f"kernels: {', '.join(found.kernels)}; {replayed}")
        if found.basis == "imported":
            lines.append("the library is too large to be replayed: Lean imported it, unchecked")
    return "\n".join(lines)
