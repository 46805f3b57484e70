"""Running a problem's functions in Python, to test conjectures on random values."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from .definitions import BUILT_IN, Datatype, Function, Theory
from .statements import Statement
from .terms import Binding, Expr, Match, Term, arrow_parts, substitute

Value = Any
"""Unary numbers are ints, Booleans bools, elements of a type variable small ints, all else (constructor, fields…)."""


class Undefined(Exception):
    """A term outside what can be run, or a missing case."""


CALLS_PER_RUN = 4_000
"""Calls of the problem's functions that one evaluation may make."""

_LIMITS = (RecursionError, Undefined, MemoryError, OverflowError)
_OPERATORS = {"+": "+", "*": "*", "=": "==", "==": "==", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}


class Evaluator:
    """Compiles definitions once; every generated name is made here, so no text of the problem is executed."""

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self._constructors = theory.constructors()
        self._unary = {name for name, kind in theory.datatypes.items() if is_unary(kind)}
        self._function_ids = {name: f"f{index}" for index, name in enumerate(theory.functions)}
        self._tags = {name: index for index, name in enumerate(self._constructors)}
        self.fuel = [CALLS_PER_RUN]
        self._scope: dict[str, Any] = {"undefined": _undefined, "fuel": self.fuel, "append": self._append}
        self.broken: set[str] = set()
        self._compile_all()

    def _compile_all(self) -> None:
        for function in self.theory.functions.values():
            try:
                source = _Compiler(self).function(function, self._function_ids[function.name])
            except Undefined:
                self.broken.add(function.name)
                source = f"def {self._function_ids[function.name]}(*_): return undefined()"
            exec(compile(source, "<definitions>", "exec"), self._scope)  # noqa: S102 - the text is generated here

    def constructor(self, name: str) -> tuple[int, Datatype, int]:
        """Tag, datatype and number of fields."""
        kind, item = self._constructors[name]
        return self._tags[name], kind, len(item.args)

    def is_constructor(self, name: str) -> bool:
        """Whether the head builds data."""
        return name in self._constructors

    def is_unary(self, kind: str) -> bool:
        """Whether values of the datatype are ints here."""
        return kind in self._unary

    def function_id(self, name: str) -> str | None:
        """Generated name of a compiled function."""
        return self._function_ids.get(name)

    def compile(self, expr: Expr, names: tuple[str, ...]) -> Callable[..., Value]:
        """A Python function of the given variables; raises Undefined."""
        compiler = _Compiler(self)
        env = {name: f"a{index}" for index, name in enumerate(names)}
        source = f"lambda {', '.join(env.values())}: {compiler.expression(expr, env)}"
        try:
            return eval(source, self._scope)  # noqa: S307 - the text is generated here
        except (SyntaxError, MemoryError, RecursionError):
            raise Undefined(source[:80]) from None

    def _append(self, left: Value, right: Value) -> Value:
        nil, cons = self._tags["List.nil"], self._tags["List.cons"]
        items: list[Value] = []
        while left[0] != nil:
            items.append(left[1])
            left = left[2]
        for item in reversed(items):
            right = (cons, item, right)
        return right

    def random_value(self, kind: Expr, size: int, rng: random.Random) -> Value:
        """A random inhabitant of about the given size."""
        args, result = arrow_parts(kind)
        if args:
            return self._random_function(result, rng)
        if not isinstance(kind, Term) or kind.is_var:
            return rng.randint(0, 2)
        if kind.head == "Bool":
            return rng.random() < 0.5
        if kind.head in self._unary:
            return rng.randint(0, size)
        if kind.head == "Prod":
            return tuple(self.random_value(arg, size, rng) for arg in kind.args)
        datatype = self.theory.datatypes.get(kind.head)
        if datatype is None:
            return rng.randint(0, 2)
        return self._random_data(datatype, kind, size, rng)

    def _random_function(self, result: Expr, rng: random.Random) -> Value:
        seed = rng.random()
        known: dict[Value, Value] = {}

        def call(*args: Value) -> Value:
            if args not in known:
                known[args] = self.random_value(result, 2, random.Random(f"{seed}{args}"))
            return known[args]

        return call

    def _random_data(self, datatype: Datatype, kind: Term, size: int, rng: random.Random) -> Value:
        mapping = dict(zip(datatype.params, kind.args, strict=False))
        base = [item for item in datatype.constructors if not any(_occurs(datatype.name, arg) for arg in item.args)]
        if len(base) == 1 and len(datatype.constructors) == 2 and not base[0].args:
            rec = next(item for item in datatype.constructors if item is not base[0])
            if sum(_occurs(datatype.name, arg) for arg in rec.args) == 1:
                value: Value = (self._tags[base[0].name],)
                for _ in range(rng.randint(0, size)):
                    fields = (
                        value if _occurs(datatype.name, arg) else self.random_value(substitute(arg, mapping), 2, rng)
                        for arg in rec.args
                    )
                    value = (self._tags[rec.name], *fields)
                return value
        item = rng.choice(datatype.constructors if size > 0 else (base or datatype.constructors))
        if size < -8:
            raise Undefined("no finite value")
        fields = (self.random_value(substitute(arg, mapping), size - 1, rng) for arg in item.args)
        return (self._tags[item.name], *fields)


def is_unary(kind: Datatype) -> bool:
    """Zero and successor: values can be ints."""
    if kind.params or len(kind.constructors) != 2:
        return False
    zero, successor = sorted(kind.constructors, key=lambda item: len(item.args))
    return not zero.args and successor.args == (Term(kind.name),)


def _occurs(name: str, kind: Expr) -> bool:
    return isinstance(kind, Term) and (kind.head == name or any(_occurs(name, arg) for arg in kind.args))


def _undefined() -> Value:
    raise Undefined


class _Compiler:
    """Writes Python text for terms; fresh names come from a counter."""

    def __init__(self, owner: Evaluator) -> None:
        self._owner = owner
        self._count = 0

    def _fresh(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def function(self, function: Function, name: str) -> str:
        """One `def` with a return for each row."""
        params = [self._fresh() for _ in function.args]
        lines = [f"def {name}({', '.join(params)}):", "    fuel[0] -= 1", "    if fuel[0] < 0: undefined()"]
        for patterns, body in function.rows:
            env: dict[str, str] = {}
            tests: list[str] = []
            for pattern, param in zip(patterns, params, strict=True):
                self._pattern(pattern, param, tests, env)
            value = self.expression(body, env)
            lines.append(f"    if {' and '.join(tests)}: return {value}" if tests else f"    return {value}")
        lines.append("    return undefined()")
        return "\n".join(lines)

    def _pattern(self, pattern: Expr, path: str, tests: list[str], env: dict[str, str]) -> None:
        if not isinstance(pattern, Term):
            raise Undefined
        if pattern.head == "_" or (pattern.is_var and not pattern.args):
            env[pattern.head] = path
        elif pattern.head in {"true", "false"}:
            tests.append(path if pattern.head == "true" else f"not {path}")
        elif pattern.head.isdigit():
            tests.append(f"{path} == {int(pattern.head)}")
        elif pattern.head == "+" and isinstance(pattern.args[1], Term) and pattern.args[1].head.isdigit():
            amount = int(pattern.args[1].head)
            tests.append(f"{path} >= {amount}")
            self._pattern(pattern.args[0], f"({path} - {amount})", tests, env)
        elif pattern.head == "Prod.mk":
            for index, arg in enumerate(pattern.args):
                self._pattern(arg, f"{path}[{index}]", tests, env)
        elif self._owner.is_constructor(pattern.head):
            tag, kind, _ = self._owner.constructor(pattern.head)
            if self._owner.is_unary(kind.name):
                tests.append(f"{path} > 0" if pattern.args else f"{path} == 0")
                for arg in pattern.args:
                    self._pattern(arg, f"({path} - 1)", tests, env)
                return
            tests.append(f"{path}[0] == {tag}")
            for index, arg in enumerate(pattern.args):
                self._pattern(arg, f"{path}[{index + 1}]", tests, env)
        else:
            raise Undefined(pattern.head)

    def expression(self, expr: Expr, env: Mapping[str, str]) -> str:
        """Text of a value."""
        if isinstance(expr, Match):
            return self._match(expr, env)
        if isinstance(expr, Binding):
            name = self._fresh()
            if expr.kind == "let" and expr.type is not None:
                inner = self.expression(expr.body, {**env, expr.name: name})
                return f"(lambda {name}: {inner})({self.expression(expr.type, env)})"
            if expr.kind == "fun":
                return f"(lambda {name}: {self.expression(expr.body, {**env, expr.name: name})})"
            raise Undefined(expr.kind)
        return self._term(expr, env)

    def _match(self, expr: Match, env: Mapping[str, str]) -> str:
        names = [self._fresh() for _ in expr.scrutinees]
        text = "undefined()"
        for patterns, body in reversed(expr.rows):
            tests: list[str] = []
            inner = dict(env)
            for pattern, name in zip(patterns, names, strict=True):
                self._pattern(pattern, name, tests, inner)
            value = self.expression(body, inner)
            text = f"({value} if {' and '.join(tests)} else {text})" if tests else f"({value})"
        scrutinees = ", ".join(self.expression(item, env) for item in expr.scrutinees)
        return f"(lambda {', '.join(names)}: {text})({scrutinees})"

    def _term(self, term: Term, env: Mapping[str, str]) -> str:
        head = term.head
        if head == "ite":
            condition, yes, no = (self.expression(arg, env) for arg in term.args)
            return f"({yes} if {condition} else {no})"
        args = [self.expression(arg, env) for arg in term.args]
        if head in env:
            return f"{env[head]}({', '.join(args)})" if args else env[head]
        if head == "apply":
            return f"({args[0]})({', '.join(args[1:])})"
        if (text := self._connective(head, args)) is not None:
            return text
        if head.isdigit():
            return str(int(head))
        if self._owner.is_constructor(head):
            return self._construct(head, args)
        function = self._owner.function_id(head)
        if function is None:
            raise Undefined(head)
        return self._call(function, args, len(self._owner.theory.functions[head].args))

    def _connective(self, head: str, args: list[str]) -> str | None:
        if head in _OPERATORS and len(args) == 2:
            return f"({args[0]} {_OPERATORS[head]} {args[1]})"
        known = {
            ("Bool.and", 2): "({0} and {1})",
            ("∧", 2): "({0} and {1})",
            ("Bool.or", 2): "({0} or {1})",
            ("∨", 2): "({0} or {1})",
            ("Bool.not", 1): "(not {0})",
            ("¬", 1): "(not {0})",
            ("→", 2): "((not {0}) or {1})",
            ("Tip.imp", 2): "((not {0}) or {1})",
            ("↔", 2): "({0} == {1})",
            ("decide", 1): "{0}",
            ("-", 2): "max(0, {0} - {1})",
            ("Prod.mk", 2): "({0}, {1})",
            ("++", 2): "append({0}, {1})",
            ("True", 0): "True",
            ("False", 0): "False",
        }
        pattern = known.get((head, len(args)))
        return None if pattern is None else pattern.format(*args)

    def _construct(self, head: str, args: list[str]) -> str:
        if head in {"true", "false"}:
            return head.title()
        tag, kind, arity = self._owner.constructor(head)
        if len(args) < arity:
            extra = [self._fresh() for _ in range(arity - len(args))]
            return f"(lambda {', '.join(extra)}: {self._construct(head, args + extra)})"
        if self._owner.is_unary(kind.name):
            return f"({args[0]} + 1)" if args else "0"
        return f"({', '.join([str(tag), *args])},)"

    def _call(self, function: str, args: list[str], arity: int) -> str:
        if len(args) == arity:
            return f"{function}({', '.join(args)})"
        if len(args) < arity:
            extra = [self._fresh() for _ in range(arity - len(args))]
            return f"(lambda {', '.join(extra)}: {function}({', '.join(args + extra)}))"
        return f"{function}({', '.join(args[:arity])})({', '.join(args[arity:])})"


def find_witness(
    statement: Statement, evaluator: Evaluator, *, tests: int = 120, rng: random.Random
) -> dict[str, Value] | None:
    """Values that make the statement false, or None; raises Undefined when it cannot be run at all."""
    names = tuple(name for name, _ in statement.binders)
    holds = evaluator.compile(statement.body, names)
    useful = 0
    for index in range(tests):
        try:
            values = [evaluator.random_value(kind, 1 + index % 5, rng) for _, kind in statement.binders]
            useful += 1
            evaluator.fuel[0] = CALLS_PER_RUN * 5
            if not holds(*values):
                return dict(zip(names, values, strict=True))
        except _LIMITS:
            continue
    if not useful:
        raise Undefined("no test ran")
    return None


def limits() -> tuple[type[BaseException], ...]:
    """What evaluation of a term may raise on large values."""
    return _LIMITS


__all__ = ["BUILT_IN", "Evaluator", "Undefined", "Value", "find_witness"]
