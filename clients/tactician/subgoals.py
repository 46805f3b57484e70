"""The goals of an attempt by rewriting: equations under facts and induction hypotheses."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

import msgspec

from .connectives import FALSE, TRUE, as_equation
from .goals import Goal
from .ordering import FIXED
from .statements import Statement
from .terms import Binding, Expr, Match, Term, replace, substitute, subterms, var, variables

MOST_TESTS = 4
"""Conditions that may be decided both ways on one path."""

MOST_CASES = 2
"""Variables that may be taken apart on one path."""

Equation = tuple[Expr, Expr]


class Step(msgspec.Struct, frozen=True):
    """One step of a proof; its parts follow in order."""

    kind: str
    """`leaf`, `pairs` (arguments of a constructor), `test` or `cases`."""

    parts: int = 0
    subject: Expr = Term("True")
    """The condition that is decided, or the value that is taken apart."""

    datatype: str = ""


LEAF = Step("leaf")


class Hint(msgspec.Struct, frozen=True):
    """How rewriting proved a statement."""

    variable: str
    """Induction variable, empty when none is needed."""

    cases: tuple[str, ...] = ()
    """Other quantified variables that were taken apart."""

    rules: frozenset[str] = frozenset()
    """Sources of the rules that were applied on the way."""

    tests: int = 0
    """How many conditions were decided both ways on one path."""

    is_deep: bool = False
    """Whether a field of the induction variable was taken apart."""

    steps: tuple[Step, ...] = ()
    """All steps, depth first; with an induction variable, one tree for each constructor."""


class Hypothesis(msgspec.Struct, frozen=True):
    """An induction hypothesis as a conditional rule."""

    left: Expr
    right: Expr
    conditions: tuple[Equation, ...]
    is_directed: bool

    def instance(self, mapping: Mapping[str, Expr]) -> Hypothesis:
        """The same about given values: what rewriting makes of it may depend on them."""
        conditions = tuple((substitute(one, mapping), substitute(other, mapping)) for one, other in self.conditions)
        left, right = substitute(self.left, mapping), substitute(self.right, mapping)
        return Hypothesis(left, right, conditions, self.is_directed)

    def put(self, old: Expr, new: Expr) -> Hypothesis:
        """The same about a special case."""
        conditions = tuple((replace(one, old, new), replace(other, old, new)) for one, other in self.conditions)
        return Hypothesis(replace(self.left, old, new), replace(self.right, old, new), conditions, self.is_directed)


class Subgoal(msgspec.Struct, frozen=True):
    """An equation to show, with what may be used."""

    left: Expr
    right: Expr
    facts: tuple[Equation, ...]
    hypotheses: tuple[Hypothesis, ...]
    kinds: Mapping[str, Expr]
    tests: int = MOST_TESTS
    cases: int = MOST_CASES


def conjuncts(left: Expr, right: Expr) -> list[Equation] | None:
    """Both parts of a true conjunction or of a false disjunction."""
    if isinstance(left, Term) and (left.head, right) in {("Bool.and", TRUE), ("Bool.or", FALSE)}:
        return [(arg, right) for arg in left.args]
    return None


def is_built(expr: Expr, constructors: Container[str]) -> bool:
    """Whether a constructor, or a proposition that is decided, is on top."""
    return isinstance(expr, Term) and (expr.head in constructors or expr.head in {"True", "False"})


def decomposed(left: Expr, right: Expr, constructors: Container[str]) -> list[Equation] | None:
    """Argument pairs when both sides are built by the same constructor (of at least one argument)."""
    if not isinstance(left, Term) or not isinstance(right, Term) or left.head not in constructors:
        return None
    if left.head != right.head or len(left.args) != len(right.args):
        return None
    return list(zip(left.args, right.args, strict=True)) or None


def is_quantifier_free(expr: Expr) -> bool:
    """No binders but those of functions."""
    return all(
        not isinstance(sub, Match) and (not isinstance(sub, Binding) or sub.kind == "fun") for sub in subterms(expr)
    )


def induction_hypothesis(statement: Statement, name: str, field: Term, *, is_directed: bool) -> Hypothesis:
    """The induction hypothesis for a field; other variables are free in it."""
    instance = special_case(statement, {name: field})
    conditions = tuple(as_equation(item) for item in instance.hypotheses)
    left, right = as_equation(instance.conclusion)
    return Hypothesis(right, left, conditions, True) if is_directed else Hypothesis(left, right, conditions, False)


def special_case(statement: Statement, mapping: dict[str, Expr]) -> Statement:
    """The statement with some variables replaced."""
    return Statement(
        types=statement.types,
        instances=statement.instances,
        binders=tuple((name, kind) for name, kind in statement.binders if name not in mapping),
        hypotheses=tuple(substitute(item, mapping) for item in statement.hypotheses),
        conclusion=substitute(statement.conclusion, mapping),
    )


def as_goal(goal: Subgoal, statement: Statement) -> Goal:
    """Fixed values become variables again."""
    kinds = {plain(name): kind for name, kind in goal.kinds.items()}
    facts = [freed(Term("=", fact)) for fact in goal.facts]
    hypotheses = [_quantified(item, statement) for item in goal.hypotheses if not item.conditions]
    conclusion = freed(Term("=", (goal.left, goal.right)))
    hypotheses = [freed(item) for item in hypotheses]
    return Goal(kinds, (*facts, *hypotheses), conclusion, statement.instances, frozenset(facts))


def _quantified(item: Hypothesis, statement: Statement) -> Expr:
    """The hypothesis with its free variables bound under names that no goal uses."""
    body: Expr = Term("=", (item.left, item.right))
    for name, kind in statement.binders:
        if name in variables(body):
            body = Binding("∀", f"{name}_any", kind, substitute(body, {name: var(f"{name}_any")}))
    return body


def freed(expr: Expr) -> Expr:
    """Fixed values as variables."""
    if isinstance(expr, Binding):
        return Binding(expr.kind, expr.name, expr.type, freed(expr.body), expr.style)
    if isinstance(expr, Term):
        args = tuple(freed(arg) for arg in expr.args)
        return Term(plain(expr.head), args, True) if expr.head.startswith(FIXED) else Term(expr.head, args, expr.is_var)
    return expr


def plain(name: str) -> str:
    """The name of a variable for a fixed value."""
    return name.removeprefix(FIXED).replace(".", "_")


def with_sides(goal: Subgoal, left: Expr, right: Expr) -> Subgoal:
    """The goal with other sides."""
    return Subgoal(left, right, goal.facts, goal.hypotheses, goal.kinds, goal.tests, goal.cases)


def with_facts(goal: Subgoal, facts: Iterable[Equation]) -> Subgoal:
    """The goal with other facts."""
    return Subgoal(goal.left, goal.right, tuple(facts), goal.hypotheses, goal.kinds, goal.tests, goal.cases)


def assuming(goal: Subgoal, facts: tuple[Equation, ...]) -> Subgoal:
    """The goal with more facts and one test less."""
    facts = goal.facts + facts
    return Subgoal(goal.left, goal.right, facts, goal.hypotheses, goal.kinds, goal.tests - 1, goal.cases)


def specialised(goal: Subgoal, old: Term, new: Term, fields: Mapping[str, Expr]) -> Subgoal:
    """The goal about a value built by one constructor."""
    facts = tuple((replace(one, old, new), replace(other, old, new)) for one, other in goal.facts)
    hypotheses = tuple(item.put(old, new) for item in goal.hypotheses)
    left, right = replace(goal.left, old, new), replace(goal.right, old, new)
    return Subgoal(left, right, facts, hypotheses, {**goal.kinds, **fields}, goal.tests, goal.cases - 1)


def tested_conditions(expr: Expr) -> Iterator[Expr]:
    """Conditions of conditionals, innermost first."""
    for sub in subterms(expr):
        if isinstance(sub, Term) and sub.head == "ite":
            yield from tested_conditions(sub.args[0])
            yield sub.args[0]


def has_condition(expr: Expr) -> bool:
    """Whether a conditional occurs."""
    return any(isinstance(sub, Term) and sub.head == "ite" for sub in subterms(expr))


def decisions(condition: Expr) -> tuple[tuple[Equation, ...], tuple[Equation, ...]]:
    """Facts when the condition holds and when it does not."""
    left, right = as_equation(condition)
    if right in {TRUE, FALSE}:
        return ((left, right),), ((left, FALSE if right == TRUE else TRUE),)
    proposition = condition if right in {Term("True"), Term("False")} else Term("=", (left, right))
    return ((left, right), (proposition, Term("True"))), ((proposition, Term("False")),)
