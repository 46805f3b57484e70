"""Read randomly damaged artifacts: `python -m tests.fuzz_reader --count 100000`. Prints what became of them as JSON.

Every one must be refused or read as well-formed terms, within bounds of time and memory.
"""

import argparse
import json
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import anyio
import msgspec

from lemma_store.declarations import Declaration
from lemma_store.lean.core_library import build_core_library
from lemma_store.lean.elaboration import Elaboration, ForkServer
from lemma_store.lean.olean import read_module
from lemma_store.lean.toolchain import find_toolchain
from lemma_store.refusals import Refused
from lemma_store.terms import Terms
from tests.lemma_store.forge import VERSION
from tests.lemma_store.mutations import mutate

LIMIT_S = 5.0
LIMIT_BYTES = 2 << 30
TEXTS = (
    "theorem t (a b : Nat) : a + b = b + a := Nat.add_comm a b\n",
    """inductive Tree (α : Type) where
  | leaf
  | node (l : Tree α) (x : α) (r : Tree α)
def Tree.size {α : Type} : Tree α → Nat
  | .leaf => 0
  | .node l _ r => l.size + 1 + r.size
theorem big : (123456789012345678901234567890 : Nat) % 7 = 123456789012345678901234567890 % 7 := rfl
theorem text : "a\\nb" = "a\\nb" := rfl
""",
    "theorem p.{u} {α : Sort u} (x : α) : let y := x; y = x := rfl\nstructure P where\n  x : Nat\n  y : Nat\n",
)


class Counts(msgspec.Struct, kw_only=True):
    """What became of the artifacts."""

    refused: int = 0
    same: int = 0
    """Read as the very declarations of the undamaged one: the damage hit what nothing reads."""

    other: int = 0
    """Read as other well-formed declarations, for example under another name."""

    slowest_ms: float = 0.0


async def compile_texts() -> list[bytes]:
    toolchain = find_toolchain()
    with tempfile.TemporaryDirectory() as scratch:
        async with ForkServer(toolchain, scratch=Path(scratch)) as lean:
            core = await build_core_library(toolchain, lean=lean)
            done = [
                await lean.run(
                    Elaboration(
                        source=f"prelude\nimport MiniCore\n{text}".encode(),
                        lean_path=(str(core.folder),),
                        wants_artifact=True,
                    )
                )
                for text in TEXTS
            ]
    artifacts = [item.artifact for item in done if item.artifact is not None]
    assert len(artifacts) == len(TEXTS), [item.messages for item in done]
    return artifacts


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError("reading took too long")


def fuzz(artifacts: Sequence[bytes], seeds: range) -> Counts:
    """Read the artifact of every seed.

    Raises:
        Exception: whatever the reader raises instead of `Refused`, with the seed as a note.
    """
    originals = [read_facts(data) for data in artifacts]
    counts = Counts()
    signal.signal(signal.SIGALRM, _stop)
    for seed in seeds:
        which, data = mutate(seed, artifacts)
        began = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
        try:
            found = read_facts(data)
            counts.same += found == originals[which]
            counts.other += found != originals[which]
        except Refused:
            counts.refused += 1
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        counts.slowest_ms = max(counts.slowest_ms, (time.monotonic() - began) * 1000)
    return counts


def read_facts(data: bytes) -> list[tuple[object, ...]]:
    """Return what an artifact declares, comparable between arenas."""
    terms = Terms()
    module = read_module(data, terms, version=VERSION)
    return [_facts(item, terms) for item in module.declarations.values()]


def _facts(item: Declaration, terms: Terms) -> tuple[object, ...]:
    assert not terms.loose(item.type)
    value = b"" if item.value is None else terms.digest(item.value, item.params)
    return item.kind, item.name, item.params, terms.digest(item.type, item.params), value, item.group, item.is_safe


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    given = parser.parse_args()
    artifacts = anyio.run(compile_texts)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    began = time.monotonic()
    counts = fuzz(artifacts, range(given.first, given.first + given.count))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = {"seconds": round(time.monotonic() - began, 1), "peak_mb": peak // 1024, **msgspec.structs.asdict(counts)}
    json.dump(report, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
