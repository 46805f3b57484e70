"""An honest proof is never refused, and what is printed of a lemma reads back as the very same term."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bus.errors import NotLean
from lemma_store.store import LemmaStore
from tests.lemma_store.stores import PROBLEM, running_store

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(200)]

E = "honest"
FOLDERS = (Path(__file__).parent / "honest", Path(__file__).parents[1] / "lemma_store" / "features")
_PART = re.compile(r"^-- (.*)\n", re.MULTILINE)
_SYNTAX = re.compile(r"^\s*(local )?(infix|notation|macro|syntax|prefix|postfix)", re.MULTILINE)


def _parts() -> list[tuple[str, str]]:
    """Name and text of every part, except those that declare syntax."""
    found: list[tuple[str, str]] = []
    for path in sorted(path for folder in FOLDERS for path in folder.glob("*.lean")):
        _, *pieces = _PART.split(path.read_text())
        named = zip(pieces[::2], pieces[1::2], strict=True)
        found += [(f"{path.stem}: {name}", text) for name, text in named if not _SYNTAX.search(text)]
    return found


PARTS = _parts()


@pytest.fixture(scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LemmaStore]:
    async with running_store(tmp_path_factory.mktemp("honest")) as opened:
        await opened.open_problem(E, source=PROBLEM)
        yield opened


@pytest.mark.parametrize("text", [text for _, text in PARTS], ids=[name for name, _ in PARTS])
async def test_ordinary_lean_is_accepted(text: str, store: LemmaStore):
    report = await store.check(E, author="ada", source=text)

    assert [item for item in report.messages if item.severity == "error"] == []
    assert [item for item in report.verdicts if item.outcome != "accepted"] == []
    assert report.verdicts


async def test_what_is_printed_reads_back_as_the_same_term(store: LemmaStore):
    """Reading may fail, where inference or an instance that does not travel is needed; it never gives another term."""
    lemmas = (await store.lemmas(E))[::3]
    same = 0
    for lemma in lemmas:
        try:
            read = await store.elaborate(E, lemma.statement.pretty)
        except NotLean:
            continue
        assert (read.hash, read.pretty) == (lemma.statement.hash, lemma.statement.pretty)
        same += 1

    assert same >= 0.9 * len(lemmas)
