"""Printing of TIP terms and types as Lean text; `tip_lean` describes the form."""

from collections.abc import Mapping

from .lean_names import Names
from .tip_equations import Owners
from .tip_syntax import (
    Apply,
    Arithmetic,
    Case,
    Constructor,
    DataType,
    Equal,
    Function,
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
    Truth,
    Type,
    TypeVariable,
    Variable,
)

_BINDERS = (Lambda, Let, Match, Ite)
_SIGNS = {"<=": "≤", "div": "/", "mod": "%"}
"""Division and remainder of Lean's integers are those of SMT-LIB: the remainder is never negative."""


class TermPrinter:
    """Prints the terms of one declaration, in which local names are chosen once."""

    def __init__(
        self,
        names: Names,
        constructors: Mapping[str, str],
        owners: Owners,
        type_params: Mapping[str, tuple[str, ...]],
        needs: Mapping[str, frozenset[str]],
        goal_sorts: frozenset[str],
    ) -> None:
        self._names = names
        self._locals = names.child()
        self._constructors = constructors
        self._owners = owners
        self._type_params = type_params
        self._needs = needs
        self._goal_sorts = goal_sorts
        self.names_conditions = False
        """Whether the arms of a conditional know its condition, which proofs that recursion ends can need."""
        self.used_sorts: set[str] = set()
        """Sorts of the goal that were printed, as type variables."""

    def local(self, symbol: str) -> str:
        """The name of a bound variable."""
        return self._locals.pick(symbol, kind="term")

    def type_variable(self, symbol: str) -> str:
        """The name of a type parameter."""
        return self._locals.pick(symbol, kind="type")

    def parameters(self, params: tuple[Parameter, ...]) -> str:
        """Typed binders, separated by a space."""
        return " ".join(f"({self.local(p.name)} : {self.type(p.type)})" for p in params)

    # -- types

    def type(self, type_: Type) -> str:
        """A type without parentheses around it."""
        match type_:
            case TypeVariable(name):
                return self.type_variable(name)
            case DataType("Bool" | "Int" as name):
                return name
            case DataType(name, ()) if name in self._goal_sorts:
                self.used_sorts.add(name)
                return self.type_variable(name)
            case DataType(name, args):
                return " ".join((self._names.pick(name, kind="type"), *map(self.type_arg, args)))
            case FunctionType(params, result):
                return " → ".join((*map(self.type_param, params), self.type(result)))

    def type_arg(self, type_: Type) -> str:
        """A type as an argument."""
        return _wrapped(self.type(type_))

    def type_param(self, type_: Type) -> str:
        """A type before an arrow."""
        return self.type_arg(type_) if isinstance(type_, FunctionType) else self.type(type_)

    # -- terms

    def constructor(self, name: str) -> str:
        """Full name of a constructor."""
        return f"{self._names.pick(self._owners[name][0].name, kind='type')}.{self._constructors[name]}"

    def pattern(self, term: Term) -> str:
        """A pattern of an equation: constructors with a leading dot."""
        match term:
            case Variable(name):
                return self.local(name)
            case Constructor(name):
                return f".{self._constructors[name]}"
            case Apply(Constructor(name), args):
                return " ".join((f".{self._constructors[name]}", *(_wrapped(self.pattern(arg)) for arg in args)))
            case _:
                raise AssertionError(term)

    def term(self, term: Term) -> str:
        """A value without parentheses around it."""
        match term:
            case Variable(name):
                return self.local(name)
            case Truth() | Number() | Constructor() | Function():
                return self._constant(term)
            case Apply(function, args):
                return " ".join((self.arg(function), *map(self.arg, args)))
            case Lambda(params, body):
                return f"fun {self.parameters(params)} => {self.arm(body)}"
            case Let(bindings, body):
                values = "".join(f"let {self.local(name)} := {self.arm(value)}; " for name, value in bindings)
                return values + self.arm(body)
            case Match(subject, cases):
                return f"match {self.operand(subject)} with {' '.join(map(self._case, cases))}"
            case Ite() | Equal() | Logic() | Arithmetic():
                return self._computed(term)
            case Quantifier():
                raise AssertionError(term)

    def arg(self, term: Term) -> str:
        """A value as an argument."""
        return _wrapped(self.term(term))

    def arm(self, term: Term) -> str:
        """A value after `=>` inside a larger term."""
        return self.arg(term) if isinstance(term, _BINDERS) else self.term(term)

    def operand(self, term: Term) -> str:
        """A value beside `=`."""
        return self.arm(term)

    def _instantiated(self, name: str, types: list[str]) -> str:
        return " ".join((f"@{name}", *types)) if types else name

    def _constant(self, term: Truth | Number | Constructor | Function) -> str:
        match term:
            case Number(value):
                return f"({value} : Int)"  # the bare number could be taken for a natural one
            case Truth(value):
                return "true" if value else "false"
            case Constructor(name, types):
                return self._instantiated(self.constructor(name), [self.type_arg(t) for t in types or ()])
            case Function(name, types):
                args: list[str] = []
                for symbol, type_ in zip(self._type_params[name], types or (), strict=False):
                    args += [self.type_arg(type_), *(["_"] if symbol in self._needs[name] else [])]
                return self._instantiated(self._names.pick(name, kind="function"), args)

    def _case(self, case: Case) -> str:
        if case.constructor is None:
            return f"| _ => {self.arm(case.body)}"
        fields = "".join(f" {self.local(name)}" for name in case.variables)
        return f"| .{self._constructors[case.constructor]}{fields} => {self.arm(case.body)}"

    def _conditional(self, term: Ite) -> str:
        condition, yes, no = term.condition, self.arm(term.yes), self.arm(term.no)
        if isinstance(condition, Equal):
            test = f"{self.operand(condition.left)} = {self.operand(condition.right)}"
            yes, no = (no, yes) if condition.is_negated else (yes, no)
        elif isinstance(condition, Arithmetic):
            test = self._operation(condition)
        else:
            test = f"{self.operand(condition)} = true"
        return f"if {'_ : ' if self.names_conditions else ''}{test} then {yes} else {no}"

    def _computed(self, term: Ite | Equal | Logic | Arithmetic) -> str:
        if isinstance(term, Ite):
            return self._conditional(term)
        if isinstance(term, Arithmetic):
            return f"decide ({self._operation(term)})" if term.is_comparison else self._operation(term)
        if isinstance(term, Equal):
            text = f"decide ({self.operand(term.left)} = {self.operand(term.right)})"
            return f"Bool.not ({text})" if term.is_negated else text
        *before, text = map(self.term, term.args)
        match term.op:
            case "not":
                return f"Bool.not {_wrapped(text)}"
            case "and" | "or":
                for arg in reversed(before):
                    text = f"Bool.{term.op} {_wrapped(arg)} {_wrapped(text)}"
            case "=>":
                for arg in reversed(before):
                    text = f"Bool.or (Bool.not {_wrapped(arg)}) {_wrapped(text)}"
        return text

    def _operation(self, term: Arithmetic) -> str:
        if len(term.args) == 1:
            return f"-{self.arg(term.args[0])}"
        left, right = map(self.arg, term.args)
        return f"{left} {_SIGNS.get(term.op, term.op)} {right}"

    # -- propositions

    def prop(self, term: Term) -> str:
        """A proposition without parentheses around it."""
        match term:
            case Truth(value):
                return "True" if value else "False"
            case Equal(left, right, is_negated):
                return f"{self.operand(left)} {'≠' if is_negated else '='} {self.operand(right)}"
            case Arithmetic() if term.is_comparison:
                return self._operation(term)
            case Quantifier(kind, params, body):
                return f"{'∀' if kind == 'forall' else '∃'} {self.parameters(params)}, {self.prop(body)}"
            case Logic("not", (arg,)):
                return f"¬ {_wrapped(self.prop(arg))}"
            case Logic(_, (arg,)):
                return self.prop(arg)
            case Logic(op, args):
                return {"and": " ∧ ", "or": " ∨ "}.get(op, " → ").join(_wrapped(self.prop(arg)) for arg in args)
            case _:
                return f"{self.operand(term)} = true"


def _wrapped(text: str) -> str:
    is_closed = text.startswith("(") and text.endswith(" : Int)") and text.count("(") == 1
    return f"({text})" if " " in text and not is_closed else text
