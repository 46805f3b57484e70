"""Evaluation on values that are known in part: only what is looked at has to be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .compiling import Undefined
from .holes import CONNECTIVES, CONSTANTS, NUMBERS, Code, Delayed, Known, Lazy, Value, append, apply_to, curried
from .terms import Binding, Expr, Match, Term, variables
from .theory import Function, Theory

Matcher = Callable[[Lazy, list[Lazy]], bool]
CALLS_PER_RUN = 20_000


class LazyEvaluator:
    """Compiles the functions of a theory to Python closures over delayed arguments."""

    def __init__(self, theory: Theory) -> None:
        self._theory = theory
        self._constructors = theory.constructors()
        self._functions: dict[str, Callable[[Sequence[Lazy]], Value]] = {}
        self._has_integers = theory.has_integers()
        self.fuel = 0

    def compile(self, expr: Expr, names: tuple[str, ...]) -> Code:
        """A function of the values of the names; raises Undefined for what is outside the subset."""
        return self._code(expr, {name: index for index, name in enumerate(names)})

    def run(self, code: Code, env: tuple[Lazy, ...]) -> Value:
        """One evaluation with its own allowance of calls; raises Undefined when it is used up."""
        self.fuel = CALLS_PER_RUN
        return code(env)

    def _delayed(self, expr: Expr, scope: dict[str, int]) -> Code:
        if isinstance(expr, Term) and not expr.args and expr.head in scope:
            at = scope[expr.head]
            return lambda env: env[at]
        code = self._code(expr, scope)
        if not set(variables(expr)) & scope.keys():
            shared = Delayed(code, ())
            return lambda _: shared
        return lambda env: Delayed(code, env)

    def _code(self, expr: Expr, scope: dict[str, int]) -> Code:
        if isinstance(expr, Match):
            return self._match(expr, scope)
        if isinstance(expr, Binding):
            return self._binding(expr, scope)
        if expr.head in scope:
            return _variable(scope[expr.head], [self._delayed(arg, scope) for arg in expr.args])
        return self._term(expr, scope)

    def _binding(self, expr: Binding, scope: dict[str, int]) -> Code:
        body = self._code(expr.body, {**scope, expr.name: len(scope)})
        width = len(scope)
        if expr.kind == "let" and expr.type is not None:
            value = self._delayed(expr.type, scope)
            return lambda env: body((*env[:width], value(env)))
        if expr.kind == "fun":

            def abstracted(env: tuple[Lazy, ...]) -> Value:
                def apply_once(argument: Lazy) -> Value:
                    return body((*env[:width], argument))

                return apply_once

            return abstracted
        raise Undefined(expr.kind)

    def _match(self, expr: Match, scope: dict[str, int]) -> Code:
        scrutinees = [self._delayed(item, scope) for item in expr.scrutinees]
        rows = [self._row(patterns, body, scope) for patterns, body in expr.rows]
        width = len(scope)

        def run(env: tuple[Lazy, ...]) -> Value:
            return _first_fitting(rows, [item(env) for item in scrutinees], env[:width])

        return run

    def _row(self, patterns: Sequence[Expr], body: Expr, scope: dict[str, int]) -> tuple[list[Lazy], Code]:
        inner = dict(scope)
        matchers = [self._pattern(pattern, inner) for pattern in patterns]
        return matchers, self._code(body, inner)

    def _pattern(self, pattern: Expr, scope: dict[str, int]) -> Matcher:
        """Tells whether a value fits and adds what the pattern binds, always the same number of values."""
        if not isinstance(pattern, Term):
            raise Undefined
        if pattern.head == "_" or (pattern.is_var and not pattern.args):
            scope[f"{pattern.head} {len(scope)}" if pattern.head in scope else pattern.head] = len(scope)
            return _bind
        if pattern.head in {"true", "false"}:
            wanted = pattern.head == "true"
            return lambda value, _: value.force() is wanted
        if pattern.head in {"Nat.zero", "Nat.succ"} or pattern.head.isdigit() or pattern.head == "+":
            return self._number_pattern(pattern, scope)
        if pattern.head != "Prod.mk" and pattern.head not in self._constructors:
            raise Undefined(pattern.head)
        head, fields = pattern.head, [self._pattern(arg, scope) for arg in pattern.args]
        if all(field is _bind for field in fields):
            return _flat(head)

        def fits(value: Lazy, found: list[Lazy]) -> bool:
            built = value.force()
            return built[0] == head and _all_fit(fields, built[1], found)

        return fits

    def _number_pattern(self, pattern: Term, scope: dict[str, int]) -> Matcher:
        if pattern.head == "Nat.succ" or pattern.head == "+":
            amount = 1 if pattern.head == "Nat.succ" else _digits(pattern.args[1])
            inner = self._pattern(pattern.args[0], scope)
            return lambda value, found: value.force() >= amount and inner(Known(value.force() - amount), found)
        exact = 0 if pattern.head == "Nat.zero" else _digits(pattern)
        return lambda value, _: value.force() == exact

    def _term(self, term: Term, scope: dict[str, int]) -> Code:
        head, count = term.head, len(term.args)
        if head.isdigit() or head in CONSTANTS:
            value = int(head) if head.isdigit() else CONSTANTS[head]
            return lambda _: value
        if head in {"Nat.succ", *NUMBERS}:
            return self._arithmetic(head, [self._code(arg, scope) for arg in term.args])
        args = [self._delayed(arg, scope) for arg in term.args]
        if head == "ite" and count == 3:
            condition, yes, no = (self._code(arg, scope) for arg in term.args)
            return lambda env: yes(env) if condition(env) else no(env)
        if (connective := CONNECTIVES.get((head, count))) is not None:
            return lambda env: connective(*(arg(env) for arg in args))
        if head == "apply":
            return lambda env: apply_to(args[0](env).force(), [arg(env) for arg in args[1:]])
        arity = 2 if head == "Prod.mk" else len(self._constructors[head][1].args) if head in self._constructors else -1
        if arity == count:
            return lambda env: (head, [arg(env) for arg in args])
        if arity >= 0:
            whole = curried(lambda given: (head, given), arity)
            return lambda env: apply_to(whole, [arg(env) for arg in args])
        return self._call(head, args)

    def _arithmetic(self, head: str, args: list[Code]) -> Code:
        if head == "Nat.succ" and len(args) == 1:
            return lambda env: args[0](env) + 1
        if head == "-" and len(args) == 1:
            return lambda env: -args[0](env)
        if len(args) != 2:
            raise Undefined(head)
        left, right = args
        if head == "-" and not self._has_integers:
            return lambda env: max(0, left(env) - right(env))
        operation = NUMBERS[head]
        return lambda env: operation(left(env), right(env))

    def _call(self, head: str, args: list[Code]) -> Code:
        function = self._theory.functions.get(head)
        if head != "++" and function is None:
            raise Undefined(head)
        arity = 2 if function is None else len(function.args)
        if len(args) == arity:
            return lambda env: self._apply(head, function, [arg(env) for arg in args])

        def run(env: tuple[Lazy, ...]) -> Value:
            given = [arg(env) for arg in args]
            return apply_to(curried(lambda all_: self._apply(head, function, all_), arity), given)

        return run

    def _apply(self, head: str, function: Function | None, given: Sequence[Lazy]) -> Value:
        self.fuel -= 1
        if self.fuel < 0:
            raise Undefined("out of fuel")
        if function is None:
            return append(given)
        compiled = self._functions.get(head)
        if compiled is None:
            rows = [self._row(patterns, body, {}) for patterns, body in function.rows]
            compiled = self._functions[head] = lambda values: _first_fitting(rows, values, ())
        return compiled(given)


def _variable(at: int, args: list[Code]) -> Code:
    if not args:
        return lambda env: env[at].force()
    return lambda env: apply_to(env[at].force(), [arg(env) for arg in args])


def _bind(value: Lazy, found: list[Lazy]) -> bool:
    found.append(value)
    return True


def _flat(head: str) -> Matcher:
    """Fits what the constructor built, and binds its fields as they are."""

    def fits(value: Lazy, found: list[Lazy]) -> bool:
        built = value.force()
        if built[0] != head:
            return False
        found += built[1]
        return True

    return fits


def _first_fitting(rows: list[tuple[list[Lazy], Code]], values: Sequence[Lazy], env: tuple[Lazy, ...]) -> Value:
    for matchers, body in rows:
        found: list[Lazy] = []
        if _all_fit(matchers, values, found):
            return body((*env, *found))
    raise Undefined("no row fits")


def _all_fit(matchers: list[Matcher], values: Sequence[Lazy], found: list[Lazy]) -> bool:
    """A loop, since recursion through built-in functions would use up the stack of the interpreter."""
    for matcher, value in zip(matchers, values, strict=True):  # noqa: SIM110 - see above
        if not matcher(value, found):
            return False
    return True


def _digits(expr: Expr) -> int:
    if isinstance(expr, Term) and expr.head.isdigit():
        return int(expr.head)
    raise Undefined
