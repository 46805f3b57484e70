"""Problems whose target stands in namespaces and sections, as people write them."""

from pathlib import Path

import pytest

from bus.errors import BadProblem
from lemma_store.problem_text import split
from tests.lemma_store.stores import accepted, running_store

SCOPED = """namespace Far
section
variable {a : Type}
def twice (f : a → a) (x : a) : a := f (f x)
open Nat
variable (f : a → a)
/-- The target. -/
@[simp] theorem twice_twice (x : a) : twice (twice f) x = f (f (f (f x))) := by sorry
end
end Far
"""

pytestmark = pytest.mark.anyio


def test_a_target_keeps_its_scopes_and_loses_what_decorates_it():
    found = split(f"import MiniCore.Nat\n{SCOPED}")

    assert found.imports == ("Init", "MiniCore.Nat")
    assert found.theorem == "Far.twice_twice"
    assert found.definitions.splitlines()[0].strip() == ""
    assert found.definitions.endswith("end\nend Far")
    assert "@[simp]" not in found.posed
    assert found.posed.splitlines()[-3:-2] == [
        "theorem twice_twice (x : a) : twice (twice f) x = f (f (f (f x))) := sorry"
    ]


def test_only_ends_of_scopes_may_follow_the_target():
    with pytest.raises(BadProblem, match="text follows"):
        split(f"{SCOPED}def more : Nat := 1\n")


def test_a_file_of_the_module_system_is_refused():
    with pytest.raises(BadProblem, match="module system"):
        split(f"module\npublic import Init\n{SCOPED}")


async def test_a_statement_is_locked_where_it_stands(tmp_path: Path):
    proof = "theorem t {a : Type} (f : a → a) (x : a) : Far.twice (Far.twice f) x = f (f (f (f x))) := rfl"
    async with running_store(tmp_path) as store:
        problem = await store.open_problem("scoped", source=SCOPED)
        lemma = accepted(await store.check("scoped", author="ada", source=proof))
        done = await store.assemble("scoped", lemma.id)

    assert problem.theorem == "Far.twice_twice"
    assert lemma.statement.hash == problem.statement.hash
    assert done.certificate.theorem == "Far.twice_twice"
