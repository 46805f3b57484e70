"""Why the recursion of a group of functions ends: structurally, or by a measure that every call lowers."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from .sexpr import refuse
from .tip_equations import Equation, constructor_term, replace
from .tip_syntax import (
    INT,
    Apply,
    Arithmetic,
    Constructor,
    DataType,
    Function,
    FunctionDeclaration,
    Ite,
    Match,
    Number,
    Term,
    Variable,
    parts,
)

Rows = Mapping[str, tuple[Equation, ...]]


class Part(msgspec.Struct, frozen=True):
    """A natural number: a constant and the sizes of some parameters, which are given by position."""

    params: tuple[int, ...] = ()
    constant: int = 0


class Measure(msgspec.Struct, frozen=True):
    """What every recursive call lowers: parts, the first of which counts most, or how far it is to a bound."""

    parts: tuple[Part, ...] = ()
    up: tuple[int, int] | None = None
    """Positions of a parameter that is counted up and of the parameter that bounds it."""


class _Call(msgspec.Struct, frozen=True):
    caller: str
    patterns: tuple[Term, ...]
    callee: str
    args: tuple[Term, ...]
    denied: tuple[Term, ...]
    """Conditions around the call that do not hold."""


def measures(group: tuple[FunctionDeclaration, ...], rows: Rows) -> dict[str, Measure]:
    """A measure for each function; none where Lean sees by itself that the recursion ends.

    Raises:
        BadProblem: no reason is seen why the recursion ends.
    """
    functions = {function.name: function for function in group}
    calls = [
        call
        for function in group
        for row in rows[function.name]
        for call in _calls(row.body, _Call(function.name, row.patterns, "", (), ()), frozenset(functions))
    ]
    if any(len(call.args) != len(functions[call.callee].params) for call in calls) or _is_structural(functions, calls):
        return {}
    found = _by_size(functions, calls) or _counting_up(functions, calls)
    if found is None:
        name = group[0].name
        raise refuse(f"unsupported: the recursion of {name} (it is not seen to end for all arguments)", group[0].at)
    return found


def _calls(term: Term, found: _Call, names: frozenset[str]) -> Iterator[_Call]:
    """Every call of the names inside a term."""
    match term:
        case Function(name) if name in names:
            yield msgspec.structs.replace(found, callee=name)
        case Apply(Function(name), args) if name in names:
            yield msgspec.structs.replace(found, callee=name, args=args)
            for arg in args:
                yield from _calls(arg, found, names)
        case Match(Variable(subject), cases):
            for case in cases:
                known = {} if case.constructor is None else {subject: _built(case.constructor, case.variables, term)}
                patterns = tuple(replace(pattern, known) for pattern in found.patterns)
                inner = msgspec.structs.replace(found, patterns=patterns)
                yield from _calls(replace(case.body, known), inner, names)
        case Ite(condition, yes, no):
            yield from _calls(condition, found, names)
            yield from _calls(yes, found, names)
            denied = (*found.denied, condition)
            yield from _calls(no, msgspec.structs.replace(found, denied=denied), names)
        case _:
            for part in parts(term):
                yield from _calls(part, found, names)


def _built(constructor: str, variables: tuple[str, ...], term: Match) -> Term:
    return constructor_term(constructor, variables, term.at)


# -- sizes


def _is_structural(functions: Mapping[str, FunctionDeclaration], calls: list[_Call]) -> bool:
    """Whether each function has a parameter such that every call is on a part of the caller's."""
    options = [_data_params(function) for function in functions.values()]
    for chosen in itertools.product(*options):
        at = dict(zip(functions, chosen, strict=True))
        if all(_is_inside(call.args[at[call.callee]], call.patterns[at[call.caller]]) for call in calls):
            return True
    return not calls


def _data_params(function: FunctionDeclaration) -> list[int]:
    return [at for at, param in enumerate(function.params) if isinstance(param.type, DataType) and param.type != INT]


def _by_size(functions: Mapping[str, FunctionDeclaration], calls: list[_Call]) -> dict[str, Measure] | None:
    options = [_parts(function) for function in functions.values()]
    firsts = [dict(zip(functions, first, strict=True)) for first in itertools.product(*options)]
    good = [chosen for chosen in firsts if all(_is_kept(_change(call, chosen)) for call in calls)]
    for chosen in good:
        if all(_change(call, chosen) != 0 for call in calls):
            return {name: Measure((part,)) for name, part in chosen.items()}
    for chosen in good:
        kept = [call for call in calls if _change(call, chosen) == 0]
        if (second := _second(functions, kept)) is not None:
            return {name: Measure((part, second[name])) for name, part in chosen.items()}
    return None


def _is_kept(change: int | None) -> bool:
    return change is not None and change <= 0


def _parts(function: FunctionDeclaration) -> list[Part]:
    """The size of one parameter, then those of several together."""
    data = _data_params(function)
    return [Part(some) for count in range(1, len(data) + 1) for some in itertools.combinations(data, count)]


def _second(functions: Mapping[str, FunctionDeclaration], calls: list[_Call]) -> dict[str, Part] | None:
    """Parts that the calls lower which keep the first part."""
    options = [
        [Part(), Part(constant=1), *(Part((at,), 1) for at in _data_params(function))]
        for function in functions.values()
    ]
    for some in itertools.product(*options):
        chosen = dict(zip(functions, some, strict=True))
        changes = [_change(call, chosen) for call in calls]
        if all(change is not None and change < 0 for change in changes):
            return chosen
    return None


def _change(call: _Call, chosen: Mapping[str, Part]) -> int | None:
    """How much the callee's part is above the caller's, at most; None when that is not known."""
    before, after = chosen[call.caller], chosen[call.callee]
    weights: Counter[object] = Counter({"": after.constant - before.constant})
    for part, terms, sign in ((after, call.args, 1), (before, call.patterns, -1)):
        for at in part.params:
            weights.update({key: sign * count for key, count in _size(terms[at]).items()})
    constant = weights.pop("", 0)
    return None if any(count > 0 for count in weights.values()) else constant


def _size(term: Term) -> Counter[object]:
    """One for each constructor, and what its arguments have; other terms count as something unknown."""
    match term:
        case Constructor():
            return Counter({"": 1})
        case Apply(Constructor(), args):
            total: Counter[object] = Counter({"": 1})
            for arg in args:
                total.update(_size(arg))
            return total
        case _:
            return Counter({_shape(term): 1})


def _shape(term: Term) -> object:
    match term:
        case Variable(name) | Constructor(name) | Function(name):
            return (type(term).__name__, name)
        case Apply(function, args):
            return (_shape(function), *map(_shape, args))
        case _:
            return id(term)


def _is_inside(term: Term, pattern: Term) -> bool:
    if not isinstance(pattern, Apply):
        return False
    return any(_shape(term) == _shape(arg) or _is_inside(term, arg) for arg in pattern.args)


# -- integers


def _counting_up(functions: Mapping[str, FunctionDeclaration], calls: list[_Call]) -> dict[str, Measure] | None:
    """A function that adds to one integer until it is above another one."""
    if len(functions) != 1:
        return None
    ((name, function),) = functions.items()
    numbers = [at for at, param in enumerate(function.params) if param.type == INT]
    for counted, bound in itertools.permutations(numbers, 2):
        if all(_is_step(call, counted, bound) for call in calls):
            return {name: Measure(up=(counted, bound))}
    return None


def _is_step(call: _Call, counted: int, bound: int) -> bool:
    x, limit = call.patterns[counted], call.patterns[bound]
    above = ("<", _shape(limit), _shape(x))
    is_below = any(isinstance(c, Arithmetic) and (c.op, *map(_shape, c.args)) == above for c in call.denied)
    match call.args[counted]:
        case Arithmetic("+", (Number(amount), moved)):
            is_up = amount > 0 and _shape(moved) == _shape(x)
        case _:
            is_up = False
    return is_below and is_up and _shape(call.args[bound]) == _shape(limit)
