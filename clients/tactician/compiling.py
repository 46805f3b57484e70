"""Python text for definitions and terms; every name in it is made here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from .terms import Binding, Expr, Match, Term
from .theory import Datatype, Function


class Undefined(Exception):
    """A term outside what can be run, or a missing case."""


class Vocabulary(Protocol):
    """What the compiler must know of a problem."""

    def constructor(self, name: str) -> tuple[int, Datatype, int]: ...

    def is_constructor(self, name: str) -> bool: ...

    def is_unary(self, kind: str) -> bool: ...

    @property
    def has_integers(self) -> bool: ...

    def function_id(self, name: str) -> tuple[str, int] | None: ...


_OPERATORS = {"+": "+", "*": "*", "=": "==", "==": "==", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}


class Compiler:
    """Writes Python text for terms; fresh names come from a counter."""

    def __init__(self, owner: Vocabulary) -> None:
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
        else:
            self._constructor_pattern(pattern, path, tests, env)

    def _constructor_pattern(self, pattern: Term, path: str, tests: list[str], env: dict[str, str]) -> None:
        paths = [f"{path}[{index + 1}]" for index in range(len(pattern.args))]
        if pattern.head == "Prod.mk":
            paths = [f"{path}[{index}]" for index in range(len(pattern.args))]
        elif not self._owner.is_constructor(pattern.head):
            raise Undefined(pattern.head)
        else:
            tag, kind, _ = self._owner.constructor(pattern.head)
            if self._owner.is_unary(kind.name):
                tests.append(f"{path} > 0" if pattern.args else f"{path} == 0")
                paths = [f"({path} - 1)"]
            else:
                tests.append(f"{path}[0] == {tag}")
        for arg, inner in zip(pattern.args, paths, strict=False):
            self._pattern(arg, inner, tests, env)

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
        return self._call(function[0], args, function[1])

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
            ("-", 2): "({0} - {1})" if self._owner.has_integers else "max(0, {0} - {1})",
            ("-", 1): "(-{0})",
            ("/", 2): "quotient({0}, {1})",
            ("%", 2): "remainder({0}, {1})",
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
