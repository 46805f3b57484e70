"""Oriented equations and normal forms: what a simplifier would do, without Lean."""

from __future__ import annotations

from collections.abc import Iterable

from .connectives import HEADS, built_in, compared, decided
from .matching import Fire, Fired, NotPlain, compiled
from .ordering import FIXED, Precedence
from .rules import Rule, defining_rules, is_smaller
from .terms import Expr, Term, is_plain, match, may_match, size, substitute, subterms, variables
from .theory import Theory

MOST_VISITS = 3_000
"""Subterms that one normal form may look at."""

LARGEST_TERM = 250
"""Rewriting that makes larger terms runs away: their size can double with every step."""

DEEPEST_CONDITION = 2
"""How often a condition of a condition is looked at."""

WORTH_COMPILING = 20
"""Uses of a rule after which making it a function pays."""

DEEPEST = 60
"""Rewriting that goes deeper runs away."""


Heads = tuple[str, ...]
"""The head of a term and those of its arguments, empty for a binder."""


class Trace:
    """What rewriting did while it was asked about one statement."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        """Sources of the rules that were applied."""

        self.stuck: set[Heads] = set()
        """The terms that no rule changed, by their heads: only a rule for one of these could change what was found."""

        self.visits = 0
        """Subterms that were looked at."""

    def where_stuck(self) -> frozenset[Heads]:
        """The stuck terms, fixed values being all alike."""
        return frozenset([tuple([FIXED if head.startswith(FIXED) else head for head in one]) for one in self.stuck])


class _Fitting:
    """The rules for terms with the same heads; after some uses they are functions."""

    __slots__ = ("rules", "uses")

    def __init__(self, rules: list[tuple[Rule, Fire | None]]) -> None:
        self.rules = rules
        self.uses = 0


class Rewriter:
    """Innermost normal forms under the definitions and the equations added so far."""

    def __init__(
        self, theory: Theory, precedence: Precedence, *, below: Rewriter | None = None, trace: Trace | None = None
    ) -> None:
        self._trace = Trace() if trace is None else trace
        self._theory = theory
        self._constructors = theory.constructors() if below is None else below._constructors  # noqa: SLF001 - of this class
        self._precedence = precedence
        self._below = below
        self._rules: dict[str, list[Rule]] = {}
        self._fires: dict[int, Fire | None] = {}
        self._fitting: dict[tuple[str | None, ...], _Fitting] = {}
        self._memos: tuple[dict[Expr, Expr], ...] = tuple([{} for _ in range(DEEPEST_CONDITION + 1)])
        self._fuel = 0
        self._nesting = 0
        self._depth = 0
        self._visits = 0
        self._added: list[Term] = []
        if below is None:
            for function in theory.functions.values():
                for rule in defining_rules(function.name, function.rows):
                    self._rules.setdefault(function.name, []).append(rule)

    @property
    def count(self) -> int:
        """How many rules were added, also to those below."""
        return len(self._added) + (0 if self._below is None else self._below.count)

    def extended(self, trace: Trace | None = None) -> Rewriter:
        """A rewriter that starts with these rules; what is added stays there, what it does is told to the trace."""
        return Rewriter(self._theory, self._precedence, below=self, trace=trace)

    def concerns(self, stuck: Iterable[Heads], *, since: int) -> bool:
        """Whether a rule that was added after so many others may change a term that was stuck."""
        lefts = self._added[since:]
        return any(_may_fit(left, heads) for heads in stuck for left in lefts)

    def add(
        self, left: Expr, right: Expr, conditions: tuple[tuple[Expr, Expr], ...] = (), *, source: str = ""
    ) -> Expr | None:
        """Use a proved equation from now on, from greater to smaller side, which is returned when there is one."""
        if not is_plain(left) or not is_plain(right):
            return None
        oriented = self._precedence.orient(left, right)
        if oriented is not None:
            return oriented[0] if self.add_directed(*oriented, conditions, source=source) else None
        if isinstance(left, Term) and isinstance(right, Term) and set(variables(left)) == set(variables(right)):
            self._insert(Rule(left, right, True, conditions, source))
            self._insert(Rule(right, left, True, conditions, source))
        return None

    def add_directed(
        self, left: Expr, right: Expr, conditions: tuple[tuple[Expr, Expr], ...] = (), *, source: str = ""
    ) -> bool:
        """Use an equation from left to right, whatever the order says, unless it could be used again at once."""
        scope = set(variables(left))
        used = set(variables(right)).union(*(variables(side) for condition in conditions for side in condition))
        if not isinstance(left, Term) or not used <= scope or any(match(left, sub, {}) for sub in subterms(right)):
            return False
        self._insert(Rule(left, right, False, conditions, source))
        return True

    def _insert(self, rule: Rule) -> None:
        if rule.left.is_var and not rule.left.args:
            return
        self._rules.setdefault(rule.left.head, []).append(rule)
        self._fitting.clear()
        for memo in self._memos:
            memo.clear()
        self._added.append(rule.left)

    def joins(self, left: Expr, right: Expr) -> bool:
        """Whether both sides have the same normal form."""
        return left == right or self.normal(left) == self.normal(right)

    def normal(self, expr: Expr, fuel: int = 300) -> Expr:
        """The normal form, or what was reached when the steps ran out."""
        self._fuel = fuel
        self._nesting = self._depth = 0
        self._visits = MOST_VISITS
        result = self._normal(expr)
        self._trace.visits += MOST_VISITS - self._visits
        return result

    def _normal(self, expr: Expr) -> Expr:
        if not isinstance(expr, Term) or (expr.is_var and not expr.args):
            return expr
        memo = self._memos[self._nesting]
        known = memo.get(expr)
        if known is not None:
            return known
        self._visits -= 1
        if self._visits < 0:
            self._fuel = 0
            return expr
        self._depth += 1
        if self._depth > DEEPEST:
            self._fuel = 0
        current: Term = _with_args(expr, [self._normal(arg) for arg in expr.args])
        result: Expr = current
        if self._fuel > 0 and (reduced := self._step(current)) is not None:
            self._fuel -= 1
            result = self._normal(reduced)
        self._depth -= 1
        if self._fuel > 0:
            memo[expr] = result
        return result

    def _step(self, term: Term) -> Expr | None:
        if term.head in HEADS:
            if term.head == "ite":
                return decided(term)
            if (known := built_in(term) or compared(term, self._constructors)) is not None:
                return known
        layer: Rewriter | None = self
        while layer is not None:
            if term.head in layer._rules:  # noqa: SLF001 - layers are of this class
                for rule, fire in layer._candidates(term):  # noqa: SLF001 - layers are of this class
                    if (result := self._apply(rule, fire, term)) is not None:
                        return result
            layer = layer._below  # noqa: SLF001 - layers are of this class
        self._trace.stuck.add((term.head, *[arg.head if isinstance(arg, Term) else "" for arg in term.args]))
        return None

    def _candidates(self, term: Term) -> list[tuple[Rule, Fire | None]]:
        """The rules of this layer that the heads of the arguments allow; those of the lowest are functions."""
        if self._below is not None:
            return [(rule, None) for rule in self._rules[term.head] if may_match(rule.left, term)]
        key = (term.head, *[arg.head if isinstance(arg, Term) else None for arg in term.args])
        known = self._fitting.get(key)
        if known is None:
            fitting = [rule for rule in self._rules[term.head] if may_match(rule.left, term)]
            known = self._fitting[key] = _Fitting([(rule, self._fires.get(id(rule))) for rule in fitting])
        known.uses += 1
        if known.uses == WORTH_COMPILING:
            known.rules = [(rule, self._fire(rule)) for rule, _ in known.rules]
        return known.rules

    def _fire(self, rule: Rule) -> Fire | None:
        if id(rule) not in self._fires:
            try:
                self._fires[id(rule)] = compiled(rule.left, rule.right, rule.conditions)
            except NotPlain:
                self._fires[id(rule)] = None
        return self._fires[id(rule)]

    def _apply(self, rule: Rule, fire: Fire | None, term: Term) -> Expr | None:
        fired = _fired(rule, term) if fire is None else fire(term)
        if fired is None:
            return None
        result, conditions = fired
        if rule.is_permutative and not is_smaller(result, term):
            return None
        if conditions and not self._holds(conditions):
            return None
        if size(result) > LARGEST_TERM:
            self._fuel = 0
            return None
        if rule.source:
            self._trace.used.add(rule.source)
        return result

    def _holds(self, conditions: tuple[tuple[Expr, Expr], ...]) -> bool:
        if self._nesting >= DEEPEST_CONDITION or self._fuel <= 0:
            return False
        self._nesting += 1
        try:
            return all(self._normal(left) == self._normal(right) for left, right in conditions)
        finally:
            self._nesting -= 1


def _with_args(term: Term, args: list[Expr]) -> Term:
    """The term itself when its arguments are the same."""
    for one, other in zip(args, term.args, strict=True):
        if one is not other:
            return Term(term.head, tuple(args), term.is_var)
    return term


def _fired(rule: Rule, term: Term) -> Fired | None:
    found: dict[str, Expr] = {}
    if not match(rule.left, term, found):
        return None
    conditions = tuple([(substitute(one, found), substitute(other, found)) for one, other in rule.conditions])
    return substitute(rule.right, found), conditions


def _may_fit(left: Term, heads: Heads) -> bool:
    """Whether a term with these heads may match a left side; `may_match` without the term."""
    if left.head != heads[0] or len(left.args) != len(heads) - 1:
        return left.is_var and heads[0].startswith(FIXED)
    for arg, head in zip(left.args, heads[1:], strict=True):
        if isinstance(arg, Term) and not arg.is_var and head not in {arg.head, ""}:
            return False
    return True
