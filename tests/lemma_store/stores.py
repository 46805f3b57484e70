"""A lemma store with everything real: Valkey, the fork server, the judge."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from lemma_store.checking import Limits
from lemma_store.in_redis import LemmaIndex, connect
from lemma_store.store import LemmaStore, open_lemma_store
from lemma_store.types import CheckReport, Lemma, Verdict
from tests.blackboard.servers import running_valkey

DEFINITIONS = """inductive lst (a : Type) where
  | nil
  | cons (x : a) (xs : lst a)
  deriving DecidableEq
def app {a : Type} : lst a → lst a → lst a
  | .nil, ys => ys
  | .cons x xs, ys => .cons x (app xs ys)
def rev {a : Type} : lst a → lst a
  | .nil => .nil
  | .cons x xs => app (rev xs) (.cons x .nil)
"""
PROBLEM = f"{DEFINITIONS}theorem rev_rev {{a : Type}} (xs : lst a) : rev (rev xs) = xs := by sorry\n"


@asynccontextmanager
async def running_store(folder: Path, *, limits: Limits | None = None) -> AsyncGenerator[LemmaStore]:
    """A store whose files and index lie in `folder`; open it there again to restart it."""
    valkey = folder / "valkey"
    valkey.mkdir(parents=True, exist_ok=True)
    with running_valkey(valkey):
        client = connect(f"unix://{valkey / 's'}")
        index = LemmaIndex(client, is_durable=True)
        try:
            async with open_lemma_store(
                folder / "episodes", index=index, scratch=folder / "scratch", limits=limits
            ) as store:
                yield store
        finally:
            await client.aclose()


def verdict(report: CheckReport, name: str) -> Verdict:
    """The one verdict on the theorem `name`."""
    (found,) = [item for item in report.verdicts if item.name == name]
    return found


def accepted(report: CheckReport, name: str | None = None) -> Lemma:
    """The lemma of an accepted theorem, by default of the only one."""
    found = verdict(report, name) if name else report.verdicts[0]
    assert found.outcome == "accepted", (found, report.messages)
    assert found.lemma is not None
    return found.lemma
