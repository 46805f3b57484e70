"""The Lean functions of an imported problem compute what the file says, on enumerated small inputs."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from lemma_store.lean.core_library import CoreLibrary, build_core_library
from lemma_store.lean.elaboration import Elaboration, ForkServer
from lemma_store.lean.toolchain import find_toolchain
from scenarios.lean.sexpr import Form, read
from scenarios.lean.tip import read_tip
from scenarios.lean.tip_lean import import_tip
from scenarios.lean.tip_signatures import substitute
from scenarios.lean.tip_syntax import BOOL, FunctionType, Type

from .tip_evaluator import Evaluator

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

PUBLIC_SETS = Path(__file__).parents[2].parent / "shared" / "data" / "tip"
SAMPLE = 12
"""Every so many public problems are tried; with 1 it takes some minutes."""

BY_MEASURE = ("graph_p5", "mergesort_merge_comm", "regexp_same")
"""Problems whose recursion is not structural."""

EVERYTHING = """
(declare-datatype Nat ((Z) (S (pred Nat))))
(declare-datatype list (par (a) ((nil) (cons (head a) (tail (list a))))))
(declare-datatype |:T:| ((|:L:|) (|:N:| (|l:| |:T:|) (v Nat) (|:r| |:T:|))))
(define-fun-rec elem (par (a) (((x a) (y (list a))) Bool))
  (match y ((nil false) ((cons z xs) (or (= x z) (elem x xs))))))
(define-fun-rec nub (par (a) (((y (list a))) (list a)))
  (match y ((nil (_ nil a)) ((cons z xs) (ite (elem z xs) (nub xs) (cons z (nub xs)))))))
(define-fun shadow ((x Nat) (y Nat)) Nat
  (match x ((Z y) ((S y) (match y ((Z x) ((S x) (S y))))))))
(define-fun rest ((x Nat) (y Nat)) Nat
  (match x (((S z) (match y (((S y2) (let ((x y2) (w x)) (ite (= x y) w z))) (_ x)))) (_ y))))
(define-fun known ((x Nat)) Nat
  (match x ((Z (match x ((Z (S x)) ((S y) y)))) ((S z) (match x ((Z z) ((S y) (S x))))))))
(define-fun-rec size ((t |:T:|)) Nat (match t ((|:L:| Z) ((|:N:| l v r) (S (size l))))))
(define-funs-rec ((even ((x Nat)) Bool) (odd ((x Nat)) Bool))
  ((match x ((Z true) ((S y) (odd y)))) (match x ((Z false) ((S y) (not (even y)))))))
(define-fun logic ((p Bool) (q Bool) (r Bool)) Bool (=> p q (and (or p r) (not (distinct q r)) (= p r))))
(define-fun numbers ((m Int) (n Int)) Int (ite (<= m n) (+ (div m n) (* 2 (mod m n))) (- (- (- m) n) 3)))
(define-fun less ((m Int) (n Int)) Bool (or (> m n) (and (< m 0) (>= n 0))))
(prove true)
"""


@pytest.fixture
async def lean(tmp_path: Path) -> AsyncIterator[tuple[ForkServer, CoreLibrary]]:
    toolchain = find_toolchain()
    async with ForkServer(toolchain, scratch=tmp_path / "scratch") as server:
        yield server, await build_core_library(toolchain, lean=server)


def with_examples(text: str, *, encoding: Literal["flat", "nested"]) -> str:
    """The definitions of a file, and examples that its functions give what the evaluator gives."""
    problem = read_tip(text)
    evaluator = Evaluator(problem)
    claims: list[str] = []
    for function in evaluator.functions.values():
        known: dict[str, Type] = dict.fromkeys(function.type_params, BOOL)
        types = [substitute(param.type, known) for param in function.params]
        result = substitute(function.result, known)
        if any(isinstance(type_, FunctionType) for type_ in (*types, result)):
            continue
        for args, value in evaluator.examples(function, count=8):
            shown = " ".join(evaluator.text(arg, type_) for arg, type_ in zip(args, types, strict=True))
            call = f"(|{function.name}| {shown})" if shown else f"|{function.name}|"
            claims.append(f"(= {call} {evaluator.text(value, result)})")
    (goal,) = [form for form in read(text) if isinstance(form, Form) and form.head == "prove"]
    lines = text.splitlines()[: goal.at.line - 1]
    examples = "\n".join(lines) + f"\n(prove (and true true {' '.join(claims)}))"
    definitions, _, statement = import_tip(examples, name="all", encoding=encoding).source.partition("theorem all : ")
    each = statement.strip().removesuffix(" := by sorry").split(" ∧ ")
    rules = ", ".join(re.findall(r"^def (\S+)", definitions, flags=re.MULTILINE))
    proof = f"first | decide | decide +kernel | simp [{rules}]"
    return definitions + "\n".join(f"example : {claim} := by {proof}" for claim in each) + "\n"


async def complaints(lean: tuple[ForkServer, CoreLibrary], source: str) -> list[str]:
    server, core = lean
    text = f"prelude\nimport MiniCore\nset_option autoImplicit false\nset_option maxRecDepth 4000\n{source}"
    done = await server.run(Elaboration(source=text.encode(), lean_path=(str(core.folder),), heartbeats=100_000))
    return [f"{m.line}: {m.text}" for m in done.messages if m.severity == "error"] + [done.reason] * (
        done.exit_code != 0
    )


@pytest.mark.parametrize("encoding", ["flat", "nested"])
async def test_every_construct_means_in_lean_what_it_means_in_the_file(
    lean: tuple[ForkServer, CoreLibrary], encoding: Literal["flat", "nested"]
) -> None:
    assert await complaints(lean, with_examples(EVERYTHING, encoding=encoding)) == []


async def test_a_wrong_value_would_be_noticed(lean: tuple[ForkServer, CoreLibrary]) -> None:
    source = with_examples(EVERYTHING, encoding="flat")
    broken = source.replace("  | .Z => true\n", "  | .Z => false\n", 1)
    assert broken != source
    assert await complaints(lean, broken) != []


@pytest.mark.skipif(not PUBLIC_SETS.is_dir(), reason="the public problem sets are not beside the checkout")
async def test_public_problems_compute_what_their_files_say(lean: tuple[ForkServer, CoreLibrary]) -> None:
    several = [path for folder in ("isaplanner", "prod") for path in sorted((PUBLIC_SETS / folder).glob("*.smt2"))]
    by_measure = [PUBLIC_SETS / "false" / f"{name}.smt2" for name in BY_MEASURE]
    for path in (*several[::SAMPLE], *by_measure):
        assert await complaints(lean, with_examples(path.read_text(), encoding="flat")) == [], path
