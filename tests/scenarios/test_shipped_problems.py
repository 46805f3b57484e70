"""Every shipped problem says what it is, can be read, and states one theorem that Lean accepts as open."""

import re
from collections.abc import Mapping

import anyio
import pytest

from lemma_store.lean.core_library import build_core_library
from lemma_store.lean.elaboration import Elaborated, Elaboration, ForkServer
from lemma_store.lean.toolchain import find_toolchain
from scenarios.lean.problem_files import load_problem, shipped_problems, shipped_text

HEADER = re.compile(r"/-\n(?P<title>[A-Z][^\n]*\.)\nGrade: (?P<grade>[1-5]) of 5\.\nSource: (?P<source>[^/]+?)\n-/\n")


@pytest.fixture(scope="module")
def elaborated(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Elaborated]:
    """Every shipped problem, elaborated as it is."""
    found: dict[str, Elaborated] = {}

    async def elaborate(lean: ForkServer, folder: str, name: str) -> None:
        source = f"prelude\nimport MiniCore\n{shipped_text(name)}".encode()
        found[name] = await lean.run(Elaboration(source=source, lean_path=(folder,)))

    async def elaborate_all() -> None:
        toolchain = find_toolchain()
        async with ForkServer(toolchain, scratch=tmp_path_factory.mktemp("problems")) as lean:
            core = await build_core_library(toolchain, lean=lean)
            async with anyio.create_task_group() as tasks:
                for name in shipped_problems():
                    tasks.start_soon(elaborate, lean, str(core.folder), name)

    anyio.run(elaborate_all)
    return found


def test_the_collection_is_graded_from_easy_to_hard():
    grades = [int(found["grade"]) for name in shipped_problems() if (found := HEADER.match(shipped_text(name)))]

    assert len(grades) >= 14
    assert set(grades) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("name", shipped_problems())
def test_a_problem_begins_with_title_grade_and_source(name: str):
    found = HEADER.match(shipped_text(name))

    assert found is not None
    assert len(found["source"]) > 10


@pytest.mark.parametrize("name", shipped_problems())
def test_a_problem_states_the_theorem_that_its_file_is_named_after(name: str):
    problem = load_problem(name)

    assert (problem.name, problem.theorem, problem.origin) == (name, name, "shipped")


@pytest.mark.parametrize("name", shipped_problems())
def test_lean_accepts_a_problem_and_complains_of_the_missing_proof_only(
    name: str, elaborated: Mapping[str, Elaborated]
):
    result = elaborated[name]

    assert (result.outcome, result.exit_code) == ("finished", 0)
    assert [message.kind for message in result.messages if message.kind != "linter.unusedVariables"] == ["hasSorry"]
