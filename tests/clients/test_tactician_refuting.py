from collections.abc import Mapping
from itertools import islice
from typing import Any

import anyio
import pytest

from clients.tactician.agent import Agent
from clients.tactician.compiling import Undefined
from clients.tactician.desk import Desk
from clients.tactician.enumeration import Enumeration
from clients.tactician.narrowing import Counterexample, Narrowing
from clients.tactician.portfolio import on_its_own
from clients.tactician.refuting import at_values
from clients.tactician.session import Facts, Reply
from clients.tactician.strategies import STRATEGIES, Strategy

from .problems import LE_TOTAL, LISTS, NUMBERS, REV_REV, knowledge

FALSE_REV = "∀ {a : Type} (xs ys : lst a), append (rev xs) (rev ys) = rev (append xs ys)"
INTEGERS = """\
inductive ints where
  | nil
  | cons (head : Int) (tail : ints)
  deriving DecidableEq

def chain : Int → ints → Bool
  | n, .nil => decide (n = (0 : Int))
  | n, .cons x xs => Bool.and (decide (x = n - (1 : Int))) (chain x xs)

def rest (n : Int) : Int := -n % (4 : Int) + n / -(2 : Int)
"""


def narrowed(source: str, target: str, *, slices: int, large_first: bool = False) -> Counterexample | None:
    known = knowledge(source, target)
    assert known.root.statement is not None
    found = Narrowing(known.theory, known.root.statement).search(large_first=large_first)
    return next((item for item in islice(found, slices) if item is not None), None)


def enumerated(source: str, target: str, *, slices: int) -> Counterexample | None:
    known = knowledge(source, target)
    assert known.root.statement is not None
    found = Enumeration(known.root.statement, known.evaluator).search()
    values = next((item for item in islice(found, slices) if item is not None), None)
    return None if values is None else at_values(values, known.root.statement, known.evaluator)


@pytest.mark.parametrize("search", [narrowed, enumerated])
def test_a_false_statement_has_a_small_counterexample(search: Any) -> None:
    found = search(LISTS, FALSE_REV, slices=20)
    assert found.readable == "xs = lst.cons 0 lst.nil, ys = lst.cons 1 lst.nil"
    assert found.values == ("(lst.cons 0 lst.nil : lst Nat)", "(lst.cons 1 lst.nil : lst Nat)")


@pytest.mark.parametrize("search", [narrowed, enumerated])
@pytest.mark.parametrize(("source", "target"), [(LISTS, REV_REV), (NUMBERS, LE_TOTAL)])
def test_a_true_statement_has_none(search: Any, source: str, target: str) -> None:
    assert search(source, target, slices=6) is None


@pytest.mark.parametrize("search", [narrowed, enumerated])
def test_integers_count_down_below_zero_and_divide_as_lean_does(search: Any) -> None:
    assert search(INTEGERS, "∀ (n : Int), rest n = n", slices=20).values == ("(1 : Int)",)
    assert search(INTEGERS, "∀ (n : Int), n = (-1 : Int) → rest n ≠ (2 : Int)", slices=20).values == ("((-1) : Int)",)


@pytest.mark.parametrize("large_first", [False, True])
def test_narrowing_finds_a_large_value_of_which_every_part_is_forced(large_first: bool) -> None:
    text = "∀ (xs : ints), ¬ (chain (12 : Int) xs = true)"
    found = narrowed(INTEGERS, text, slices=100, large_first=large_first)
    assert found is not None
    assert found.readable.startswith("xs = ints.cons 11 (ints.cons 10 (")


def test_statements_about_functions_are_left_alone() -> None:
    known = knowledge(NUMBERS, "∀ (f : num → num) (n : num), f n = n")
    assert known.root.statement is not None
    with pytest.raises(Undefined):
        Narrowing(known.theory, known.root.statement)


class Refutable:
    """An adapter whose kernel confirms a refutation by the proof that it is told to accept."""

    def __init__(self, *, accepts: str) -> None:
        self.refutations: list[Mapping[str, Any]] = []
        self._accepts = accepts

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        await anyio.lowlevel.checkpoint()
        facts: Facts = {}
        if tool == "digest":
            facts = {"target": {"node": "n0", "statement": FALSE_REV}, "phase": "proving"}
        elif tool == "get":
            facts = {"text": f"{LISTS}\ntheorem t : {FALSE_REV} := by sorry", "next_offset": None}
        elif tool == "refute":
            self.refutations.append(arguments)
            if self._accepts not in f"{arguments['kind']} {arguments.get('lean', '')}":
                return Reply(headline="error not_lean", facts={"code": "not_lean"}, is_error=True)
        return Reply(headline="ok", facts=facts)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("accepts", "count", "strategy"),
    [
        ("witness", 1, STRATEGIES["tester"]),
        ("witness", 1, STRATEGIES["generaliser"]),
        ("decide +kernel", 2, STRATEGIES["tester"]),
        ("witness", 1, on_its_own(STRATEGIES["splitter"])),
    ],
)
async def test_an_agent_has_the_kernel_refute_a_false_target_and_stops(
    accepts: str, count: int, strategy: Strategy
) -> None:
    adapter = Refutable(accepts=accepts)
    with anyio.fail_after(20):
        agent = Agent(Desk(adapter, me="ada"), strategy=strategy, seed=0)
        assert await agent.run() == "the target is false"
    assert len(adapter.refutations) == count
    assert adapter.refutations[0]["evidence"] == "(lst.cons 0 lst.nil : lst Nat) (lst.cons 1 lst.nil : lst Nat)"


@pytest.mark.anyio
async def test_who_leaves_refuting_to_others_begins_with_a_proof() -> None:
    adapter = Refutable(accepts="witness")
    with anyio.move_on_after(2):
        await Agent(Desk(adapter, me="ada"), strategy=STRATEGIES["prover"], seed=0).run()
    assert not adapter.refutations
