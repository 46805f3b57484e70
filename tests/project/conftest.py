import anyio
import pytest

from lemma_store.lean.core_library import build_core_library
from lemma_store.lean.elaboration import ForkServer
from lemma_store.lean.toolchain import find_toolchain
from tests.project.assembled import Assembled, assemble
from tests.project.in_parts import assemble_in_parts


@pytest.fixture(scope="session")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> Assembled:
    async def build() -> Assembled:
        toolchain = find_toolchain()
        async with ForkServer(toolchain, scratch=tmp_path_factory.mktemp("core")) as lean:
            core = await build_core_library(toolchain, lean=lean)
        return assemble(tmp_path_factory.mktemp("assembled"), toolchain=toolchain, core=core)

    return anyio.run(build)


@pytest.fixture(scope="session")
def in_parts(tmp_path_factory: pytest.TempPathFactory) -> Assembled:
    return assemble_in_parts(tmp_path_factory.mktemp("parts"), toolchain=find_toolchain())
