"""Induction by rewriting alone, in Python: tells which attempts are worth a Lean check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from .definitions import Datatype, Theory
from .goals import Goal
from .proving import Tactics, Variable, recursive_positions
from .rewriting import FALSE, FIXED, TRUE, Rewriter, as_equation
from .statements import Statement
from .terms import Binding, Expr, Match, Term, replace, substitute, subterms, var, variables

MOST_TESTS = 4
"""Conditions that may be decided both ways on one path."""

MOST_CASES = 2
"""Variables that may be taken apart on one path."""

BUDGET = 60
"""Subgoals of one attempt."""

Equation = tuple[Expr, Expr]
_BOOL = Term("Bool")


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


class Rippling:
    """Proof attempts with the rules of a rewriter."""

    def __init__(self, rewriter: Rewriter, theory: Theory) -> None:
        self._rewriter = rewriter
        self._theory = theory
        self._constructors = theory.constructors()
        self._signatures = theory.signatures()
        self._places = recursive_positions(theory)
        self._budget = 0
        self._split: list[str] = []
        self._used: set[str] = set()
        self._tests = 0
        self._stuck: Subgoal | None = None

    def hint_for(self, statement: Statement, tactics: Tactics) -> Hint | None:
        """How to prove the statement, None when rewriting does not find it."""
        if not all(_is_quantifier_free(item) for item in (*statement.hypotheses, statement.conclusion)):
            return None
        if self._attempt([self._goal(statement, (), {})]):
            return self._hint("", statement)
        for variable in tactics.variables:
            for is_directed in (False, True):
                if self._attempt(self._inductive_cases(statement, variable, is_directed=is_directed)):
                    return self._hint(variable.name, statement)
        return None

    def residuals(self, statement: Statement, variable: Variable) -> list[Goal]:
        """What induction on the variable leaves, as goals about variables."""
        found: list[Goal] = []
        for case in self._inductive_cases(statement, variable, is_directed=False):
            self._budget = BUDGET
            self._stuck = None
            if not self._solve(case):
                if self._stuck is None:
                    return []
                found.append(_as_goal(self._stuck, statement))
        return found

    def _hint(self, variable: str, statement: Statement) -> Hint:
        names = {name for name, _ in statement.binders}
        split = dict.fromkeys(name.removeprefix(FIXED) for name in self._split)
        return Hint(
            variable=variable,
            cases=tuple(name for name in split if name in names),
            rules=frozenset(self._used),
            tests=self._tests,
            is_deep=any(name not in names for name in split),
        )

    def _attempt(self, goals: list[Subgoal]) -> bool:
        self._budget = BUDGET
        self._split = []
        self._used = set()
        self._tests = 0
        return all(self._solve(goal) for goal in goals)

    def _inductive_cases(self, statement: Statement, variable: Variable, *, is_directed: bool) -> list[Subgoal]:
        found: list[Subgoal] = []
        for value, fields in self._values(variable.datatype, variable.kind, variable.name):
            general = tuple(
                _hypothesis(statement, variable.name, Term(name), is_directed=is_directed)
                for name, kind in fields.items()
                if kind == variable.kind
            )
            fixed = {name: Term(f"{FIXED}{name}") for name, _ in statement.binders}
            hypotheses = (*general, *(item.instance(fixed) for item in general))
            found.append(self._goal(_instance(statement, {variable.name: value}), hypotheses, fields))
        return found

    def _goal(self, statement: Statement, hypotheses: tuple[Hypothesis, ...], fields: Mapping[str, Expr]) -> Subgoal:
        """The statement about arbitrary but fixed values."""
        fixed = {name: Term(f"{FIXED}{name}") for name, _ in statement.binders}
        kinds = {f"{FIXED}{name}": kind for name, kind in statement.binders}
        facts = tuple(as_equation(substitute(item, fixed)) for item in statement.hypotheses)
        left, right = as_equation(substitute(statement.conclusion, fixed))
        return Subgoal(left, right, facts, hypotheses, {**kinds, **fields})

    def _values(self, datatype: Datatype, kind: Expr, name: str) -> Iterator[tuple[Term, dict[str, Expr]]]:
        """Each constructor applied to fresh fields, with their types."""
        params = dict(zip(datatype.params, kind.args, strict=False)) if isinstance(kind, Term) else {}
        stem = name.removeprefix(FIXED)
        for constructor in datatype.constructors:
            fields = {f"{FIXED}{stem}.{index}": substitute(arg, params) for index, arg in enumerate(constructor.args)}
            yield Term(constructor.name, tuple(Term(field) for field in fields)), fields

    def _solve(self, goal: Subgoal) -> bool:
        self._budget -= 1
        if self._budget < 0:
            return False
        rewriter = self._rewriter.extended(self._used)
        for item in goal.hypotheses:
            put = rewriter.add_directed if item.is_directed else rewriter.add
            put(item.left, item.right, item.conditions)
        facts = self._take_facts(goal.facts, rewriter)
        if facts is None:
            return True
        for item in goal.hypotheses:
            self._add_reduced(item, rewriter)
        left, right = rewriter.normal(goal.left), rewriter.normal(goal.right)
        if left == right:
            return True
        if (pairs := self._decomposed(left, right)) is not None:
            return all(self._solve(_with_sides(goal, one, other)) for one, other in pairs)
        goal = _with_sides(goal, left, right)
        everything = Term("all", (left, right, *(side for fact in facts for side in fact)))
        condition = next(_conditions(everything), None) or next(self._blocking_tests(everything), None)
        if condition is not None and goal.tests > 0:
            self._tests = max(self._tests, MOST_TESTS - goal.tests + 1)
            return all(self._solve(_assuming(goal, facts)) for facts in _decisions(condition))
        return self._by_cases(goal, facts)

    def _add_reduced(self, item: Hypothesis, rewriter: Rewriter) -> None:
        """A hypothesis about special values, as rewriting leaves the terms that it has to match."""
        left = rewriter.normal(item.left)
        if left != item.left and isinstance(left, Term) and left.args:
            conditions = tuple((rewriter.normal(one), rewriter.normal(other)) for one, other in item.conditions)
            right = rewriter.normal(item.right)
            if left != right:
                rewriter.add_directed(left, right, conditions)

    def _by_cases(self, goal: Subgoal, facts: list[Equation]) -> bool:
        """Take apart a variable that blocks a function."""
        if self._stuck is None:
            self._stuck = goal
        if goal.cases == 0:
            return False
        sides = [goal.left, goal.right, *(side for fact in facts for side in fact)]
        name = next((name for side in sides for name in self._blocking(side, goal.kinds)), None)
        if name is None:
            return False
        kind = goal.kinds[name]
        assert isinstance(kind, Term)
        self._split.append(name)
        values = self._values(self._theory.datatypes[kind.head], kind, name)
        return all(self._solve(_specialised(goal, Term(name), value, fields)) for value, fields in values)

    def _blocking(self, expr: Expr, kinds: Mapping[str, Expr]) -> Iterator[str]:
        for sub in subterms(expr):
            if not isinstance(sub, Term):
                continue
            for index in sorted(self._places.get(sub.head, ())):
                arg = sub.args[index] if index < len(sub.args) else None
                if isinstance(arg, Term) and arg.head.startswith(FIXED) and not arg.args:
                    kind = kinds.get(arg.head)
                    if isinstance(kind, Term) and kind.head in self._theory.datatypes:
                        yield arg.head

    def _blocking_tests(self, expr: Expr) -> Iterator[Expr]:
        """Boolean terms that block a function which takes a Boolean apart."""
        for sub in subterms(expr):
            if not isinstance(sub, Term):
                continue
            for index in sorted(self._places.get(sub.head, ())):
                arg = sub.args[index] if index < len(sub.args) else None
                known = self._signatures.get(arg.head) if isinstance(arg, Term) and arg.args else None
                if known is not None and arg is not None and known.result == _BOOL and not _has_condition(arg):
                    yield Term("=", (arg, TRUE))

    def _take_facts(self, facts: tuple[Equation, ...], rewriter: Rewriter) -> list[Equation] | None:
        """Use facts as rules; what they became, or None when they contradict each other."""
        found: list[Equation] = []
        pending = list(facts)
        while pending:
            left, right = (rewriter.normal(side) for side in pending.pop())
            if left == right:
                continue
            if (pairs := self._decomposed(left, right) or _conjuncts(left, right)) is not None:
                pending += pairs
            elif self._is_built(left) and self._is_built(right):
                return None
            else:
                rewriter.add(left, right)
                found.append((left, right))
        return found

    def _is_built(self, expr: Expr) -> bool:
        return isinstance(expr, Term) and (expr.head in self._constructors or expr.head in {"True", "False"})

    def _decomposed(self, left: Expr, right: Expr) -> list[Equation] | None:
        """Argument pairs when both sides are built by the same constructor (of at least one argument)."""
        if not isinstance(left, Term) or not isinstance(right, Term) or left.head not in self._constructors:
            return None
        if left.head != right.head or len(left.args) != len(right.args):
            return None
        return list(zip(left.args, right.args, strict=True)) or None


def _conjuncts(left: Expr, right: Expr) -> list[Equation] | None:
    """Both parts of a true conjunction or of a false disjunction."""
    if isinstance(left, Term) and (left.head, right) in {("Bool.and", TRUE), ("Bool.or", FALSE)}:
        return [(arg, right) for arg in left.args]
    return None


def _is_quantifier_free(expr: Expr) -> bool:
    """No binders but those of functions."""
    return all(
        not isinstance(sub, Match) and (not isinstance(sub, Binding) or sub.kind == "fun") for sub in subterms(expr)
    )


def _hypothesis(statement: Statement, name: str, field: Term, *, is_directed: bool) -> Hypothesis:
    """The induction hypothesis for a field; other variables are free in it."""
    instance = _instance(statement, {name: field})
    conditions = tuple(as_equation(item) for item in instance.hypotheses)
    left, right = as_equation(instance.conclusion)
    return Hypothesis(right, left, conditions, True) if is_directed else Hypothesis(left, right, conditions, False)


def _instance(statement: Statement, mapping: dict[str, Expr]) -> Statement:
    return Statement(
        types=statement.types,
        instances=statement.instances,
        binders=tuple((name, kind) for name, kind in statement.binders if name not in mapping),
        hypotheses=tuple(substitute(item, mapping) for item in statement.hypotheses),
        conclusion=substitute(statement.conclusion, mapping),
    )


def _as_goal(goal: Subgoal, statement: Statement) -> Goal:
    """Fixed values become variables again."""
    kinds = {_plain(name): kind for name, kind in goal.kinds.items()}
    facts = [Term("=", fact) for fact in goal.facts]
    hypotheses = [_quantified(item, statement) for item in goal.hypotheses if not item.conditions]
    conclusion = _freed(Term("=", (goal.left, goal.right)))
    return Goal(kinds, tuple(_freed(item) for item in (*facts, *hypotheses)), conclusion, statement.instances)


def _quantified(item: Hypothesis, statement: Statement) -> Expr:
    """The hypothesis with its free variables bound under names that no goal uses."""
    body: Expr = Term("=", (item.left, item.right))
    for name, kind in statement.binders:
        if name in variables(body):
            body = Binding("∀", f"{name}_any", kind, substitute(body, {name: var(f"{name}_any")}))
    return body


def _freed(expr: Expr) -> Expr:
    if isinstance(expr, Binding):
        return Binding(expr.kind, expr.name, expr.type, _freed(expr.body), expr.style)
    if isinstance(expr, Term):
        args = tuple(_freed(arg) for arg in expr.args)
        return (
            Term(_plain(expr.head), args, True) if expr.head.startswith(FIXED) else Term(expr.head, args, expr.is_var)
        )
    return expr


def _plain(name: str) -> str:
    return name.removeprefix(FIXED).replace(".", "_")


def _with_sides(goal: Subgoal, left: Expr, right: Expr) -> Subgoal:
    return Subgoal(left, right, goal.facts, goal.hypotheses, goal.kinds, goal.tests, goal.cases)


def _assuming(goal: Subgoal, facts: tuple[Equation, ...]) -> Subgoal:
    facts = goal.facts + facts
    return Subgoal(goal.left, goal.right, facts, goal.hypotheses, goal.kinds, goal.tests - 1, goal.cases)


def _specialised(goal: Subgoal, old: Term, new: Term, fields: Mapping[str, Expr]) -> Subgoal:
    facts = tuple((replace(one, old, new), replace(other, old, new)) for one, other in goal.facts)
    hypotheses = tuple(item.put(old, new) for item in goal.hypotheses)
    left, right = replace(goal.left, old, new), replace(goal.right, old, new)
    return Subgoal(left, right, facts, hypotheses, {**goal.kinds, **fields}, goal.tests, goal.cases - 1)


def _conditions(expr: Expr) -> Iterator[Expr]:
    """Conditions of conditionals, innermost first."""
    for sub in subterms(expr):
        if isinstance(sub, Term) and sub.head == "ite":
            yield from _conditions(sub.args[0])
            yield sub.args[0]


def _has_condition(expr: Expr) -> bool:
    return any(isinstance(sub, Term) and sub.head == "ite" for sub in subterms(expr))


def _decisions(condition: Expr) -> tuple[tuple[Equation, ...], tuple[Equation, ...]]:
    """Facts when the condition holds and when it does not."""
    left, right = as_equation(condition)
    if right in {TRUE, FALSE}:
        return ((left, right),), ((left, FALSE if right == TRUE else TRUE),)
    proposition = condition if right in {Term("True"), Term("False")} else Term("=", (left, right))
    return ((left, right), (proposition, Term("True"))), ((proposition, Term("False")),)
