"""A direct evaluator of TIP problems: what a function of the file gives, computed without Lean."""

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

from scenarios.lean.tip_signatures import substitute
from scenarios.lean.tip_syntax import (
    BOOL,
    Apply,
    Arithmetic,
    Constructor,
    DataType,
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
    Term,
    TipProblem,
    Truth,
    Type,
    TypeVariable,
    Variable,
)

Value = Any
"""A Boolean, an integer, or a constructor's name with its arguments."""


class Evaluator:
    """The functions of a problem, over values."""

    def __init__(self, problem: TipProblem) -> None:
        self.functions: dict[str, FunctionDeclaration] = {f.name: f for group in problem.functions for f in group}
        self.datatypes = {d.name: d for group in problem.datatypes for d in group}
        self.fields = {c.name: len(c.fields) for d in self.datatypes.values() for c in d.constructors}

    def call(self, name: str, args: tuple[Value, ...]) -> Value:
        function = self.functions[name]
        return self.value(function.body, dict(zip((p.name for p in function.params), args, strict=True)))

    def value(self, term: Term, scope: Mapping[str, Value]) -> Value:
        match term:
            case Variable(name):
                return scope[name]
            case Truth(value) | Number(value):
                return value
            case Constructor(name):
                return self.constructor(name)
            case Function(name):
                return self.function(name)
            case Apply(function, args):
                return self.value(function, scope)(*(self.value(arg, scope) for arg in args))
            case Lambda() | Let() | Match():
                return self.bound(term, scope)
            case _:
                return self.chosen(term, scope)

    def constructor(self, name: str) -> Value:
        def build(*args: Value) -> Value:
            return (name, *args)

        return build if self.fields[name] else build()

    def function(self, name: str) -> Value:
        def call(*args: Value) -> Value:
            return self.call(name, args)

        return call if self.functions[name].params else call()

    def bound(self, term: Lambda | Let | Match, scope: Mapping[str, Value]) -> Value:
        match term:
            case Lambda(params, body):

                def call(*args: Value) -> Value:
                    return self.value(body, {**scope, **dict(zip((p.name for p in params), args, strict=True))})

                return call
            case Let(bindings, body):
                return self.value(body, {**scope, **{name: self.value(value, scope) for name, value in bindings}})
            case Match(subject, cases):
                found = self.value(subject, scope)
                row = next(case for case in cases if case.constructor in (None, found[0]))
                bound = zip(row.variables, found[1:], strict=True) if row.constructor else ()
                return self.value(row.body, {**scope, **dict(bound)})

    def chosen(self, term: Term, scope: Mapping[str, Value]) -> Value:
        match term:
            case Ite(condition, yes, no):
                return self.value(yes if self.value(condition, scope) else no, scope)
            case Equal(left, right, is_negated):
                return (self.value(left, scope) == self.value(right, scope)) != is_negated
            case Logic() | Arithmetic():
                return computed(term.op, [self.value(arg, scope) for arg in term.args])
            case _:
                raise NotImplementedError(term)

    def inhabitants(self, type_: Type, depth: int) -> Iterator[Value]:
        """Values of a type without type variables, small ones first."""
        match type_:
            case DataType("Bool"):
                yield from (False, True)
            case DataType("Int"):
                yield from (0, 1, -1, 2)
            case DataType(name, args) if depth > 0:
                declaration = self.datatypes[name]
                known = dict(zip(declaration.type_params, args, strict=True))
                for constructor in declaration.constructors:
                    fields = [list(self.inhabitants(substitute(f.type, known), depth - 1)) for f in constructor.fields]
                    yield from ((constructor.name, *values) for values in islice(product(*fields), 8))
            case _:
                return

    def examples(self, function: FunctionDeclaration, *, count: int) -> Iterator[tuple[tuple[Value, ...], Value]]:
        """Arguments and results of a first-order function, its type variables taken for Bool."""
        known: dict[str, Type] = dict.fromkeys(function.type_params, BOOL)
        types = [substitute(param.type, known) for param in function.params]
        choices = [list(self.inhabitants(type_, 4)) for type_ in types]
        found = list(product(*choices))
        for args in found[:: max(1, len(found) // count)]:
            yield args, self.call(function.name, args)

    def text(self, value: Value, type_: Type) -> str:
        """A value in the file's own notation."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value) if value >= 0 else f"(- {-value})"
        assert isinstance(type_, DataType)
        declaration = self.datatypes[type_.name]
        constructor = next(c for c in declaration.constructors if c.name == value[0])
        known = dict(zip(declaration.type_params, type_.args, strict=True))
        head = f"|{constructor.name}|"
        if type_.args:
            head = f"(_ {head} {' '.join(map(type_text, type_.args))})"
        fields = [self.text(v, substitute(f.type, known)) for v, f in zip(value[1:], constructor.fields, strict=True)]
        return f"({head} {' '.join(fields)})" if fields else head


def type_text(type_: Type) -> str:
    match type_:
        case TypeVariable():
            return "Bool"
        case DataType(name, args):
            return f"(|{name}| {' '.join(map(type_text, args))})" if args else f"|{name}|"
        case FunctionType(params, result):
            return f"(=> {' '.join(map(type_text, (*params, result)))})"


def computed(op: str, args: list[Value]) -> Value:
    match op:
        case "and":
            return all(args)
        case "or":
            return any(args)
        case "not":
            return not args[0]
        case "=>":
            return any(not arg for arg in args[:-1]) or args[-1]
        case "-" if len(args) == 1:
            return -args[0]
        case "div" | "mod":
            left, right = args
            quotient = 0 if right == 0 else left // right if right > 0 else -(left // -right)
            return quotient if op == "div" else left - right * quotient
        case _:
            left, right = args
            return {"+": left + right, "-": left - right, "*": left * right, "<": left < right, "<=": left <= right}[op]
