"""Does a function recurse structurally on one parameter? If not, which parameters shrink together?"""

from collections.abc import Iterator

from .tip_equations import Equation
from .tip_syntax import Apply, Constructor, DataType, Function, FunctionDeclaration, Term, Variable, parts


def shrinking_together(function: FunctionDeclaration, rows: tuple[Equation, ...]) -> tuple[str, ...]:
    """Parameters whose sizes sum up to a measure that every recursive call lowers.

    Empty when there is no recursion, when one parameter alone shrinks in every call (Lean finds that), or when no
    such sum is seen.
    """
    calls = [(row.patterns, call) for row in rows for call in _calls(function.name, row.body)]
    if not calls or any(len(args) != len(function.params) for _, args in calls):
        return ()
    data = [i for i, param in enumerate(function.params) if isinstance(param.type, DataType)]
    shrinks = {i: [_is_inside(args[i], patterns[i]) for patterns, args in calls] for i in data}
    keeps = {i: [_shape(args[i]) == _shape(patterns[i]) for patterns, args in calls] for i in data}
    if any(all(shrinks[i]) for i in data):
        return ()
    chosen = [i for i in data if all(map(max, shrinks[i], keeps[i])) and any(shrinks[i])]
    if not all(any(shrinks[i][k] for i in chosen) for k in range(len(calls))):
        return ()
    return tuple(function.params[i].name for i in chosen)


def _calls(name: str, term: Term) -> Iterator[tuple[Term, ...]]:
    match term:
        case Function(found) if found == name:
            yield ()
        case Apply(Function(found), args) if found == name:
            yield args
            for arg in args:
                yield from _calls(name, arg)
        case _:
            for part in parts(term):
                yield from _calls(name, part)


def _shape(term: Term) -> object:
    match term:
        case Variable(name) | Constructor(name) | Function(name):
            return (type(term).__name__, name)
        case Apply(function, args):
            return (_shape(function), *map(_shape, args))
        case _:
            return object()


def _is_inside(term: Term, pattern: Term) -> bool:
    if not isinstance(pattern, Apply):
        return False
    return any(_shape(term) == _shape(arg) or _is_inside(term, arg) for arg in pattern.args)
