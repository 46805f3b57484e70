"""Induction by rewriting alone, in Python: tells which attempts are worth a Lean check."""

from __future__ import annotations

from collections.abc import Iterator

from .proving import Tactics, Variable
from .rewriting import FALSE, FIXED, TRUE, Rewriter, as_equation
from .statements import Statement
from .terms import Expr, Term, is_plain, substitute, subterms

MOST_SPLITS = 4

Equation = tuple[Expr, Expr]


class Rippling:
    """Proof attempts with the rules of a rewriter."""

    def __init__(self, rewriter: Rewriter, constructors: frozenset[str]) -> None:
        self._rewriter = rewriter
        self._constructors = constructors

    def variable_for(self, statement: Statement, tactics: Tactics) -> str | None:
        """Name of a variable on which induction succeeds, empty when none is needed, None when nothing was found."""
        if not all(is_plain(item) for item in (*statement.hypotheses, statement.conclusion)):
            return None
        if self._closes(statement, self._rewriter.extended()):
            return ""
        for variable in tactics.variables:
            if any(self._by_induction(statement, variable, is_flipped=flipped) for flipped in (False, True)):
                return variable.name
        return None

    def _by_induction(self, statement: Statement, variable: Variable, *, is_flipped: bool) -> bool:
        for constructor in variable.datatype.constructors:
            fields = tuple(Term(f"{FIXED}{variable.name}{index}") for index in range(len(constructor.args)))
            rewriter = self._rewriter.extended()
            for field, kind in zip(fields, constructor.args, strict=True):
                if isinstance(kind, Term) and kind.head == variable.datatype.name:
                    self._assume(rewriter, statement, variable.name, field, is_flipped=is_flipped)
            value = Term(constructor.name, fields)
            case = _instance(statement, {variable.name: value})
            if not self._closes(case, rewriter):
                return False
        return True

    def _assume(self, rewriter: Rewriter, statement: Statement, name: str, field: Term, *, is_flipped: bool) -> None:
        """The induction hypothesis as a rule; other variables are free in it."""
        hypothesis = _instance(statement, {name: field})
        conditions = tuple(as_equation(item) for item in hypothesis.hypotheses)
        left, right = as_equation(hypothesis.conclusion)
        if is_flipped:
            rewriter.add_directed(right, left, conditions)
        else:
            rewriter.add(left, right, conditions)

    def _closes(self, statement: Statement, rewriter: Rewriter) -> bool:
        fixed = {name: Term(f"{FIXED}{name}") for name, _ in statement.binders}
        facts = [as_equation(substitute(item, fixed)) for item in statement.hypotheses]
        left, right = as_equation(substitute(statement.conclusion, fixed))
        return self._solve(left, right, facts, rewriter, MOST_SPLITS)

    def _solve(self, left: Expr, right: Expr, facts: list[Equation], rewriter: Rewriter, splits: int) -> bool:
        rewriter = rewriter.extended()
        if self._take_facts(facts, rewriter):
            return True
        left, right = rewriter.normal(left), rewriter.normal(right)
        if left == right:
            return True
        if self._is_same_constructor(left, right):
            assert isinstance(left, Term)
            assert isinstance(right, Term)
            pairs = zip(left.args, right.args, strict=True)
            return all(self._solve(one, other, [], rewriter, splits) for one, other in pairs)
        condition = next(_conditions(Term("=", (left, right))), None)
        if splits == 0 or condition is None:
            return False
        return all(self._solve(left, right, assumed, rewriter, splits - 1) for assumed in _cases(condition))

    def _take_facts(self, facts: list[Equation], rewriter: Rewriter) -> bool:
        """Use facts as rules; True when they contradict each other."""
        pending = list(facts)
        while pending:
            left, right = pending.pop()
            left, right = rewriter.normal(left), rewriter.normal(right)
            if left == right:
                continue
            if self._is_same_constructor(left, right):
                assert isinstance(left, Term)
                assert isinstance(right, Term)
                pending += zip(left.args, right.args, strict=True)
            elif self._is_built(left) and self._is_built(right):
                return True
            else:
                rewriter.add(left, right)
        return False

    def _is_built(self, expr: Expr) -> bool:
        return isinstance(expr, Term) and (expr.head in self._constructors or expr.head in {"True", "False"})

    def _is_same_constructor(self, left: Expr, right: Expr) -> bool:
        if not isinstance(left, Term) or not isinstance(right, Term):
            return False
        return left.head == right.head and left.head in self._constructors and len(left.args) == len(right.args)


def _instance(statement: Statement, mapping: dict[str, Expr]) -> Statement:
    return Statement(
        types=statement.types,
        instances=statement.instances,
        binders=tuple((name, kind) for name, kind in statement.binders if name not in mapping),
        hypotheses=tuple(substitute(item, mapping) for item in statement.hypotheses),
        conclusion=substitute(statement.conclusion, mapping),
    )


def _conditions(expr: Expr) -> Iterator[Expr]:
    """Conditions of conditionals, innermost first."""
    for sub in subterms(expr):
        if isinstance(sub, Term) and sub.head == "ite":
            yield from _conditions(sub.args[0])
            yield sub.args[0]


def _cases(condition: Expr) -> tuple[list[Equation], list[Equation]]:
    """Facts when the condition holds and when it does not."""
    left, right = as_equation(condition)
    if right in {TRUE, FALSE}:
        return [(left, right)], [(left, FALSE if right == TRUE else TRUE)]
    proposition = condition if right in {Term("True"), Term("False")} else Term("=", (left, right))
    return [(left, right), (proposition, Term("True"))], [(proposition, Term("False"))]
