"""Type check of a TIP problem, and which type variables need decidable equality.

`=` of TIP is a Boolean. Where a Boolean is meant (in a function body, in a condition) Lean has to decide it;
functions that do so over a type variable take `[DecidableEq a]`, and so do their callers.
"""

from collections.abc import Mapping

import msgspec

from .sexpr import Position, refuse
from .tip_signatures import UNKNOWN, derivable, substitute, type_text, variables
from .tip_syntax import (
    BOOL,
    INT,
    Apply,
    Arithmetic,
    Constructor,
    DataType,
    DatatypeDeclaration,
    Equal,
    Function,
    FunctionDeclaration,
    FunctionType,
    Ite,
    Lambda,
    Let,
    Logic,
    Match,
    Number,
    Parameter,
    Quantifier,
    Term,
    TipProblem,
    Truth,
    Type,
    TypeVariable,
    Variable,
)


class Typing(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the check."""

    types: dict[int, Type]
    """Type of every subterm by `id(term)`; the problem keeps the terms alive."""
    needs: dict[str, frozenset[str]]
    """Function name → its type variables that need decidable equality."""
    goal_needs: frozenset[str]
    """The same for the goal."""
    decidable: frozenset[str]
    """Datatypes whose equality can be derived."""


def check_types(problem: TipProblem) -> Typing:
    """Check every declaration and the goal.

    Raises:
        BadProblem: ill-typed, an incomplete match, a quantifier as a Boolean, an undecidable `=`.
    """
    return _Checker(problem).run()


class _Use(msgspec.Struct, frozen=True):
    user: str
    function: str
    types: tuple[Type, ...]
    at: Position


class _Checker:
    def __init__(self, problem: TipProblem) -> None:
        self.problem = problem
        self.known: dict[str, Type] = {}
        self.types: dict[int, Type] = {}
        self.decided: list[tuple[str, Type, Position]] = []
        self.uses: list[_Use] = []
        self.fresh_types: list[tuple[Type, Position]] = []
        self.user = ""
        self.functions: dict[str, FunctionDeclaration] = {f.name: f for group in problem.functions for f in group}
        self.owners = {c.name: (d, c) for group in problem.datatypes for d in group for c in d.constructors}
        self.decidable = derivable(problem.datatypes)

    def run(self) -> Typing:
        for function in self.functions.values():
            self.user = function.name
            scope = {param.name: param.type for param in function.params}
            self.expect(function.body, function.result, scope)
        self.user = ""
        self.expect(self.problem.goal.body, BOOL, {}, is_prop=True)
        for type_, at in self.fresh_types:
            if any(name.startswith(UNKNOWN) for name in variables(self.resolve(type_))):
                raise refuse("the type of this term stays open; write (_ NAME TYPE)", at)
        needs = self._needs()
        types = {key: self.resolve(type_) for key, type_ in self.types.items()}
        goal_needs = frozenset(needs.pop(""))
        return Typing(
            types=types,
            needs={name: frozenset(found) for name, found in needs.items()},
            goal_needs=goal_needs,
            decidable=self.decidable,
        )

    def _needs(self) -> dict[str, set[str]]:
        needs: dict[str, set[str]] = {name: set() for name in ("", *self.functions)}
        for user, type_, at in self.decided:
            needs[user] |= self._decide(self.resolve(type_), at)
        is_stable = False
        while not is_stable:
            is_stable = True
            for use in self.uses:
                params = self.functions[use.function].type_params
                for name, type_ in zip(params, use.types, strict=True):
                    found = self._decide(self.resolve(type_), use.at) if name in needs[use.function] else set[str]()
                    is_stable = is_stable and found <= needs[use.user]
                    needs[use.user] |= found
        return needs

    def _decide(self, type_: Type, at: Position) -> set[str]:
        match type_:
            case TypeVariable(name):
                return {name}
            case DataType("Bool" | "Int"):
                return set()
            case DataType(name, args) if name in self.decidable:
                return {found for arg in args for found in self._decide(arg, at)}
            case _:
                raise refuse(f"unsupported: equality of {type_text(type_)} as a Boolean", at)

    # -- unification

    def resolve(self, type_: Type) -> Type:
        match type_:
            case TypeVariable(name):
                return self.resolve(self.known[name]) if name in self.known else type_
            case DataType(name, args):
                return DataType(name, tuple(map(self.resolve, args))) if args else type_
            case FunctionType(params, result):
                return FunctionType(tuple(map(self.resolve, params)), self.resolve(result))

    def unify(self, wanted: Type, found: Type, at: Position) -> None:
        if not self._unify(self.resolve(wanted), self.resolve(found)):
            wanted_text, found_text = type_text(self.resolve(wanted)), type_text(self.resolve(found))
            raise refuse(f"ill-typed: expected {wanted_text}, found {found_text}", at)

    def _unify(self, left: Type, right: Type) -> bool:
        left, right = self.resolve(left), self.resolve(right)
        if left == right:
            return True
        for one, other in ((left, right), (right, left)):
            if isinstance(one, TypeVariable) and one.name.startswith(UNKNOWN):
                if one.name in variables(other):
                    return False
                self.known[one.name] = other
                return True
        match left, right:
            case DataType(), DataType():
                return left.name == right.name and all(map(self._unify, left.args, right.args))
            case FunctionType(), FunctionType() if len(left.params) == len(right.params):
                return all(map(self._unify, (*left.params, left.result), (*right.params, right.result)))
            case _:
                return False

    def fresh(self, at: Position) -> TypeVariable:
        type_ = TypeVariable(f"{UNKNOWN}{len(self.fresh_types)}")
        self.fresh_types.append((type_, at))
        return type_

    # -- terms

    def expect(self, term: Term, wanted: Type, scope: Mapping[str, Type], *, is_prop: bool = False) -> None:
        self.unify(wanted, self.infer(term, scope, is_prop=is_prop), term.at)

    def infer(self, term: Term, scope: Mapping[str, Type], *, is_prop: bool = False) -> Type:
        type_ = self._infer(term, scope, is_prop)
        self.types[id(term)] = type_
        return type_

    def _infer(self, term: Term, scope: Mapping[str, Type], is_prop: bool) -> Type:
        match term:
            case Variable(name):
                return scope[name]
            case Truth() | Number():
                return INT if isinstance(term, Number) else BOOL
            case Constructor():
                declaration, constructor = self.owners[term.name]
                types = self._instance(term.types, declaration.type_params, term.at)
                result = substitute(_applied(declaration), types)
                return _function([substitute(f.type, types) for f in constructor.fields], result)
            case Function():
                return self._function_type(term)
            case Apply():
                return self._apply(term, scope)
            case Lambda(params, body):
                return FunctionType(tuple(p.type for p in params), self.infer(body, _extended(scope, params)))
            case Let(bindings, body):
                return self.infer(body, {**scope, **{name: self.infer(value, scope) for name, value in bindings}})
            case Match():
                return self._match(term, scope)
            case Ite():
                self.expect(term.condition, BOOL, scope)
                type_ = self.infer(term.yes, scope)
                self.expect(term.no, type_, scope)
                return type_
            case _:
                return self._proposition(term, scope, is_prop=is_prop)

    def _proposition(
        self, term: Equal | Logic | Arithmetic | Quantifier, scope: Mapping[str, Type], *, is_prop: bool
    ) -> Type:
        match term:
            case Equal():
                type_ = self.infer(term.left, scope)
                self.expect(term.right, type_, scope)
                if not is_prop:
                    self.decided.append((self.user, type_, term.at))
            case Logic():
                for arg in term.args:
                    self.expect(arg, BOOL, scope, is_prop=is_prop)
            case Arithmetic():
                for arg in term.args:
                    self._expect_number(arg, term.op, scope)
                return BOOL if term.is_comparison else INT
            case Quantifier():
                if not is_prop:
                    raise refuse(f"unsupported: {term.kind} where a Boolean is computed", term.at)
                self.expect(term.body, BOOL, _extended(scope, term.params), is_prop=True)
        return BOOL

    def _expect_number(self, term: Term, op: str, scope: Mapping[str, Type]) -> None:
        found = self.infer(term, scope)
        if not self._unify(INT, found):
            raise refuse(f"unsupported: {op} on {type_text(self.resolve(found))}", term.at)

    def _instance(self, stated: tuple[Type, ...] | None, params: tuple[str, ...], at: Position) -> dict[str, Type]:
        types = stated if stated is not None else tuple(self.fresh(at) for _ in params)
        return dict(zip(params, types, strict=True))

    def _function_type(self, term: Function) -> Type:
        function = self.functions[term.name]
        types = self._instance(term.types, function.type_params, term.at)
        self.uses.append(_Use(self.user, term.name, tuple(types.values()), term.at))
        return _function([substitute(p.type, types) for p in function.params], substitute(function.result, types))

    def _apply(self, term: Apply, scope: Mapping[str, Type]) -> Type:
        type_ = self.resolve(self.infer(term.function, scope))
        if not isinstance(type_, FunctionType) or len(term.args) > len(type_.params):
            raise refuse(f"ill-typed: {len(term.args)} arguments for {type_text(type_)}", term.at)
        for arg, wanted in zip(term.args, type_.params, strict=False):
            self.expect(arg, wanted, scope)
        return _function(list(type_.params[len(term.args) :]), type_.result)

    def _match(self, term: Match, scope: Mapping[str, Type]) -> Type:
        subject, result = self.infer(term.subject, scope), self.fresh(term.at)
        seen: list[str] = []
        for case in term.cases:
            inner = dict(scope)
            if case.constructor is not None:
                declaration, constructor = self.owners[case.constructor]
                types = self._instance(None, declaration.type_params, case.at)
                self.unify(subject, substitute(_applied(declaration), types), case.at)
                inner |= zip(case.variables, (substitute(f.type, types) for f in constructor.fields), strict=True)
                seen.append(case.constructor)
            self.expect(case.body, result, inner)
        self._require_complete(term, seen)
        return result

    def _require_complete(self, term: Match, seen: list[str]) -> None:
        if len(set(seen)) != len(seen):
            raise refuse("a constructor occurs in two rows of this match", term.at)
        has_rest = any(case.constructor is None for case in term.cases)
        missing = [c.name for c in self.owners[seen[0]][0].constructors if c.name not in seen] if seen else []
        if missing and not has_rest:
            raise refuse(f"the match leaves out {', '.join(missing)}", term.at)


def _applied(declaration: DatatypeDeclaration) -> DataType:
    return DataType(declaration.name, tuple(TypeVariable(name) for name in declaration.type_params))


def _function(params: list[Type], result: Type) -> Type:
    return FunctionType(tuple(params), result) if params else result


def _extended(scope: Mapping[str, Type], params: tuple[Parameter, ...]) -> dict[str, Type]:
    return {**scope, **{param.name: param.type for param in params}}
