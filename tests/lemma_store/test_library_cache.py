"""The core library is built once, whole, and rebuilt when it is not what it was."""

from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from bus.errors import LeanUnavailable
from lemma_store.lean import core_library
from lemma_store.lean.core_library import CoreLibrary, build_core_library, library_id, order_modules
from lemma_store.lean.elaboration import ForkServer
from lemma_store.lean.toolchain import Toolchain

pytestmark = pytest.mark.anyio

SMALL = {
    "Small": "prelude\nimport Small.Left\nimport Small.Right\n",
    "Small.Left": "prelude\naxiom Left : Prop\n",
    "Small.Right": "prelude\nimport Small.Left\naxiom Right : Left → Prop\n",
}


@pytest.fixture
def small_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that compiles at once in the place of the shipped one."""
    monkeypatch.setattr(core_library, "read_core_sources", lambda: SMALL)


def folders_in(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir() if path.is_dir()]


def test_every_module_follows_those_it_imports():
    order = order_modules({"C": "prelude\nimport A\nimport B\n", "B": "prelude\nimport A\n", "A": "prelude\n"})

    assert order == ("A", "B", "C")


def test_an_import_in_a_comment_is_none():
    assert order_modules({"A": "/- use `prelude`, then\nimport MiniCore\n-/\nprelude\n-- import B\n"}) == ("A",)


def test_a_library_that_imports_itself_or_a_stranger_is_refused():
    for sources in ({"A": "import B\n", "B": "import A\n"}, {"A": "import Nowhere\n"}):
        with pytest.raises(LeanUnavailable):
            order_modules(sources)


def test_another_text_or_another_lean_is_another_library(toolchain: Toolchain):
    other = Toolchain(library=toolchain.library, version="0", id="other")
    ids = {
        library_id({"A": "1"}, toolchain=toolchain),
        library_id({"A": "2"}, toolchain=toolchain),
        library_id({"B": "1"}, toolchain=toolchain),
        library_id({"A": "1"}, toolchain=other),
    }

    assert len(ids) == 4


@pytest.mark.usefixtures("small_library")
async def test_two_who_want_it_at_once_build_it_once(lean: ForkServer, toolchain: Toolchain, tmp_path: Path):
    cache = tmp_path / "cache"
    built: list[CoreLibrary] = []

    async def build() -> None:
        built.append(await build_core_library(toolchain, lean=lean, cache=cache))

    with capture_logs() as logs:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(build)
            tasks.start_soon(build)

    assert [entry["event"] for entry in logs].count("core_library_built") == 1
    assert built[0] == built[1]
    assert [module.name for module in built[0].modules] == ["Small.Left", "Small.Right", "Small"]
    assert folders_in(cache) == [built[0].id]


@pytest.mark.usefixtures("small_library")
async def test_what_a_killed_builder_left_is_cleared(lean: ForkServer, toolchain: Toolchain, tmp_path: Path):
    name = library_id(SMALL, toolchain=toolchain)
    await anyio.Path(tmp_path / "cache" / f"{name}.draft" / "Small").mkdir(parents=True)

    await build_core_library(toolchain, lean=lean, cache=tmp_path / "cache")

    assert folders_in(tmp_path / "cache") == [name]


@pytest.mark.usefixtures("small_library")
async def test_a_damaged_library_is_built_anew(lean: ForkServer, toolchain: Toolchain, tmp_path: Path):
    cache = tmp_path / "cache"
    first = await build_core_library(toolchain, lean=lean, cache=cache)
    artifact = anyio.Path(first.modules[0].artifact)
    whole = await artifact.read_bytes()

    await artifact.write_bytes(whole[:-1])
    assert await build_core_library(toolchain, lean=lean, cache=cache) == first
    assert await artifact.read_bytes() == whole

    await artifact.unlink()
    assert await build_core_library(toolchain, lean=lean, cache=cache) == first
    assert await artifact.read_bytes() == whole


async def test_a_library_that_does_not_compile_says_where(
    lean: ForkServer, toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    broken = SMALL | {"Small.Right": "prelude\nimport Small.Left\n\naxiom wrong : Left Left\n"}
    monkeypatch.setattr(core_library, "read_core_sources", lambda: broken)

    with pytest.raises(LeanUnavailable, match=r"module Small\.Right .* line 4"):
        await build_core_library(toolchain, lean=lean, cache=tmp_path / "cache")

    assert folders_in(tmp_path / "cache") == []
