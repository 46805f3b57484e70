"""The core library lets ordinary Lean files elaborate, keeps the kernel's names, and assumes three axioms."""

from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from lemma_store.declarations import Declaration, Kind, mentioned
from lemma_store.lean.core_library import CoreLibrary, build_core_library, read_core_sources
from lemma_store.lean.elaboration import Elaborated, Elaboration, ForkServer
from lemma_store.lean.olean import read_module
from lemma_store.lean.toolchain import LEAN_VERSION, Toolchain
from lemma_store.session import in_dependency_order
from lemma_store.terms import Name, Terms, dotted

pytestmark = pytest.mark.anyio

HEADER = "prelude\nimport MiniCore\n"
FEATURES = {path.stem: path.read_text() for path in sorted(Path(__file__).with_name("features").glob("*.lean"))}
"""Topic to text: parts, each under a comment line that is its title."""
ALLOWED = {"propext", "Quot.sound", "Classical.choice"}
COMPUTED_BY_KERNEL = (
    "Nat.add", "Nat.sub", "Nat.mul", "Nat.div", "Nat.mod", "Nat.pow", "Nat.gcd", "Nat.beq", "Nat.ble", "Nat.land",
    "Nat.lor", "Nat.xor", "Nat.shiftLeft", "Nat.shiftRight", "Nat.log2", "Nat.succ", "String.ofList", "Char.ofNat",
    "eagerReduce",
)  # fmt: skip

DEFINING_EQUATIONS = """
example (n m : Nat) : n + 0 = n ∧ n + (m + 1) = n + m + 1 := ⟨rfl, rfl⟩
example (n m : Nat) : n - 0 = n ∧ n - (m + 1) = Nat.pred (n - m) ∧ Nat.pred (n + 1) = n := ⟨rfl, rfl, rfl⟩
example (n m : Nat) : n * 0 = 0 ∧ n * (m + 1) = n * m + n := ⟨rfl, rfl⟩
example (n m : Nat) : n ^ 0 = 1 ∧ n ^ (m + 1) = n ^ m * n := ⟨rfl, rfl⟩
example (n m : Nat) : Nat.beq (n + 1) (m + 1) = Nat.beq n m ∧ Nat.ble (n + 1) (m + 1) = Nat.ble n m := ⟨rfl, rfl⟩
example (n m : Nat) : n % m = n - m * (n / m) ∧ Nat.shiftLeft n m = n * 2 ^ m := ⟨rfl, rfl⟩
"""
"""They hold by unfolding, for variables: here nothing is computed with big integers."""


def definitions_against_big_integers() -> str:
    """Compare each definition, unfolded step by step, with what the kernel computes for the name."""
    lines: list[str] = []
    for n in (0, 1, 2, 5, 12, 25):
        for m in (0, 1, 3, 10):
            fuel = n + m
            lines += [
                f"example : Nat.divGo {n} {n} {m} = {n} / {m} := rfl" if m else f"example : {n} / 0 = 0 := rfl",
                f"example : Nat.gcdGo {n} {n} {m} = Nat.gcd {n} {m} := rfl",
                f"example : Nat.bitGo (fun a b => a * b) {fuel} {n} {m} = Nat.land {n} {m} := rfl",
                f"example : Nat.bitGo (fun a b => a + b - a * b) {fuel} {n} {m} = Nat.lor {n} {m} := rfl",
                f"example : Nat.bitGo (fun a b => (a + b) % 2) {fuel} {n} {m} = Nat.xor {n} {m} := rfl",
                f"example : {n} / 2 ^ {m} = Nat.shiftRight {n} {m} := rfl",
            ]
        lines.append(f"example : Nat.log2Go {n} {n} = Nat.log2 {n} := rfl")
    return "\n".join(lines)


REDECLARED = "\n".join(f"def {name} : Bool := true" for name in COMPUTED_BY_KERNEL)
FALSE_STATEMENT = "theorem t (a b : Nat) : a + b = b := by simp"
PRINTED = (
    "a + b * 2 ^ 3 - 1", "∃ n, n < a ∧ ¬n = b", "x && y || !x", "a != b", "[a, b] ++ xs", "(f ∘ f) a", "-i + ↑a",
    "a ∣ b", "{ n // n ≤ a }", "if a = b then 1 else 2", "fun n => (n, b)", "some a", "a ∈ xs ↔ a ≠ b",
)  # fmt: skip
VARIABLES = "variable (a b : Nat) (x y : Bool) (xs : List Nat) (f : Nat → Nat) (i : Int)\n"
SEARCHED = "theorem t (a b : Nat) : a + b = b + a := by exact?"

OTHERS = {
    "defining equations": DEFINING_EQUATIONS,
    "big integers": definitions_against_big_integers(),
    "redeclared": REDECLARED,
    "false statement": FALSE_STATEMENT,
    "searched": SEARCHED,
    "printed": VARIABLES + "\n".join(f"#check {term}" for term in PRINTED),
}


def parts(text: str) -> dict[str, range]:
    """Title to lines, counted from 1, of each part."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("-- ")]
    ends = [*starts[1:], len(lines) + 1]
    return {lines[start - 1].removeprefix("-- "): range(start, end) for start, end in zip(starts, ends, strict=True)}


def apart(text: str) -> str:
    """Put each part into a namespace of its own, without moving a line."""
    lines = text.split("\n")
    for number, place in enumerate(parts(text).values()):
        lines[place.start - 1] = f"namespace Part{number}"
        lines[place.stop - 2] += f"end Part{number}"
    return "\n".join(lines)


@pytest.fixture(scope="module")
def elaborated(
    toolchain: Toolchain, core: CoreLibrary, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Elaborated]:
    """Every text of this module, elaborated once. Lines are those of the text."""
    found: dict[str, Elaborated] = {}

    async def elaborate(lean: ForkServer, label: str, text: str) -> None:
        found[label] = await lean.run(
            Elaboration(source=f"{HEADER}{text}".encode(), lean_path=(str(core.folder),), heartbeats=40_000)
        )

    async def elaborate_all() -> None:
        texts = {topic: apart(text) for topic, text in FEATURES.items()} | OTHERS
        async with (
            ForkServer(toolchain, scratch=tmp_path_factory.mktemp("features")) as lean,
            anyio.create_task_group() as tasks,
        ):
            for label, text in texts.items():
                tasks.start_soon(elaborate, lean, label, text)

    anyio.run(elaborate_all)
    return found


@pytest.fixture(scope="module")
def terms() -> Terms:
    return Terms()


@pytest.fixture(scope="module")
def declarations(core: CoreLibrary, terms: Terms) -> dict[Name, Declaration]:
    """Every constant of the compiled library."""
    found: dict[Name, Declaration] = {}
    for item in core.modules:
        found |= read_module(item.artifact.read_bytes(), terms, version=LEAN_VERSION).declarations
    return found


@pytest.mark.parametrize(
    ("topic", "part"), [pytest.param(topic, part, id=part) for topic, text in FEATURES.items() for part in parts(text)]
)
def test_ordinary_lean_elaborates_without_a_message(topic: str, part: str, elaborated: Mapping[str, Elaborated]):
    place = parts(FEATURES[topic])[part]
    result = elaborated[topic]

    assert result.outcome == "finished"
    assert [message.text for message in result.messages if message.line - HEADER.count("\n") in place] == []


def test_no_message_of_a_topic_is_outside_its_parts(elaborated: Mapping[str, Elaborated]):
    assert {topic: elaborated[topic].messages for topic in FEATURES if elaborated[topic].messages} == {}


def test_an_unprovable_goal_is_shown_with_usual_notation(elaborated: Mapping[str, Elaborated]):
    (message,) = elaborated["false statement"].messages

    assert message.severity == "error"
    assert "⊢ a = 0" in message.text


def test_terms_are_printed_as_they_are_written(elaborated: Mapping[str, Elaborated]):
    shown = [message.text.rpartition(" : ")[0] for message in elaborated["printed"].messages]

    assert shown == list(PRINTED)


def test_a_lemma_can_be_searched_for(elaborated: Mapping[str, Elaborated]):
    (message,) = elaborated["searched"].messages

    assert "exact Nat.add_comm a b" in message.text


@pytest.mark.parametrize("label", ["defining equations", "big integers"])
def test_what_the_kernel_computes_by_name_is_what_the_name_means(label: str, elaborated: Mapping[str, Elaborated]):
    assert [message.text for message in elaborated[label].messages] == []


def test_names_that_the_kernel_computes_cannot_be_declared_again(elaborated: Mapping[str, Elaborated]):
    refused = [message.text for message in elaborated["redeclared"].messages if "already been declared" in message.text]

    assert len(refused) == len(COMPUTED_BY_KERNEL)


def test_no_theorem_rests_on_more_than_three_axioms(declarations: dict[Name, Declaration], terms: Terms):
    axioms: dict[Name, frozenset[str]] = {}
    safe = {name: item for name, item in declarations.items() if item.is_safe}
    for item in in_dependency_order(safe, terms):
        own = frozenset([item.text] if item.kind is Kind.AXIOM else [])
        axioms[item.name] = own.union(*(axioms.get(name, frozenset()) for name in mentioned(item, terms)))

    theorems = [name for name, item in safe.items() if item.kind is Kind.THEOREM]
    assert len(theorems) > 500
    assert {dotted(name): sorted(axioms[name] - ALLOWED) for name in theorems if not axioms[name] <= ALLOWED} == {}


def test_the_safe_axioms_are_the_three_and_the_mark_of_unfinished_proofs(declarations: dict[Name, Declaration]):
    axioms = {item.text for item in declarations.values() if item.kind is Kind.AXIOM and item.is_safe}

    assert axioms == {*ALLOWED, "sorryAx"}


def test_constructors_of_the_librarys_own_types_are_known_to_be_injective(declarations: dict[Name, Declaration]):
    names = {item.text for item in declarations.values()}

    for constructor in ("Nat.succ", "List.cons", "Option.some", "Prod.mk"):
        assert {f"{constructor}.inj", f"{constructor}.injEq"} <= names


def test_the_root_module_imports_all_of_the_library(core: CoreLibrary):
    assert core.modules[-1].name == "MiniCore"
    assert {item.name for item in core.modules} == set(read_core_sources())


@pytest.mark.slow
async def test_two_builds_give_the_same_bytes(toolchain: Toolchain, core: CoreLibrary, tmp_path: Path):
    with anyio.fail_after(60):
        async with ForkServer(toolchain, scratch=tmp_path / "scratch") as lean:
            again = await build_core_library(toolchain, lean=lean, cache=tmp_path / "cache")

    assert [item.name for item in again.modules] == [item.name for item in core.modules]
    for first, second in zip(core.modules, again.modules, strict=True):
        assert first.artifact.read_bytes() == second.artifact.read_bytes(), first.name
