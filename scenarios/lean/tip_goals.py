"""Matches inside a goal, lifted into functions of their own.

Lean makes an auxiliary constant of every match, so the same match in two texts gives two different statements.
"""

from collections.abc import Mapping

import msgspec

from .tip_signatures import variables
from .tip_syntax import (
    Apply,
    Arithmetic,
    Equal,
    Function,
    FunctionDeclaration,
    Ite,
    Lambda,
    Let,
    Logic,
    Match,
    Parameter,
    Quantifier,
    Term,
    TipProblem,
    Type,
    TypeVariable,
    Variable,
    parts,
)
from .tip_types import Typing


def lift_matches(problem: TipProblem, typing: Typing, *, name: str) -> TipProblem:
    """The same problem with every match of the goal as a call of a new function `name`, `name2`, …."""
    used = {function.name for group in problem.functions for function in group}
    lifter = _Lifter(typing, name, used)
    body = lifter.term(problem.goal.body, {})
    if not lifter.lifted:
        return problem
    groups = (*problem.functions, *((function,) for function in lifter.lifted))
    goal = msgspec.structs.replace(problem.goal, body=body)
    return msgspec.structs.replace(problem, functions=groups, goal=goal)


def free_variables(term: Term, bound: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Names of free variables in order of occurrence, each once."""
    match term:
        case Variable(name):
            return () if name in bound else (name,)
        case Lambda(params) | Quantifier(_, params):
            found = free_variables(term.body, bound | {p.name for p in params})
        case Let(bindings, body):
            values = [name for _, value in bindings for name in free_variables(value, bound)]
            found = (*values, *free_variables(body, bound | {name for name, _ in bindings}))
        case Match(subject, cases):
            rows = [name for case in cases for name in free_variables(case.body, bound | set(case.variables))]
            found = (*free_variables(subject, bound), *rows)
        case _:
            found = tuple(name for part in parts(term) for name in free_variables(part, bound))
    return tuple(dict.fromkeys(found))


class _Lifter:
    def __init__(self, typing: Typing, name: str, used: set[str]) -> None:
        self._typing, self._stem, self._used = typing, name, used
        self.lifted: list[FunctionDeclaration] = []

    def term(self, term: Term, scope: Mapping[str, Type]) -> Term:
        match term:
            case Match():
                return self._lift(term, scope)
            case Lambda() | Quantifier():
                inner = {**scope, **{p.name: p.type for p in term.params}}
                return msgspec.structs.replace(term, body=self.term(term.body, inner))
            case Let(bindings, body):
                values = tuple((name, self.term(value, scope)) for name, value in bindings)
                inner = {**scope, **{name: self._typing.types[id(value)] for name, value in bindings}}
                return Let(values, self.term(body, inner), term.at)
            case Apply(function, args):
                return Apply(self.term(function, scope), self._terms(args, scope), term.at)
            case Ite():
                condition, yes, no = self._terms((term.condition, term.yes, term.no), scope)
                return Ite(condition, yes, no, term.at)
            case Equal(left, right, is_negated):
                return Equal(self.term(left, scope), self.term(right, scope), is_negated, term.at)
            case Logic() | Arithmetic():
                return msgspec.structs.replace(term, args=self._terms(term.args, scope))
            case _:
                return term

    def _terms(self, terms: tuple[Term, ...], scope: Mapping[str, Type]) -> tuple[Term, ...]:
        return tuple(self.term(term, scope) for term in terms)

    def _lift(self, term: Match, scope: Mapping[str, Type]) -> Term:
        subject, body = term.subject, term
        params: list[Parameter] = []
        args: list[Term] = []
        if not isinstance(subject, Variable):
            rest = free_variables(msgspec.structs.replace(term, subject=Variable("", term.at)))
            name = next(n for n in ("x", *(f"x{k}" for k in range(2, len(rest) + 4))) if n not in rest)
            params.append(Parameter(name, self._typing.types[id(subject)]))
            args.append(self.term(subject, scope))
            body = msgspec.structs.replace(term, subject=Variable(name, term.at))
        for name in free_variables(body):
            if not any(param.name == name for param in params):
                params.append(Parameter(name, scope[name]))
                args.append(Variable(name, term.at))
        result = self._typing.types[id(term)]
        shown = [name for param in params for name in variables(param.type)]
        type_params = tuple(dict.fromkeys((*shown, *variables(result))))
        types = None if set(type_params) <= set(shown) else tuple(TypeVariable(name) for name in type_params)
        function = self._new_name()
        declared = FunctionDeclaration(function, type_params, tuple(params), result, body, False, term.at)
        self.lifted.append(declared)
        use = Function(function, types, term.at)
        return Apply(use, tuple(args), term.at) if args else use

    def _new_name(self) -> str:
        stems = (self._stem, *(f"{self._stem}{number}" for number in range(2, 1000)))
        name = next(stem for stem in stems if stem not in self._used)
        self._used.add(name)
        return name
