"""`adapter-server verify`: is what a folder claims to prove proved?"""

from pathlib import Path

import anyio
import msgspec

from adapter_server.logs import configure_logs
from bus.errors import BadArguments
from lemma_store.verification import verify

from .exit_codes import NOT_PROVED, OK


def run_verify(path: Path, *, is_json: bool) -> int:
    """Rebuild, replay, and say what came out; the code is 0 only for a proof.

    Raises:
        BadArguments: there is no such folder.
        AdapterError: Lean or its sandbox cannot be started.
    """
    configure_logs(level="warning")
    folder = path.expanduser()
    if not folder.is_dir():
        raise BadArguments(f"{path} is not a folder", hint="name a run folder")
    found = anyio.run(verify, folder)
    if is_json:
        print(msgspec.json.encode(found).decode())
    elif found.is_proved:
        print(f"proved: {found.theorem} : {found.statement}")
        print(f"axioms: {', '.join(found.axioms) or 'none'}")
        print(f"kernels: {', '.join(found.kernels)}; {found.modules} modules replayed in {found.seconds:.1f} s")
    else:
        print("not proved")
        for reason in found.reasons:
            print(f"  {reason}")
    return OK if found.is_proved else NOT_PROVED
