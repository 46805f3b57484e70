"""Reader of TIP terms: resolves every symbol and refuses constructs that have no Lean text."""

import re
from collections.abc import Callable

import msgspec

from .sexpr import Atom, Form, Position, Sexpr, refuse, show
from .tip_syntax import (
    Apply,
    Arithmetic,
    Case,
    Constructor,
    ConstructorDeclaration,
    DatatypeDeclaration,
    Equal,
    Function,
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
    Variable,
)

_REAL = {"/", "to_real", "to_int", "is_int"}
_NUMBER = re.compile(r"[0-9]+(?P<fraction>\.[0-9]+)?")


class FunctionSignature(msgspec.Struct, frozen=True):
    """What a caller must know of a function."""

    type_params: tuple[str, ...]
    params: tuple[Type, ...]
    result: Type


class Signatures:
    """The constructors and functions declared so far."""

    def __init__(self) -> None:
        self.functions: dict[str, FunctionSignature] = {}
        self.constructors: dict[str, tuple[DatatypeDeclaration, ConstructorDeclaration]] = {}
        self.selectors: set[str] = set()

    def add_datatype(self, declaration: DatatypeDeclaration) -> None:
        """Declare the constructors and selectors of a datatype."""
        for constructor in declaration.constructors:
            self._require_new(constructor.name, declaration.at)
            self.constructors[constructor.name] = (declaration, constructor)
            self.selectors.update(field.name for field in constructor.fields)

    def add_function(
        self, name: str, type_params: tuple[str, ...], params: tuple[Type, ...], result: Type, at: Position
    ) -> None:
        """Declare a function."""
        self._require_new(name, at)
        self.functions[name] = FunctionSignature(type_params, params, result)

    def _require_new(self, name: str, at: Position) -> None:
        if name in self.functions or name in self.constructors:
            raise refuse(f"{name} is declared twice", at)


class TermReader:
    """Reads the terms of one declaration; `read_type` knows the type variables in scope."""

    def __init__(self, signatures: Signatures, read_type: Callable[[Sexpr], Type]) -> None:
        self._signatures = signatures
        self._read_type = read_type

    def term(self, expr: Sexpr, scope: frozenset[str]) -> Term:
        """One term whose variables are in `scope`."""
        if isinstance(expr, Atom):
            return self._symbol(expr, scope)
        if not expr.items:
            raise refuse("an empty pair of parentheses is no term", expr.at)
        head = expr.head
        if not head:
            return self._application(expr, expr.items, scope)
        if head not in scope and head not in self._signatures.functions and head not in self._signatures.constructors:
            special = _SPECIAL.get(head)
            if special is not None:
                return special(self, expr, scope)
        return self._application(expr, expr.items, scope)

    def _symbol(self, atom: Atom, scope: frozenset[str]) -> Term:
        name, known = atom.text, self._signatures
        if name in scope:
            return Variable(name, atom.at)
        if name in known.constructors:
            return Constructor(name, None, atom.at)
        if name in known.functions:
            return Function(name, None, atom.at)
        if name in {"true", "false"}:
            return Truth(name == "true", atom.at)
        if (number := _NUMBER.fullmatch(name)) is not None and number["fraction"] is None:
            return Number(int(name), atom.at)
        raise refuse(self._why_unknown(name), atom.at)

    def _why_unknown(self, name: str) -> str:
        if name in _REAL or _NUMBER.fullmatch(name):
            return f"unsupported: {name} (there are no real numbers in the core library)"
        if name in self._signatures.selectors:
            return f"unsupported: selector {name} (a partial function; use match)"
        if name.startswith("is-"):
            return f"unsupported: tester {name} (use match)"
        if name in _SPECIAL:
            return f"{name} needs arguments"
        return f"unknown symbol {name}"

    def _application(self, form: Form, items: tuple[Sexpr, ...], scope: frozenset[str]) -> Term:
        if len(items) < 2:
            raise refuse(f"expected a function and its arguments, found {show(form)}", form.at)
        function, *args = (self.term(item, scope) for item in items)
        return Apply(function, tuple(args), form.at)

    def read_at(self, form: Form, scope: frozenset[str]) -> Term:
        return self._application(form, form.items[1:], scope)

    def read_qualified(self, form: Form, scope: frozenset[str]) -> Term:
        if len(form.items) < 2 or not isinstance(form.items[1], Atom):
            raise refuse(f"unsupported: {show(form)}", form.at)
        term = self._symbol(form.items[1], scope)
        if not isinstance(term, Constructor | Function):
            raise refuse(f"{form.items[1].text} takes no type arguments", form.at)
        types = tuple(self._read_type(item) for item in form.items[2:])
        wanted = self._type_params(term)
        if len(types) != wanted:
            raise refuse(f"{term.name} takes {wanted} type arguments, found {len(types)}", form.at)
        return msgspec.structs.replace(term, types=types)

    def _type_params(self, term: Constructor | Function) -> int:
        if isinstance(term, Constructor):
            return len(self._signatures.constructors[term.name][0].type_params)
        return len(self._signatures.functions[term.name].type_params)

    def read_as(self, form: Form, scope: frozenset[str]) -> Term:
        self._exactly(form, 3, "(as TERM TYPE)")
        term, type_ = self.term(form.items[1], scope), self._read_type(form.items[2])
        if isinstance(term, Constructor):
            return msgspec.structs.replace(term, types=getattr(type_, "args", ()))
        raise refuse("unsupported: (as …) of something that is no constructor", form.at)

    def read_lambda(self, form: Form, scope: frozenset[str]) -> Term:
        self._exactly(form, 3, "(lambda ((NAME TYPE) …) BODY)")
        params = self._parameters(form.items[1])
        return Lambda(params, self.term(form.items[2], scope | {p.name for p in params}), form.at)

    def read_quantifier(self, form: Form, scope: frozenset[str]) -> Term:
        self._exactly(form, 3, f"({form.head} ((NAME TYPE) …) BODY)")
        params = self._parameters(form.items[1])
        body = self.term(form.items[2], scope | {p.name for p in params})
        return Quantifier("forall" if form.head == "forall" else "exists", params, body, form.at)

    def _parameters(self, expr: Sexpr) -> tuple[Parameter, ...]:
        params: list[Parameter] = []
        for item in expr.items if isinstance(expr, Form) else ():
            if not (isinstance(item, Form) and len(item.items) == 2 and item.head):
                raise refuse(f"expected (NAME TYPE), found {show(item)}", item.at)
            params.append(Parameter(item.head, self._read_type(item.items[1])))
        if not params:
            raise refuse(f"expected bound variables, found {show(expr)}", expr.at)
        if len({p.name for p in params}) != len(params):
            raise refuse("a variable is bound twice", expr.at)
        return tuple(params)

    def read_let(self, form: Form, scope: frozenset[str]) -> Term:
        self._exactly(form, 3, "(let ((NAME TERM) …) BODY)")
        bindings: list[tuple[str, Term]] = []
        for item in form.items[1].items if isinstance(form.items[1], Form) else ():
            if not (isinstance(item, Form) and len(item.items) == 2 and item.head):
                raise refuse(f"expected (NAME TERM), found {show(item)}", item.at)
            bindings.append((item.head, self.term(item.items[1], scope)))
        names = {name for name, _ in bindings}
        if not bindings or len(names) != len(bindings):
            raise refuse("a let needs distinct names", form.at)
        return Let(tuple(bindings), self.term(form.items[2], scope | names), form.at)

    def read_match(self, form: Form, scope: frozenset[str]) -> Term:
        self._exactly(form, 3, "(match TERM ((PATTERN BODY) …))")
        subject = self.term(form.items[1], scope)
        rows = form.items[2]
        if not isinstance(rows, Form) or not rows.items:
            raise refuse("a match needs rows", form.at)
        return Match(subject, tuple(self._case(row, scope) for row in rows.items), form.at)

    def _case(self, row: Sexpr, scope: frozenset[str]) -> Case:
        if not isinstance(row, Form) or len(row.items) != 2:
            raise refuse(f"expected a row (PATTERN BODY), found {show(row)}", row.at)
        pattern, body = row.items
        if isinstance(pattern, Atom) and pattern.text == "_":
            return Case(None, (), self.term(body, scope), row.at)
        name, variables = self._pattern(pattern)
        if name not in self._signatures.constructors:
            raise refuse(f"unsupported: the pattern {show(pattern)} (expected a constructor or _)", pattern.at)
        fields = self._signatures.constructors[name][1].fields
        if len(fields) != len(variables):
            raise refuse(f"constructor {name} has {len(fields)} fields, the pattern {len(variables)}", pattern.at)
        return Case(name, variables, self.term(body, scope | set(variables)), row.at)

    def _pattern(self, pattern: Sexpr) -> tuple[str, tuple[str, ...]]:
        if isinstance(pattern, Atom):
            return pattern.text, ()
        variables = tuple(item.text for item in pattern.items[1:] if isinstance(item, Atom))
        if len(variables) != len(pattern.items) - 1 or not pattern.head:
            raise refuse(f"unsupported: the nested pattern {show(pattern)}", pattern.at)
        if len(set(variables)) != len(variables) or any(v in self._signatures.constructors for v in variables):
            raise refuse(f"unsupported: the variables of the pattern {show(pattern)}", pattern.at)
        return pattern.head, variables

    def read_ite(self, form: Form, scope: frozenset[str]) -> Term:
        self._exactly(form, 4, "(ite CONDITION YES NO)")
        condition, yes, no = (self.term(item, scope) for item in form.items[1:])
        return Ite(condition, yes, no, form.at)

    def read_equal(self, form: Form, scope: frozenset[str]) -> Term:
        if len(form.items) != 3:
            raise refuse(f"unsupported: {form.head} of {len(form.items) - 1} terms", form.at)
        left, right = (self.term(item, scope) for item in form.items[1:])
        return Equal(left, right, form.head == "distinct", form.at)

    def read_logic(self, form: Form, scope: frozenset[str]) -> Term:
        count = len(form.items) - 1
        if count < 1 or (form.head == "not" and count != 1) or (form.head == "=>" and count < 2):
            raise refuse(f"{form.head} of {count} terms", form.at)
        args = tuple(self.term(item, scope) for item in form.items[1:])
        return _logic(form.head, args, form.at)

    def read_arithmetic(self, form: Form, scope: frozenset[str]) -> Term:
        """`(+ a b)` and the like, and comparisons."""
        args = tuple(self.term(item, scope) for item in form.items[1:])
        op = form.head
        if op == "-" and len(args) == 1:
            return Arithmetic("-", args, form.at)
        if len(args) < 2 or (len(args) > 2 and op not in {"+", "*"}):
            raise refuse(f"unsupported: {op} of {len(args)} terms", form.at)
        if op in {">", ">="}:
            op, args = {">": "<", ">=": "<="}[op], args[::-1]
        left, *rest = args
        for right in rest:
            left = _arithmetic(op, (left, right), form.at)
        return left

    def _exactly(self, form: Form, count: int, shape: str) -> None:
        if len(form.items) != count:
            raise refuse(f"expected {shape}, found {show(form)}", form.at)


def _logic(op: str, args: tuple[Term, ...], at: Position) -> Logic:
    match op:
        case "and" | "or" | "not" | "=>":
            return Logic(op, args, at)
        case _:
            raise AssertionError(op)


def _arithmetic(op: str, args: tuple[Term, ...], at: Position) -> Arithmetic:
    match op:
        case "+" | "-" | "*" | "div" | "mod" | "<" | "<=":
            return Arithmetic(op, args, at)
        case _:
            raise AssertionError(op)


_SPECIAL: dict[str, Callable[[TermReader, Form, frozenset[str]], Term]] = {
    "@": TermReader.read_at,
    "_": TermReader.read_qualified,
    "as": TermReader.read_as,
    "lambda": TermReader.read_lambda,
    "forall": TermReader.read_quantifier,
    "exists": TermReader.read_quantifier,
    "let": TermReader.read_let,
    "match": TermReader.read_match,
    "ite": TermReader.read_ite,
    "=": TermReader.read_equal,
    "distinct": TermReader.read_equal,
    "and": TermReader.read_logic,
    "or": TermReader.read_logic,
    "not": TermReader.read_logic,
    "=>": TermReader.read_logic,
    **dict.fromkeys(("+", "-", "*", "div", "mod", "<", "<=", ">", ">="), TermReader.read_arithmetic),
}
