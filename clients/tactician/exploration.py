"""Discovery of small equations over a problem's functions, by evaluation on random values."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator

import msgspec

from .definitions import Names
from .enumeration import compositions
from .evaluation import Evaluator, Value, limits
from .ordering import Precedence
from .statements import Statement, close_statement, with_types
from .terms import Expr, Term, arrow_parts, match, rename_apart, size, var, variables
from .theory import Theory
from .vocabulary import VALUATIONS, Operation, Vector, Vocabulary

CALLS_PER_TERM = 1_000
TERMS_PER_LEVEL = 40_000
SLICE_S = 0.1
PER_LEVEL = 500
LARGEST = 15
"""Heads on both sides of an equation."""

LARGEST_INT = 2_000

FEWEST = VALUATIONS // 4
"""Valuations that must meet a condition."""

MOST_TESTS = 16


class Equation(msgspec.Struct, frozen=True):
    """A conjecture `conditions → left = right`, oriented."""

    left: Term
    right: Term
    conditions: tuple[Term, ...] = ()

    @property
    def size(self) -> int:
        """Number of heads."""
        return size(self.left) + size(self.right) + sum(size(item) for item in self.conditions)


class Exploration:
    """Terms by size; two with equal values on all valuations are a conjecture."""

    def __init__(self, theory: Theory, goal: Statement, *, seed: int) -> None:
        self._goal = goal
        self._names = Names(theory)
        self._evaluator = Evaluator(theory)
        self._precedence = Precedence(theory)
        self._vocabulary = Vocabulary(theory, goal, self._evaluator, random.Random(seed))
        self._terms: dict[Expr, dict[int, list[tuple[Term, Vector]]]] = {}
        self._classes: dict[tuple[Expr, Vector], Term] = {}
        self._seen: set[Expr] = set()
        self._equations: dict[str, list[Equation]] = {}

    # -- enumeration ------------------------------------------------------------------------------

    def levels(self, largest: int = 9, *, conditional: tuple[int, ...] = (4,)) -> Iterator[list[Equation] | None]:
        """Equations of each size, at some sizes also under conditions; None between slices of work, for the caller."""
        if not self._vocabulary.operations:
            return
        self._level_one()
        for level in range(1, largest + 1):
            found: list[Equation] = []
            count = 0
            pause_at = time.monotonic() + SLICE_S
            for equation in self._level(level):
                count += 1
                if equation is not None:
                    found.append(equation)
                if time.monotonic() > pause_at:
                    yield None
                    pause_at = time.monotonic() + SLICE_S
                if count > TERMS_PER_LEVEL:
                    break
            yield self._pruned(found)
            if level == 3:
                yield self.reflections()
            if level in conditional or (count > TERMS_PER_LEVEL and level < 4):
                yield self.conditional(level)
            if count > TERMS_PER_LEVEL:
                return

    def _level(self, level: int) -> Iterator[Equation | None]:
        """One item for each term of the size: the equation it gives rise to, if any."""
        for operation in self._vocabulary.operations:
            for term, vector in self._applications(operation, level):
                yield None if vector is None else self._classify(term, vector, operation.result, level)

    def _level_one(self) -> None:
        for name, kind in self._vocabulary.kinds.items():
            self._terms.setdefault(kind, {}).setdefault(1, []).append((var(name), self._vocabulary.values[name]))
            self._classes.setdefault((kind, self._vocabulary.values[name]), var(name))

    def _applications(self, operation: Operation, level: int) -> Iterator[tuple[Term, Vector | None]]:
        if not operation.args:
            if level == 1:
                yield Term(operation.head), (operation.run(),) * VALUATIONS
            return
        for sizes in compositions(level - 1, len(operation.args)):
            pools = [self._terms.get(kind, {}).get(size, []) for kind, size in zip(operation.args, sizes, strict=True)]
            for chosen in itertools.product(*pools):
                term = Term(operation.head, tuple(item[0] for item in chosen), operation.is_var)
                if level >= 5 and len(variables(term)) > 3:
                    continue
                yield term, self._evaluate(operation, [item[1] for item in chosen])

    def _evaluate(self, operation: Operation, inputs: list[Vector]) -> Vector | None:
        try:
            if operation.is_var:
                inputs = [self._vocabulary.values[operation.head], *inputs]
            vector = self._run(operation, inputs)
        except limits():
            return None
        if type(vector[0]) is int and max(vector) > LARGEST_INT:
            return None
        return vector

    def _run(self, operation: Operation, inputs: list[Vector]) -> Vector:
        """The operation on all valuations, in a plain loop since this runs most."""
        run, fuel = operation.run, self._evaluator.fuel
        found: list[Value] = []
        for values in zip(*inputs, strict=True):
            fuel[0] = CALLS_PER_TERM
            found.append(run(*values))
        return tuple(found)

    def _classify(self, term: Term, vector: Vector, kind: Expr, level: int) -> Equation | None:
        try:
            known = self._classes.get((kind, vector))
        except TypeError:
            return None
        if known is None:
            self._classes[kind, vector] = term
            self._terms.setdefault(kind, {}).setdefault(level, []).append((term, vector))
            return None
        return self._oriented(term, known)

    def _oriented(self, term: Term, known: Term, conditions: tuple[Term, ...] = ()) -> Equation | None:
        if size(term) + size(known) > LARGEST:
            return None
        rule = self._precedence.orient(term, known)
        left, right = rule if rule is not None else (term, known)
        if not set(variables(right)) <= set(variables(left)):
            left, right = right, left
        if not isinstance(left, Term) or not isinstance(right, Term) or (left.is_var and not left.args):
            return None
        scope = set(variables(left)).union(*(variables(item) for item in conditions))
        if not set(variables(right)) <= scope:
            return None
        return Equation(left, right, conditions)

    def _pruned(self, found: list[Equation]) -> list[Equation]:
        """Without repetitions and instances of equations found before; simple and general ones first."""
        found.sort(key=lambda item: (item.size, -len(variables(item.left))))
        kept: list[Equation] = []
        for equation in found[:PER_LEVEL]:
            key = rename_apart(Term("=", (equation.left, equation.right)))
            if key in self._seen or self._is_congruence(equation):
                continue
            self._seen.add(key)
            alike = self._equations.setdefault(equation.left.head, [])
            if any(_is_instance(equation, general) for general in alike):
                continue
            alike.append(equation)
            kept.append(equation)
        return kept

    def _is_congruence(self, equation: Equation) -> bool:
        return equation.left.head == equation.right.head and self._evaluator.is_constructor(equation.left.head)

    def reflections(self) -> list[Equation]:
        """Tests that hold exactly for equal values: `(test x y = true) = (x = y)`."""
        found: list[Equation] = []
        for operation in self._vocabulary.operations:
            if operation.is_var or operation.result != Term("Bool") or len(set(operation.args)) != 1:
                continue
            names = [name for name, kind in self._vocabulary.kinds.items() if kind == operation.args[0]][:2]
            if len(operation.args) != 2 or len(names) != 2 or arrow_parts(operation.args[0])[0]:
                continue
            one, other = (self._vocabulary.values[name] for name in names)
            expected = tuple(left == right for left, right in zip((*one, *one), (*other, *one), strict=True))
            if self._evaluate(operation, [(*one, *one), (*other, *one)]) == expected and not all(expected):
                variables_ = (var(names[0]), var(names[1]))
                test = Term("=", (Term(operation.head, variables_), Term("true")))
                found.append(Equation(test, Term("=", variables_)))
        return found

    # -- conditional equations --------------------------------------------------------------------

    def conditional(self, largest: int = 4) -> list[Equation]:
        """Equations between terms of at most so many heads that hold under a small condition."""
        found: dict[Expr, Equation] = {}
        for condition, chosen in self._conditions():
            if len(chosen) >= FEWEST:
                for equation in self._under(condition, chosen, largest):
                    found.setdefault(rename_apart(Term("→", (condition, equation.left, equation.right))), equation)
        found = {key: equation for key, equation in found.items() if key not in self._seen}
        self._seen.update(found)
        return sorted(found.values(), key=lambda item: (item.size, -len(variables(item.left))))[:120]

    def _conditions(self) -> Iterator[tuple[Term, list[int]]]:
        """A test is true, or false; a value is the least of its type. Each with the valuations where it is so."""
        for term, vector in self._distinct(Term("Bool"), (2, 3))[:MOST_TESTS]:
            if all(isinstance(arg, Term) and arg.is_var for arg in term.args):
                yield Term("=", (term, Term("true"))), _where(vector, True)
                yield Term("=", (term, Term("false"))), _where(vector, False)
        for kind in self._terms:
            least = self._vocabulary.least(kind)
            if least is not None:
                for term, vector in self._relations(kind)[:MOST_TESTS]:
                    yield Term("=", (term, Term(least.head))), _where(vector, least.run())

    def _distinct(self, kind: Expr, sizes: tuple[int, ...]) -> list[tuple[Term, Vector]]:
        """Terms of some sizes; of those that differ in variables only, one."""
        found: dict[Expr, tuple[Term, Vector]] = {}
        for size_ in sizes:
            for term, vector in self._terms.get(kind, {}).get(size_, ()):
                found.setdefault(rename_apart(term), (term, vector))
        return list(found.values())

    def _relations(self, kind: Expr) -> list[tuple[Term, Vector]]:
        """Functions that say something about two values, before functions of such."""
        first: list[tuple[Term, Vector]] = []
        last: list[tuple[Term, Vector]] = []
        for term, vector in self._distinct(kind, (3, 4)):
            about = set(variables(term))
            if not term.is_var and not self._evaluator.is_constructor(term.head) and len(about) > 1:
                is_nested = any(set(variables(arg)) == about for arg in term.args)
                (last if is_nested else first).append((term, vector))
        return [*first, *last]

    def _under(self, condition: Term, chosen: list[int], largest: int) -> Iterator[Equation]:
        """Equal terms whose arguments are not equal to smaller terms already."""
        classes: dict[tuple[Expr, Vector], Term] = {}
        reducible: set[Expr] = {condition.args[0]}
        needed = set(variables(condition))
        for kind, term, vector in self._by_size(largest):
            if term in reducible or any(arg in reducible for arg in term.args):
                reducible.add(term)
                continue
            known = classes.setdefault((kind, tuple([vector[index] for index in chosen])), term)
            if known is term or self._precedence.orient(term, known) is None:
                continue
            reducible.add(term)
            if needed <= {*variables(term), *variables(known)} and (found := self._oriented(term, known, (condition,))):
                yield found

    def _by_size(self, largest: int) -> Iterator[tuple[Expr, Term, Vector]]:
        for size_ in range(1, largest + 1):
            for kind, by_size in self._terms.items():
                if not arrow_parts(kind)[0]:
                    for term, vector in by_size.get(size_, ()):
                        yield kind, term, vector

    def implication(self, equation: Equation) -> Equation | None:
        """An equation between two tests as an implication, which is easier to prove; what has conditions stays."""
        if equation.conditions:
            return equation
        left, right = equation.left, equation.right
        known = self._names.signatures.get(left.head)
        if known is None or known.result != Term("Bool") or not right.args or right.is_var:
            return None
        return Equation(left, Term("true"), (Term("=", (right, Term("true"))),))

    # -- results ----------------------------------------------------------------------------------

    def statement(self, equation: Equation) -> Statement | None:
        """The conjecture as a closed statement."""
        made = close_statement(
            equation.conditions,
            Term("=", (equation.left, equation.right)),
            kinds=self._vocabulary.kinds,
            instances=self._goal.instances,
        )
        return None if made is None else with_types(made, self._names)


def _where(vector: Vector, wanted: Value) -> list[int]:
    return [index for index, value in enumerate(vector) if value == wanted]


def _is_instance(special: Equation, general: Equation) -> bool:
    found: dict[str, Expr] = {}
    return match(general.left, special.left, found) and match(general.right, special.right, found)
