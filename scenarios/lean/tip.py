"""Reader of TIP files (the SMT-LIB dialect of the benchmark of inductive problems) into `TipProblem`.

Symbols are resolved here: a term says whether a name is a variable, a constructor or a function.
Whatever Lean text cannot be made for is refused with the construct and its place.
"""

from collections.abc import Callable, Iterable

from .sexpr import Atom, Form, Position, Sexpr, read, refuse, show
from .tip_syntax import (
    BOOL,
    INT,
    ConstructorDeclaration,
    DataType,
    DatatypeDeclaration,
    FunctionDeclaration,
    FunctionType,
    Goal,
    Parameter,
    TipProblem,
    Type,
    TypeVariable,
)
from .tip_terms import Signatures, TermReader

_BUILT_IN = {"Bool": BOOL, "Int": INT}
_IGNORED = {"set-logic", "set-info", "set-option", "check-sat", "exit"}


def read_tip(text: str) -> TipProblem:
    """The problem that a TIP file states.

    Raises:
        BadProblem: not an S-expression, not TIP, a construct outside the subset, or no single `prove`.
    """
    forms = read(text)
    if not forms:
        raise refuse("the file is empty; expected declarations and one (prove …)", Position(1, 1))
    return _FileReader().read(forms)


def _form(expr: Sexpr, what: str) -> Form:
    if isinstance(expr, Form):
        return expr
    raise refuse(f"expected {what}, found {show(expr)}", expr.at)


def _symbol(expr: Sexpr, what: str) -> str:
    if isinstance(expr, Atom):
        return expr.text
    raise refuse(f"expected {what}, found {show(expr)}", expr.at)


def _items(form: Form, count: int, shape: str) -> tuple[Sexpr, ...]:
    if len(form.items) != count:
        raise refuse(f"expected {shape}, found {show(form)}", form.at)
    return form.items


class _FileReader:
    def __init__(self) -> None:
        self.sorts: dict[str, int] = dict.fromkeys(_BUILT_IN, 0)
        self.signatures = Signatures()
        self.datatypes: list[tuple[DatatypeDeclaration, ...]] = []
        self.opaque_sorts: list[str] = []
        self.functions: list[tuple[FunctionDeclaration, ...]] = []
        self.goal: Goal | None = None

    def read(self, forms: Iterable[Sexpr]) -> TipProblem:
        readers: dict[str, Callable[[Form], None]] = {
            "declare-sort": self._sort,
            "declare-datatype": self._datatype,
            "declare-datatypes": self._datatypes,
            "define-fun": self._function,
            "define-fun-rec": self._function,
            "define-funs-rec": self._functions,
            "prove": self._prove,
        }
        last = Position(1, 1)
        for expr in forms:
            form, last = _form(expr, "a declaration"), expr.at
            if form.head in _IGNORED:
                continue
            if form.head not in readers:
                raise refuse(f"unsupported declaration {form.head or show(form)}", form.at)
            readers[form.head](form)
        if self.goal is None:
            raise refuse("no (prove …) in the file", last)
        return TipProblem(
            datatypes=tuple(self.datatypes),
            sorts=tuple(self.opaque_sorts),
            functions=tuple(self.functions),
            goal=self.goal,
        )

    # -- types

    def _declare_sort(self, name: str, arity: int, at: Position) -> None:
        if name in self.sorts:
            raise refuse(f"type {name} is declared twice or built in", at)
        self.sorts[name] = arity

    def type(self, expr: Sexpr, type_params: Iterable[str]) -> Type:
        if isinstance(expr, Atom):
            return self._named_type(expr.text, (), expr.at, type_params)
        if expr.head == "=>":
            parts = tuple(self.type(item, type_params) for item in expr.items[1:])
            if len(parts) < 2:
                raise refuse(f"a function type needs a parameter and a result, found {show(expr)}", expr.at)
            return FunctionType(parts[:-1], parts[-1])
        if not expr.head:
            raise refuse(f"expected a type, found {show(expr)}", expr.at)
        args = tuple(self.type(item, type_params) for item in expr.items[1:])
        return self._named_type(expr.head, args, expr.at, type_params)

    def _named_type(self, name: str, args: tuple[Type, ...], at: Position, type_params: Iterable[str]) -> Type:
        if name in type_params:
            if args:
                raise refuse(f"type variable {name} takes no arguments", at)
            return TypeVariable(name)
        if name == "Real":
            raise refuse("unsupported: the type Real (there are no real numbers in the core library)", at)
        if name not in self.sorts:
            raise refuse(f"unknown type {name}", at)
        if len(args) != self.sorts[name]:
            raise refuse(f"type {name} takes {self.sorts[name]} arguments, found {len(args)}", at)
        return _BUILT_IN.get(name) or DataType(name, args)

    def _sort(self, form: Form) -> None:
        _, name, arity = _items(form, 3, "(declare-sort NAME 0)")
        if _symbol(arity, "an arity") != "0":
            raise refuse("unsupported: declare-sort with parameters", form.at)
        self._declare_sort(_symbol(name, "a name"), 0, name.at)
        self.opaque_sorts.append(_symbol(name, "a name"))

    def _datatype(self, form: Form) -> None:
        _, name_expr, body = _items(form, 3, "(declare-datatype NAME CONSTRUCTORS)")
        name = _symbol(name_expr, "a name")
        type_params, constructors = self._par(_form(body, "constructors"))
        self._declare_sort(name, len(type_params), name_expr.at)
        self.datatypes.append((self._constructors(name, type_params, _form(constructors, "constructors")),))

    def _datatypes(self, form: Form) -> None:
        _, heads, bodies = _items(form, 3, "(declare-datatypes ((NAME ARITY) …) (CONSTRUCTORS …))")
        names = [_items(_form(head, "(NAME ARITY)"), 2, "(NAME ARITY)") for head in _form(heads, "names").items]
        inner = [self._par(_form(body, "constructors")) for body in _form(bodies, "bodies").items]
        if len(names) != len(inner):
            raise refuse("as many names as bodies are needed", form.at)
        for (name, _), (type_params, _) in zip(names, inner, strict=True):
            self._declare_sort(_symbol(name, "a name"), len(type_params), name.at)
        self.datatypes.append(
            tuple(
                self._constructors(_symbol(name, "a name"), type_params, _form(body, "constructors"))
                for (name, _), (type_params, body) in zip(names, inner, strict=True)
            )
        )

    def _constructors(self, name: str, type_params: tuple[str, ...], form: Form) -> DatatypeDeclaration:
        constructors: list[ConstructorDeclaration] = []
        for item in form.items:
            # a constructor without fields may stand as a bare symbol
            constructor = item if isinstance(item, Form) else Form((item,), item.at)
            if not constructor.head:
                raise refuse(f"expected a constructor, found {show(item)}", item.at)
            fields = tuple(
                self._parameter(field, type_params, "a field (SELECTOR TYPE)") for field in constructor.items[1:]
            )
            constructors.append(ConstructorDeclaration(constructor.head, fields))
        if not constructors:
            raise refuse(f"unsupported: datatype {name} without constructors", form.at)
        declaration = DatatypeDeclaration(name, type_params, tuple(constructors), form.at)
        self.signatures.add_datatype(declaration)
        return declaration

    def _par(self, form: Form) -> tuple[tuple[str, ...], Sexpr]:
        if form.head != "par":
            return (), form
        _, params, body = _items(form, 3, "(par (TYPE-VARIABLE …) …)")
        names = tuple(_symbol(item, "a type variable") for item in _form(params, "type variables").items)
        if len(set(names)) != len(names):
            raise refuse("a type variable is bound twice", params.at)
        return names, body

    def _parameter(self, expr: Sexpr, type_params: Iterable[str], what: str) -> Parameter:
        name, type_ = _items(_form(expr, what), 2, what)
        return Parameter(_symbol(name, "a name"), self.type(type_, type_params))

    def parameters(self, expr: Sexpr, type_params: Iterable[str]) -> tuple[Parameter, ...]:
        params = tuple(self._parameter(item, type_params, "(NAME TYPE)") for item in _form(expr, "parameters").items)
        if len({param.name for param in params}) != len(params):
            raise refuse("a parameter is bound twice", expr.at)
        return params

    # -- functions and the goal

    def _function(self, form: Form) -> None:
        if len(form.items) == 4 and isinstance(form.items[2], Form) and form.items[2].head == "par":
            # the signature is under the `par`, the body either beside or under it
            type_params, inner = self._par(form.items[2])
            signature, body = (*_form(inner, "a signature").items,), form.items[3]
        elif len(form.items) == 3 and isinstance(form.items[2], Form) and form.items[2].head == "par":
            type_params, inner = self._par(form.items[2])
            *signature, body = _items(_form(inner, "a signature and a body"), 3, "(PARAMETERS RESULT BODY)")
        else:
            type_params = ()
            *signature, body = _items(form, 5, f"({form.head} NAME PARAMETERS RESULT BODY)")[2:]
        name = form.items[1]
        self._define([(name, type_params, tuple(signature), body)], is_recursive=form.head != "define-fun")

    def _functions(self, form: Form) -> None:
        _, heads, bodies = _items(form, 3, "(define-funs-rec (SIGNATURES) (BODIES))")
        head_items, body_items = _form(heads, "signatures").items, _form(bodies, "bodies").items
        if len(head_items) != len(body_items):
            raise refuse("as many signatures as bodies are needed", form.at)
        group: list[tuple[Sexpr, tuple[str, ...], tuple[Sexpr, ...], Sexpr]] = []
        for head, body in zip(head_items, body_items, strict=True):
            items = _form(head, "a signature").items
            if len(items) == 2:
                type_params, inner = self._par(_form(items[1], "(par …)"))
                group.append((items[0], type_params, _form(inner, "a signature").items, body))
            else:
                group.append((items[0] if items else head, (), items[1:], body))
        self._define(group, is_recursive=True)

    def _define(
        self, group: list[tuple[Sexpr, tuple[str, ...], tuple[Sexpr, ...], Sexpr]], *, is_recursive: bool
    ) -> None:
        headers: list[tuple[str, tuple[str, ...], tuple[Parameter, ...], Type]] = []
        for name_expr, type_params, signature, _ in group:
            name = _symbol(name_expr, "a function name")
            if len(signature) != 2:
                raise refuse(f"expected parameters and a result type of {name}", name_expr.at)
            params = self.parameters(signature[0], type_params)
            headers.append((name, type_params, params, self.type(signature[1], type_params)))
        if is_recursive:
            self._announce(group, headers)
        declared: list[FunctionDeclaration] = []
        for (name_expr, _, _, body), (name, type_params, params, result) in zip(group, headers, strict=True):
            reader = TermReader(self.signatures, lambda expr, tp=type_params: self.type(expr, tp))
            term = reader.term(body, frozenset(param.name for param in params))
            declared.append(FunctionDeclaration(name, type_params, params, result, term, is_recursive, name_expr.at))
        if not is_recursive:
            self._announce(group, headers)
        self.functions.append(tuple(declared))

    def _announce(
        self,
        group: list[tuple[Sexpr, tuple[str, ...], tuple[Sexpr, ...], Sexpr]],
        headers: list[tuple[str, tuple[str, ...], tuple[Parameter, ...], Type]],
    ) -> None:
        for (name_expr, *_), (name, type_params, params, result) in zip(group, headers, strict=True):
            self.signatures.add_function(name, type_params, tuple(p.type for p in params), result, name_expr.at)

    def _prove(self, form: Form) -> None:
        if self.goal is not None:
            raise refuse("unsupported: more than one (prove …) in a file", form.at)
        _, statement = _items(form, 2, "(prove STATEMENT)")
        type_params: tuple[str, ...] = ()
        if isinstance(statement, Form):
            type_params, statement = self._par(statement)
        reader = TermReader(self.signatures, lambda expr: self.type(expr, type_params))
        self.goal = Goal(type_params, reader.term(statement, frozenset()), form.at)
