"""Proofs that rewriting finds, as Lean takes them."""

from pathlib import Path

import pytest

from clients.tactician.attacking import hinted_proof
from clients.tactician.proving import Tactics, theorem
from clients.tactician.rippling import Rippling
from clients.tactician.statements import read_statement, show_statement
from lemma_store.lean.core_library import build_core_library
from lemma_store.lean.elaboration import Elaboration, ForkServer
from lemma_store.lean.toolchain import find_toolchain

from .problems import LISTS, NUMBERS, knowledge

MEMBERS = """
def same : num → num → Bool
  | .zero, .zero => true
  | .zero, .succ n => false
  | .succ m, .zero => false
  | .succ m, .succ n => same m n

def either (x y : Bool) : Bool := if x = true then true else y

def has : num → lst num → Bool
  | n, .nil => false
  | n, .cons x xs => either (same n x) (has n xs)

def put : num → lst num → lst num
  | n, .nil => lst.cons n (@lst.nil num)
  | n, .cons x xs => if le n x = true then lst.cons n (lst.cons x xs) else lst.cons x (put n xs)
"""
SOURCE = LISTS + NUMBERS + MEMBERS


def proofs(text: str) -> tuple[str, str]:
    """With the rules that rewriting used, and the attempt that comes after."""
    known = knowledge(SOURCE, text)
    statement = known.root.statement
    assert statement is not None
    hint = Rippling(known.rewriter, known.theory).hint_for(statement, Tactics(statement, known.theory))
    assert hint is not None
    return hinted_proof(known, hint, statement, is_exact=True), hinted_proof(known, hint, statement, is_exact=False)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "text",
    [
        "∀ (m n : num) (xs : lst num), has m (put n xs) = has m (lst.cons n xs)",
        "∀ (m : num) (xs : lst num), put m (put num.zero xs) = lst.cons num.zero (put m xs)",
        "∀ (m n : num), le m n = false → le n m = true",
    ],
)
async def test_lean_follows_a_proof_that_splits_as_rewriting_did(text: str, tmp_path: Path) -> None:
    """The first is an identity between disjunctions in the end, which the simplifier alone leaves open."""
    known = knowledge(SOURCE, text)
    shown = show_statement(read_statement(text, known.names))
    toolchain = find_toolchain()
    async with ForkServer(toolchain, scratch=tmp_path / "scratch", workers=1) as lean:
        core = await build_core_library(toolchain, lean=lean)
        source = f"prelude\nimport MiniCore\n{SOURCE}\n{theorem('told', shown, proofs(text)[1])}"
        told = await lean.run(Elaboration(source=source.encode(), lean_path=(str(core.folder),)))
    assert [item.text for item in told.messages if item.severity == "error"] == []
    assert told.exit_code == 0


def test_splits_are_named_by_what_they_decide() -> None:
    exact, told = proofs("∀ (m n : num) (xs : lst num), has m (put n xs) = has m (lst.cons n xs)")
    assert "cases test1 : (le n xs_0)" not in exact
    assert "cases test1 : (le n xs_0) with | true => " in told
    assert "cases test2 : (same m xs_0) with | true => " in told
