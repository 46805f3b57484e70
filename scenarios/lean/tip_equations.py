"""Function bodies as flat equations: nested matches on parameters become one equation per row.

Equations are disjoint and complete: `_` rows are written out for the constructors that are left.
"""

from collections.abc import Iterator, Mapping

import msgspec

from .sexpr import Position
from .tip_syntax import (
    Apply,
    Arithmetic,
    Case,
    Constructor,
    ConstructorDeclaration,
    DatatypeDeclaration,
    Equal,
    FunctionDeclaration,
    Ite,
    Lambda,
    Let,
    Logic,
    Match,
    Parameter,
    Quantifier,
    Term,
    Variable,
    parts,
)

MAX_EQUATIONS = 64
Owners = Mapping[str, tuple[DatatypeDeclaration, ConstructorDeclaration]]


class Equation(msgspec.Struct, frozen=True):
    """`function patterns = body`; a pattern is a variable or a constructor applied to patterns."""

    patterns: tuple[Term, ...]
    body: Term


def equations(function: FunctionDeclaration, owners: Owners) -> tuple[Equation, ...]:
    """The equations of a function: one alone when its body does not match on parameters, or for too many."""
    names = tuple(param.name for param in function.params)
    body = unshadow(function.body, {name: name for name in names})
    start = Equation(tuple(Variable(name, function.at) for name in names), body)
    rows: list[Equation] = []
    for row in _split(start, frozenset(names), owners):
        rows.append(row)
        if len(rows) > MAX_EQUATIONS:
            return (start,)
    return tuple(rows)


def _split(row: Equation, splittable: frozenset[str], owners: Owners) -> Iterator[Equation]:
    body = row.body
    if not isinstance(body, Match):
        yield row
        return
    known = _known_constructor(body.subject)
    if body.cases[0].constructor is None:
        yield from _split(Equation(row.patterns, body.cases[0].body), splittable, owners)
    elif known is not None:
        yield from _split(Equation(row.patterns, _select(body, *known)), splittable, owners)
    elif isinstance(body.subject, Variable) and body.subject.name in splittable:
        name = body.subject.name
        for case in _written_out(body, splittable, owners):
            pattern = _pattern(case)
            patterns = tuple(replace(p, {name: pattern}) for p in row.patterns)
            inner = Equation(patterns, replace(case.body, {name: pattern}))
            yield from _split(inner, (splittable - {name}) | set(case.variables), owners)
    else:
        yield row


def _written_out(term: Match, taken: frozenset[str], owners: Owners) -> Iterator[Case]:
    named = [case for case in term.cases if case.constructor is not None]
    yield from named
    rest = next((case for case in term.cases if case.constructor is None), None)
    if rest is None:
        return
    first = named[0].constructor
    assert first is not None
    seen = {case.constructor for case in named}
    used = taken | set(bound_names(rest.body))
    for constructor in owners[first][0].constructors:
        if constructor.name not in seen:
            fresh: list[str] = []
            for _ in constructor.fields:
                fresh.append(_fresh("x", used | set(fresh)))
            yield Case(constructor.name, tuple(fresh), rest.body, rest.at)


def _pattern(case: Case) -> Term:
    assert case.constructor is not None
    return constructor_term(case.constructor, case.variables, case.at)


def constructor_term(name: str, variables: tuple[str, ...], at: Position) -> Term:
    """A constructor applied to variables."""
    constructor = Constructor(name, None, at)
    if not variables:
        return constructor
    return Apply(constructor, tuple(Variable(variable, at) for variable in variables), at)


def _known_constructor(term: Term) -> tuple[str, tuple[Term, ...]] | None:
    match term:
        case Constructor(name):
            return name, ()
        case Apply(Constructor(name), args) if all(isinstance(arg, Variable) for arg in args):
            return name, args
        case _:
            return None


def _select(term: Match, name: str, args: tuple[Term, ...]) -> Term:
    for case in term.cases:
        if case.constructor is None:
            return case.body
        if case.constructor == name:
            return replace(case.body, dict(zip(case.variables, args, strict=True)))
    raise AssertionError(name)


def bound_names(term: Term) -> Iterator[str]:
    """Every name that some binder or variable inside the term mentions."""
    match term:
        case Variable(name):
            yield name
        case Lambda(params) | Quantifier(_, params):
            yield from (param.name for param in params)
        case Let(bindings):
            yield from (name for name, _ in bindings)
        case Match(_, cases):
            yield from (name for case in cases for name in case.variables)
        case _:
            pass
    for part in parts(term):
        yield from bound_names(part)


def _fresh(name: str, taken: frozenset[str] | set[str]) -> str:
    if name not in taken:
        return name
    stem = name.rstrip("0123456789") or "x"
    return next(f"{stem}{n}" for n in range(2, len(taken) + 3) if f"{stem}{n}" not in taken)


def replace(term: Term, new: Mapping[str, Term]) -> Term:
    """Replace free variables; the caller makes sure that no binder of `term` captures (see `unshadow`)."""
    return _Rewriting(is_renaming=False).term(term, new)


def unshadow(term: Term, scope: Mapping[str, str]) -> Term:
    """Rename binders so that none binds a name that is already bound around it. `scope` maps old names to new."""
    return _Rewriting(is_renaming=True).term(term, {old: Variable(new, term.at) for old, new in scope.items()})


class _Rewriting:
    def __init__(self, *, is_renaming: bool) -> None:
        self.is_renaming = is_renaming

    def term(self, term: Term, new: Mapping[str, Term]) -> Term:
        match term:
            case Variable(name):
                return new.get(name, term)
            case Apply():
                return Apply(self.term(term.function, new), self.terms(term.args, new), term.at)
            case Ite():
                condition, yes, no = self.terms((term.condition, term.yes, term.no), new)
                return Ite(condition, yes, no, term.at)
            case Equal():
                return Equal(self.term(term.left, new), self.term(term.right, new), term.is_negated, term.at)
            case Logic() | Arithmetic():
                return msgspec.structs.replace(term, args=self.terms(term.args, new))
            case Lambda() | Quantifier() | Let() | Match():
                return self.binder(term, new)
            case _:
                return term

    def terms(self, terms: tuple[Term, ...], new: Mapping[str, Term]) -> tuple[Term, ...]:
        return tuple(self.term(term, new) for term in terms)

    def binder(self, term: Lambda | Quantifier | Let | Match, new: Mapping[str, Term]) -> Term:
        match term:
            case Lambda() | Quantifier():
                names, inner = self.bind(tuple(p.name for p in term.params), new, term.at)
                params = tuple(Parameter(name, p.type) for name, p in zip(names, term.params, strict=True))
                return msgspec.structs.replace(term, params=params, body=self.term(term.body, inner))
            case Let():
                names, inner = self.bind(tuple(name for name, _ in term.bindings), new, term.at)
                values = self.terms(tuple(value for _, value in term.bindings), new)
                return Let(tuple(zip(names, values, strict=True)), self.term(term.body, inner), term.at)
            case Match():
                return Match(self.term(term.subject, new), tuple(self.case(c, new) for c in term.cases), term.at)

    def case(self, case: Case, new: Mapping[str, Term]) -> Case:
        names, inner = self.bind(case.variables, new, case.at)
        return Case(case.constructor, names, self.term(case.body, inner), case.at)

    def bind(
        self, names: tuple[str, ...], new: Mapping[str, Term], at: Position
    ) -> tuple[tuple[str, ...], Mapping[str, Term]]:
        if not self.is_renaming:
            return names, {name: value for name, value in new.items() if name not in names}
        taken = {value.name for value in new.values() if isinstance(value, Variable)}
        chosen: list[str] = []
        for name in names:
            chosen.append(_fresh(name, taken | set(chosen)))
        return tuple(chosen), {**new, **{old: Variable(n, at) for old, n in zip(names, chosen, strict=True)}}
