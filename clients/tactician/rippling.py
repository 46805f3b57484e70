"""Induction by rewriting alone, in Python: tells which attempts are worth a Lean check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from .connectives import TRUE, as_equation
from .goals import Goal
from .ordering import FIXED
from .proving import Tactics, Variable, recursive_positions
from .rewriting import Heads, Rewriter, Trace
from .statements import Statement
from .subgoals import (
    LEAF,
    MOST_CASES,
    MOST_TESTS,
    Equation,
    Hint,
    Hypothesis,
    Step,
    Subgoal,
    as_goal,
    assuming,
    conjuncts,
    decisions,
    decomposed,
    has_condition,
    induction_hypothesis,
    is_built,
    is_quantifier_free,
    special_case,
    specialised,
    tested_conditions,
    with_facts,
    with_sides,
)
from .terms import Expr, Term, substitute, subterms
from .theory import Datatype, Theory

BUDGET = 60
"""Subgoals of one attempt."""

MOST_VISITS = 6_000
"""Subterms that rewriting may look at for one statement; what is found does not depend on speed or load."""

_BOOL = Term("Bool")


class Residue(msgspec.Struct, frozen=True):
    """What is left of one case of an induction."""

    leaves: tuple[Goal, ...]
    """After all tests."""

    untested: Goal
    """Before the first test."""


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
        self._trace = Trace()
        self._steps: list[Step] = []
        self._tests = 0
        self._stuck: list[Subgoal] | None = None
        self._untested: Subgoal | None = None
        self._opened = 0
        self._cases = MOST_CASES

    def hint_for(self, statement: Statement, tactics: Tactics, *, cases: int = MOST_CASES) -> Hint | None:
        """How to prove the statement, None when rewriting does not find it taking at most so many variables apart."""
        self._trace = Trace()
        self._cases = cases
        if not all(is_quantifier_free(item) for item in (*statement.hypotheses, statement.conclusion)):
            return None
        if self._attempt([self._goal(statement, (), {})]):
            return self._hint("", statement)
        for variable in tactics.variables:
            for is_directed in (False, True):
                if self._attempt(self._inductive_cases(statement, variable, is_directed=is_directed)):
                    return self._hint(variable.name, statement)
        return None

    @property
    def stuck(self) -> frozenset[Heads]:
        """The terms at which rewriting stopped when it was last asked; a rule for another term changes no answer."""
        return self._trace.where_stuck()

    def residuals(
        self, statement: Statement, variable: Variable, *, is_directed: bool = False, opened: int = 0
    ) -> list[Residue]:
        """What induction leaves of each case that it does not prove when it may take so many more variables apart."""
        self._opened = opened
        found: list[Residue] = []
        for case in self._inductive_cases(statement, variable, is_directed=is_directed):
            self._budget = BUDGET
            self._trace = Trace()
            self._cases = MOST_CASES
            self._stuck = []
            self._untested = None
            is_proved = self._solve(case)
            stuck, self._stuck = self._stuck, None
            if not is_proved:
                if not stuck:
                    return []
                leaves = tuple(as_goal(goal, statement) for goal in stuck)
                found.append(Residue(leaves, as_goal(self._untested, statement) if self._untested else leaves[0]))
        return found

    def _hint(self, variable: str, statement: Statement) -> Hint:
        names = {name for name, _ in statement.binders}
        split = dict.fromkeys(name.removeprefix(FIXED) for name in self._split)
        return Hint(
            variable=variable,
            cases=tuple(name for name in split if name in names),
            rules=frozenset(self._trace.used),
            tests=self._tests,
            is_deep=any(name not in names for name in split),
            steps=tuple(self._steps),
        )

    def _attempt(self, goals: list[Subgoal]) -> bool:
        self._budget = BUDGET
        self._split = []
        self._trace.used = set()
        self._steps = []
        self._tests = 0
        return all(self._solve(goal) for goal in goals)

    def _inductive_cases(self, statement: Statement, variable: Variable, *, is_directed: bool) -> list[Subgoal]:
        found: list[Subgoal] = []
        for value, fields in self._values(variable.datatype, variable.kind, variable.name):
            general = tuple(
                induction_hypothesis(statement, variable.name, Term(name), is_directed=is_directed)
                for name, kind in fields.items()
                if kind == variable.kind
            )
            fixed = {name: Term(f"{FIXED}{name}") for name, _ in statement.binders}
            hypotheses = (*general, *(item.instance(fixed) for item in general))
            found.append(self._goal(special_case(statement, {variable.name: value}), hypotheses, fields))
        return found

    def _goal(self, statement: Statement, hypotheses: tuple[Hypothesis, ...], fields: Mapping[str, Expr]) -> Subgoal:
        """The statement about arbitrary but fixed values."""
        fixed = {name: Term(f"{FIXED}{name}") for name, _ in statement.binders}
        kinds = {f"{FIXED}{name}": kind for name, kind in statement.binders}
        facts = tuple(as_equation(substitute(item, fixed)) for item in statement.hypotheses)
        left, right = as_equation(substitute(statement.conclusion, fixed))
        return Subgoal(left, right, facts, hypotheses, {**kinds, **fields}, MOST_TESTS, self._cases)

    def _values(self, datatype: Datatype, kind: Expr, name: str) -> Iterator[tuple[Term, dict[str, Expr]]]:
        """Each constructor applied to fresh fields, with their types."""
        params = dict(zip(datatype.params, kind.args, strict=False)) if isinstance(kind, Term) else {}
        stem = name.removeprefix(FIXED)
        for constructor in datatype.constructors:
            fields = {f"{FIXED}{stem}.{index}": substitute(arg, params) for index, arg in enumerate(constructor.args)}
            yield Term(constructor.name, tuple(Term(field) for field in fields)), fields

    def _solve(self, goal: Subgoal) -> bool:
        self._budget -= 1
        if self._budget < 0 or self._trace.visits > MOST_VISITS:
            return False
        rewriter = self._rewriter.extended(self._trace)
        rules = [self._put(item, rewriter) for item in goal.hypotheses]
        facts = self._take_facts(goal.facts, rewriter)
        if facts is None:
            self._steps.append(LEAF)
            return True
        for item, is_rule in zip(goal.hypotheses, rules, strict=True):
            self._add_reduced(item, rewriter, is_rule=is_rule)
        left, right = rewriter.normal(goal.left), rewriter.normal(goal.right)
        if left == right:
            self._steps.append(LEAF)
            return True
        if (pairs := decomposed(left, right, self._constructors)) is not None:
            self._steps.append(Step("pairs", len(pairs)))
            return self._all([with_sides(goal, one, other) for one, other in pairs])
        goal = with_sides(goal, left, right)
        everything = Term("all", (left, right, *(side for fact in facts for side in fact)))
        condition = next(tested_conditions(everything), None) or next(self._blocking_tests(everything), None)
        if condition is not None and goal.tests > 0:
            self._tests = max(self._tests, MOST_TESTS - goal.tests + 1)
            self._untested = self._untested or with_facts(goal, facts)
            self._steps.append(Step("test", 2, condition))
            return self._all([assuming(goal, facts) for facts in decisions(condition)])
        return self._by_cases(goal, facts)

    def _all(self, goals: list[Subgoal]) -> bool:
        """Whether all are solved; where what is left is collected, none is left out."""
        if self._stuck is None:
            return all(self._solve(goal) for goal in goals)
        solved = [self._solve(goal) for goal in goals]
        return all(solved)

    def _put(self, item: Hypothesis, rewriter: Rewriter) -> bool:
        """Use a hypothesis as a rule; whether it always changes its left side now."""
        if item.is_directed:
            return rewriter.add_directed(item.left, item.right, item.conditions) and not item.conditions
        return rewriter.add(item.left, item.right, item.conditions) is item.left and not item.conditions

    def _add_reduced(self, item: Hypothesis, rewriter: Rewriter, *, is_rule: bool) -> None:
        """A hypothesis about special values, as rewriting leaves the terms that it has to match."""
        if is_rule and isinstance(item.left, Term) and all(rewriter.normal(arg) == arg for arg in item.left.args):
            return
        left = rewriter.normal(item.left)
        if left != item.left and isinstance(left, Term) and left.args:
            conditions = tuple((rewriter.normal(one), rewriter.normal(other)) for one, other in item.conditions)
            right = rewriter.normal(item.right)
            if left != right:
                rewriter.add_directed(left, right, conditions)

    def _by_cases(self, goal: Subgoal, facts: list[Equation]) -> bool:
        """Take apart a variable that blocks a function."""
        stuck = self._stuck
        if stuck is None:
            return self._split_up(goal, facts)
        self._stuck, self._budget = None, BUDGET
        is_solved = self._split_up(goal, facts)
        self._stuck = stuck
        if is_solved:
            return True
        if MOST_CASES - goal.cases < self._opened and self._taken_apart(goal, facts) is not None:
            return self._split_up(goal, facts)
        stuck.append(with_facts(goal, facts))
        return False

    def _split_up(self, goal: Subgoal, facts: list[Equation]) -> bool:
        name = self._taken_apart(goal, facts) if goal.cases > 0 else None
        if name is None:
            return False
        kind = goal.kinds[name]
        assert isinstance(kind, Term)
        self._split.append(name)
        datatype = self._theory.datatypes[kind.head]
        values = self._values(datatype, kind, name)
        self._steps.append(Step("cases", len(datatype.constructors), Term(name), kind.head))
        return self._all([specialised(goal, Term(name), value, fields) for value, fields in values])

    def _taken_apart(self, goal: Subgoal, facts: list[Equation]) -> str | None:
        """A variable that blocks a function; parts of what was taken apart, which hypotheses are about, come last."""
        sides = [goal.left, goal.right, *(side for fact in facts for side in fact)]
        names = dict.fromkeys(name for side in sides for name in self._blocking(side, goal.kinds))
        return next((name for name in names if "." not in name), next(iter(names), None))

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
                if known is not None and arg is not None and known.result == _BOOL and not has_condition(arg):
                    yield Term("=", (arg, TRUE))

    def _take_facts(self, facts: tuple[Equation, ...], rewriter: Rewriter) -> list[Equation] | None:
        """Use facts as rules; what they became, or None when they contradict each other."""
        found: list[Equation] = []
        pending = list(facts)
        while pending:
            left, right = (rewriter.normal(side) for side in pending.pop())
            if left == right:
                continue
            if (pairs := decomposed(left, right, self._constructors) or conjuncts(left, right)) is not None:
                pending += pairs
            elif is_built(left, self._constructors) and is_built(right, self._constructors):
                return None
            else:
                meant = rewriter.normal(Term("=", (left, right))) if right == TRUE else None
                if isinstance(meant, Term) and meant.head == "=" and meant.args != (left, right):
                    pending.append((meant.args[0], meant.args[1]))
                rewriter.add(left, right)
                found.append((left, right))
        return found
