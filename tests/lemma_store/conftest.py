import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest

from lemma_store.lean.core_library import CoreLibrary, build_core_library
from lemma_store.lean.elaboration import ForkServer
from lemma_store.lean.toolchain import Toolchain, find_toolchain


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return find_toolchain()


@pytest.fixture(scope="session")
def core(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> CoreLibrary:
    """The compiled core library, from the user's cache or built into it."""

    async def build() -> CoreLibrary:
        async with ForkServer(toolchain, scratch=tmp_path_factory.mktemp("core")) as lean:
            return await build_core_library(toolchain, lean=lean)

    return anyio.run(build)


@pytest.fixture
async def lean(toolchain: Toolchain, tmp_path: Path) -> AsyncIterator[ForkServer]:
    """A fork server of the test's own, whose process id is its own."""
    async with ForkServer(toolchain, scratch=tmp_path / "scratch", is_wrapped=False) as server:
        yield server


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process outside that a check would like to see or kill."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()
