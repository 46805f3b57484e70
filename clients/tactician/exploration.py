"""Discovery of small equations over a problem's functions, by evaluation on random values."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping

import msgspec

from .definitions import Names, Theory
from .evaluation import CALLS_PER_RUN, Evaluator, Undefined, Value, limits
from .rewriting import Precedence
from .statements import Statement, close_statement
from .terms import ARROW, Expr, Term, arrow_parts, match, rename_apart, size, substitute, subterms, var, variables

VALUATIONS = 36
TERMS_PER_LEVEL = 40_000
SLICE = 2_000
LARGEST_INT = 2_000


class Operation(msgspec.Struct, frozen=True):
    """A constant or function variable at one instance of its type."""

    head: str
    args: tuple[Expr, ...]
    result: Expr
    run: Callable[..., Value]
    is_var: bool = False


class Equation(msgspec.Struct, frozen=True):
    """A conjecture `conditions → left = right`, oriented."""

    left: Term
    right: Term
    conditions: tuple[Term, ...] = ()

    @property
    def size(self) -> int:
        """Number of heads."""
        return size(self.left) + size(self.right) + sum(size(item) for item in self.conditions)


Vector = tuple[Value, ...]


class Exploration:
    """Terms by size; two with equal values on all valuations are a conjecture."""

    def __init__(self, theory: Theory, goal: Statement, *, seed: int) -> None:
        self.theory = theory
        self.names = Names(theory)
        self.evaluator = Evaluator(theory)
        self.precedence = Precedence(theory)
        self._goal = goal
        self._rng = random.Random(seed)
        self.kinds: dict[str, Expr] = {}
        self._values: dict[str, Vector] = {}
        self._terms: dict[Expr, dict[int, list[tuple[Term, Vector]]]] = {}
        self._classes: dict[tuple[Expr, Vector], Term] = {}
        self._seen: set[Expr] = set()
        self._equations: list[Equation] = []
        self._operations = self._instances()
        self._make_variables()
        self._largest = 0

    # -- the vocabulary ---------------------------------------------------------------------------

    def _instances(self) -> list[Operation]:
        """Functions and constructors at the element types that the problem mentions."""
        elements = self._element_types()
        found: dict[tuple[str, tuple[Expr, ...], Expr], Operation] = {}
        for name in self.theory.functions:
            if name not in self.evaluator.broken:
                self._add_instances(found, name, elements)
        if len(found) == 0:
            return []
        needed = {kind for item in found.values() for kind in (*item.args, item.result)}
        for name in self.theory.constructors():
            extra: dict[tuple[str, tuple[Expr, ...], Expr], Operation] = {}
            self._add_instances(extra, name, elements)
            found.update({key: item for key, item in extra.items() if item.result in needed})
        return list(found.values())

    def _element_types(self) -> list[Expr]:
        ground = [kind for _, kind in self._goal.binders]
        for function in self.theory.functions.values():
            if not function.params:
                ground += [*function.args, function.result]
        found: dict[Expr, None] = {var(name): None for name in self._goal.types}
        for kind in ground:
            for sub in subterms(kind):
                if isinstance(sub, Term) and sub.head != ARROW:
                    found.update({arg: None for arg in sub.args if isinstance(arg, Term) and not arg.args})
        if "pair" in " ".join(self.theory.datatypes) and len(self._goal.types) >= 2:
            pair = next(name for name in self.theory.datatypes if "pair" in name)
            found[Term(pair, (var(self._goal.types[0]), var(self._goal.types[1])))] = None
        if not found:
            found = {
                Term(name): None for name, kind in self.theory.datatypes.items() if not kind.params and name != "Bool"
            }
        return list(found)[:4]

    def _add_instances(
        self, found: dict[tuple[str, tuple[Expr, ...], Expr], Operation], name: str, elements: list[Expr]
    ) -> None:
        known = self.names.signatures[name]
        for chosen in itertools.product(elements, repeat=len(known.params)):
            if (
                len(chosen) >= 2
                and len(self._goal.types) >= 2
                and chosen[:2] != tuple(var(t) for t in self._goal.types[:2])
            ):
                continue
            mapping = dict(zip(known.params, chosen, strict=True))
            args = tuple(substitute(arg, mapping) for arg in known.args)
            result = substitute(known.result, mapping)
            inputs = tuple(f"i{index}" for index in range(len(args)))
            try:
                run = self.evaluator.compile(Term(name, tuple(var(item) for item in inputs)), inputs)
            except Undefined:
                continue
            found[name, args, result] = Operation(name, args, result, run)

    def _make_variables(self) -> None:
        kinds = dict.fromkeys(kind for item in self._operations for kind in item.args)
        taken = set(self.names.signatures) | set(self._goal.types)
        for kind in kinds:
            is_function = bool(arrow_parts(kind)[0])
            count = 2 if is_function else 1 if kind == Term("Bool") else 3
            for name in itertools.islice(self._fresh_names(kind, taken), count):
                taken.add(name)
                self.kinds[name] = kind
                self._values[name] = tuple(self.evaluator.random_value(kind, 3, self._rng) for _ in range(VALUATIONS))
        for name, kind in self.kinds.items():
            args, result = arrow_parts(kind)
            if args:
                self._operations.append(Operation(name, args, result, _call, True))

    def _fresh_names(self, kind: Expr, taken: set[str]) -> Iterator[str]:
        if arrow_parts(kind)[0]:
            stems = ["f", "g", "h"]
        elif isinstance(kind, Term) and kind.head in self.theory.datatypes:
            datatype = self.theory.datatypes[kind.head]
            is_list = bool(kind.args) and len(datatype.constructors) == 2
            stems = (
                ["xs", "ys", "zs"]
                if is_list
                else ["m", "n", "k"]
                if self.evaluator.is_unary(kind.head)
                else ["t", "u", "v"]
            )
        else:
            stems = ["x", "y", "z"]
        for suffix in itertools.chain([""], map(str, range(1, 99))):
            for stem in stems:
                if stem + suffix not in taken:
                    yield stem + suffix

    # -- enumeration ------------------------------------------------------------------------------

    def levels(self) -> Iterator[list[Equation] | None]:
        """Equations of each size; None between slices of work so that the caller can do other things."""
        if not self._operations:
            return
        for level in range(1, 10):
            found: list[Equation] = []
            if level == 1:
                self._level_one()
            count = 0
            is_complete = True
            for operation in self._operations:
                for term, vector in self._applications(operation, level):
                    count += 1
                    if count % SLICE == 0:
                        yield None
                    if vector is not None and (equation := self._classify(term, vector, operation.result, level)):
                        found.append(equation)
                    if count > TERMS_PER_LEVEL:
                        is_complete = False
                        break
            self._largest = level
            yield self._pruned(found)
            if level == 4 or (not is_complete and level < 4):
                yield self.conditional()
            if not is_complete:
                return

    def _level_one(self) -> None:
        for name, kind in self.kinds.items():
            self._terms.setdefault(kind, {}).setdefault(1, []).append((var(name), self._values[name]))
            self._classes.setdefault((kind, self._values[name]), var(name))

    def _applications(self, operation: Operation, level: int) -> Iterator[tuple[Term, Vector | None]]:
        if not operation.args:
            if level == 1:
                yield Term(operation.head), (operation.run(),) * VALUATIONS
            return
        for sizes in compositions(level - 1, len(operation.args)):
            pools = [self._terms.get(kind, {}).get(size, []) for kind, size in zip(operation.args, sizes, strict=True)]
            for chosen in itertools.product(*pools):
                term = Term(operation.head, tuple(item[0] for item in chosen), operation.is_var)
                if level >= 5 and len(variables(term)) > 3:
                    continue
                yield term, self._evaluate(operation, [item[1] for item in chosen])

    def _evaluate(self, operation: Operation, inputs: list[Vector]) -> Vector | None:
        try:
            if operation.is_var:
                inputs = [self._values[operation.head], *inputs]
            vector = tuple(self._run(operation, values) for values in zip(*inputs, strict=True))
        except limits():
            return None
        if any(type(value) is int and value > LARGEST_INT for value in vector):
            return None
        return vector

    def _run(self, operation: Operation, values: tuple[Value, ...]) -> Value:
        self.evaluator.fuel[0] = CALLS_PER_RUN
        return operation.run(*values)

    def _classify(self, term: Term, vector: Vector, kind: Expr, level: int) -> Equation | None:
        try:
            known = self._classes.get((kind, vector))
        except TypeError:
            return None
        if known is None:
            self._classes[kind, vector] = term
            self._terms.setdefault(kind, {}).setdefault(level, []).append((term, vector))
            return None
        return self._oriented(term, known)

    def _oriented(self, term: Term, known: Term, conditions: tuple[Term, ...] = ()) -> Equation | None:
        rule = self.precedence.orient(term, known)
        left, right = rule if rule is not None else (term, known)
        if not set(variables(right)) <= set(variables(left)):
            left, right = right, left
        if not isinstance(left, Term) or not isinstance(right, Term) or (left.is_var and not left.args):
            return None
        scope = set(variables(left)).union(*(variables(item) for item in conditions))
        if not set(variables(right)) <= scope:
            return None
        return Equation(left, right, conditions)

    def _pruned(self, found: list[Equation]) -> list[Equation]:
        """Without repetitions and instances of equations found before; simple and general ones first."""
        found.sort(key=lambda item: (item.size, -len(variables(item.left))))
        kept: list[Equation] = []
        for equation in found:
            key = rename_apart(Term("=", (equation.left, equation.right)))
            if key in self._seen or self._is_congruence(equation):
                continue
            self._seen.add(key)
            if any(_is_instance(equation, general) for general in self._equations):
                continue
            self._equations.append(equation)
            kept.append(equation)
        return kept

    def _is_congruence(self, equation: Equation) -> bool:
        return equation.left.head == equation.right.head and self.evaluator.is_constructor(equation.left.head)

    # -- conditional equations --------------------------------------------------------------------

    def conditional(self) -> list[Equation]:
        """Equations that hold whenever a small Boolean term is true, or whenever it is false."""
        tests = [
            (term, vector)
            for size_ in (2, 3)
            for term, vector in self._terms.get(Term("Bool"), {}).get(size_, [])
            if all(isinstance(arg, Term) and arg.is_var for arg in term.args)
        ]
        found: dict[Expr, Equation] = {}
        for (term, vector), wanted in itertools.product(tests[:24], (True, False)):
            chosen = [index for index, value in enumerate(vector) if value is wanted]
            if len(chosen) >= VALUATIONS // 4:
                condition = Term("=", (term, Term("true" if wanted else "false")))
                for equation in self._under(condition, chosen):
                    found.setdefault(rename_apart(Term("→", (condition, equation.left, equation.right))), equation)
        ordered = sorted(found.values(), key=lambda item: (item.size, -len(variables(item.left))))
        return ordered[:120]

    def _under(self, condition: Term, chosen: list[int]) -> Iterator[Equation]:
        classes: dict[tuple[Expr, Vector], Term] = {}
        tested = condition.args[0]
        for kind, by_size in self._terms.items():
            for size_, items in by_size.items():
                if size_ > 4 or arrow_parts(kind)[0]:
                    continue
                for term, vector in items:
                    if term == tested:
                        continue
                    known = classes.setdefault((kind, tuple(vector[index] for index in chosen)), term)
                    scope = {*variables(term), *variables(known)}
                    if known is term or not set(variables(tested)) <= scope:
                        continue
                    if self.precedence.orient(term, known) and (found := self._oriented(term, known, (condition,))):
                        yield found

    # -- results ----------------------------------------------------------------------------------

    def statement(self, equation: Equation) -> Statement | None:
        """The conjecture as a closed statement."""
        return close_statement(
            equation.conditions,
            Term("=", (equation.left, equation.right)),
            kinds=self.kinds,
            instances=self._goal.instances,
        )


def _call(function: Callable[..., Value], *args: Value) -> Value:
    return function(*args)


def _is_instance(special: Equation, general: Equation) -> bool:
    found: dict[str, Expr] = {}
    return match(general.left, special.left, found) and match(general.right, special.right, found)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Ordered sums of positive numbers."""
    if parts == 1:
        if total >= 1:
            yield (total,)
        return
    for first in range(1, total - parts + 2):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def kinds_of(statement: Statement) -> Mapping[str, Expr]:
    """Types of the quantified variables."""
    return dict(statement.binders)
