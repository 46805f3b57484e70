"""`adapter-server lemma`: an episode's lemmas for other tools, and problems from other tools' repositories."""

from pathlib import Path

import anyio
import msgspec

from adapter_server.leandojo import Exported, export_leandojo
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from adapter_server.store_access import existing_folder, store_to_read
from bus.errors import BadArguments, UnknownId
from lemma_store.in_redis import LemmaIndex, connect
from lemma_store.lean.toolchain import LEAN_VERSION
from lemma_store.world import read_problem
from scenarios.lean.git_problems import git_problems, write_problems

from .exit_codes import OK

FORMATS = ("leandojo",)


def run_lemma_export(episode: str, out: Path, settings: Settings, *, form: str, is_json: bool) -> int:
    """Write the lemmas of an episode; a daemon may run on the data folder meanwhile.

    Raises:
        UnknownId, BadArguments, BadDataFolder, StorageUnavailable: there is no such episode, format, folder or store.
    """
    if form not in FORMATS:
        raise BadArguments(f"{form!r} is no format", hint=f"formats: {', '.join(FORMATS)}")
    configure_logs(level="warning")
    problem = read_problem(existing_folder(settings).episodes / episode)
    if problem is None:
        raise UnknownId(f"there is no episode {episode!r}", nearest=[])

    folder = out.expanduser()

    async def export() -> Exported:
        async with store_to_read(settings) as url, connect(url) as redis:
            units = await LemmaIndex(redis, is_durable=True).all(episode)
        return export_leandojo(problem, units, folder, version=LEAN_VERSION)

    done = anyio.run(export)
    text = f"{episode}: {done.theorems} theorems, {done.premises} premises, {done.folder}"
    print(msgspec.json.encode(done).decode() if is_json else text)
    return OK


def run_lemma_problems(repository: str, out: Path, *, commit: str | None, is_json: bool) -> int:
    """Write the open theorems of a Git repository as problem files and a list of them.

    Raises:
        BadArguments, BadProblem: `lean-dojo` is missing or does not take the repository, or `out` is there already.
    """
    found = write_problems(git_problems(repository, commit=commit), out.expanduser())
    print(msgspec.json.encode(found).decode() if is_json else f"{len(found)} problems, {out / 'problems.txt'}")
    return OK
