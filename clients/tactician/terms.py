"""Terms of the Lean subset that the tactician reads and writes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

import msgspec

REMEMBERED = 1 << 15
"""Terms whose size and variables are kept; they are asked for again and again."""


class Term(msgspec.Struct, frozen=True, cache_hash=True):
    """A constant or variable applied to arguments; operators and connectives are heads too (`+`, `=`, `→`, `ite`)."""

    head: str
    args: tuple[Expr, ...] = ()
    is_var: bool = False


class Binding(msgspec.Struct, frozen=True, cache_hash=True):
    """`fun`, `∀`, `∃` or `let` over one name; `let` keeps its value in `type`."""

    kind: str
    name: str
    type: Expr | None
    body: Expr
    style: str = "("


class Match(msgspec.Struct, frozen=True, cache_hash=True):
    """A `match` with its rows of patterns and right-hand sides."""

    scrutinees: tuple[Expr, ...]
    rows: tuple[tuple[tuple[Expr, ...], Expr], ...]


Expr = Term | Binding | Match

TYPE = Term("Type")
ARROW = "→"


def var(name: str) -> Term:
    """A variable."""
    return Term(name, (), True)


def is_plain(expr: Expr) -> bool:
    """Whether only applications occur: no binders and no matches."""
    return isinstance(expr, Term) and all(is_plain(arg) for arg in expr.args)


def plain_args(term: Term) -> tuple[Term, ...]:
    """The arguments of a term that `is_plain`."""
    return tuple(arg for arg in term.args if isinstance(arg, Term))


def children(expr: Expr) -> tuple[Expr, ...]:
    """Direct subexpressions."""
    if isinstance(expr, Term):
        return expr.args
    if isinstance(expr, Binding):
        return (expr.body,) if expr.type is None else (expr.type, expr.body)
    return (*expr.scrutinees, *(body for _, body in expr.rows))


def subterms(expr: Expr) -> Iterator[Expr]:
    """Every subexpression, outermost first."""
    pending = [expr]
    while pending:
        current = pending.pop()
        yield current
        inner = current.args if isinstance(current, Term) else children(current)
        if inner:
            pending += inner[::-1]


@functools.lru_cache(REMEMBERED)
def size(expr: Expr) -> int:
    """Number of heads."""
    found = 1
    for child in expr.args if isinstance(expr, Term) else children(expr):
        found += size(child)
    return found


def is_larger(expr: Expr, limit: int) -> bool:
    """Whether there are more heads than the limit; looks at no more than that."""
    pending = [expr]
    seen = 0
    while pending:
        seen += 1
        if seen > limit:
            return True
        pending += children(pending.pop())
    return False


@functools.lru_cache(REMEMBERED)
def variables(expr: Expr) -> tuple[str, ...]:
    """Names of free variables in order of first occurrence (types of binders excluded)."""
    if not isinstance(expr, Term):
        found: dict[str, None] = {}
        _collect(expr, frozenset(), found)
        return tuple(found)
    own = (expr.head,) if expr.is_var else ()
    if not expr.args:
        return own
    parts = [names for arg in expr.args if (names := variables(arg))]
    if not parts or (len(parts) == 1 and not own):
        return parts[0] if parts else own
    return tuple(dict.fromkeys((*own, *(name for names in parts for name in names))))


def _collect(expr: Expr, bound: frozenset[str], found: dict[str, None]) -> None:
    if isinstance(expr, Term):
        if expr.is_var and expr.head not in bound:
            found.setdefault(expr.head)
        for arg in expr.args:
            _collect(arg, bound, found)
    elif isinstance(expr, Binding):
        if expr.kind == "let" and expr.type is not None:
            _collect(expr.type, bound, found)
        _collect(expr.body, bound | {expr.name}, found)
    else:
        for scrutinee in expr.scrutinees:
            _collect(scrutinee, bound, found)
        for patterns, body in expr.rows:
            names = {name for pattern in patterns for name in variables(pattern)}
            _collect(body, bound | names, found)


def constants(expr: Expr) -> frozenset[str]:
    """Heads that are not variables."""
    return frozenset(sub.head for sub in subterms(expr) if isinstance(sub, Term) and not sub.is_var)


def substitute(expr: Expr, mapping: Mapping[str, Expr]) -> Expr:
    """Replace variables; the caller keeps bound names apart. What has none of them comes back as it is."""
    if isinstance(expr, Term):
        args = expr.args
        if not args:
            return mapping.get(expr.head, expr) if expr.is_var else expr
        made = tuple([substitute(arg, mapping) for arg in args])
        if expr.is_var and expr.head in mapping:
            return apply(mapping[expr.head], made)
        for one, other in zip(made, args, strict=True):
            if one is not other:
                return Term(expr.head, made, expr.is_var)
        return expr
    if not mapping:
        return expr
    if isinstance(expr, Binding):
        inner = {name: value for name, value in mapping.items() if name != expr.name}
        kind_value = None if expr.type is None else substitute(expr.type, mapping)
        return Binding(expr.kind, expr.name, kind_value, substitute(expr.body, inner), expr.style)
    rows = tuple((patterns, substitute(body, mapping)) for patterns, body in expr.rows)
    return Match(tuple(substitute(item, mapping) for item in expr.scrutinees), rows)


def replace(expr: Expr, old: Expr, new: Expr) -> Expr:
    """Replace every occurrence of a subterm in an expression without binders."""
    if expr is old or expr == old:
        return new
    if isinstance(expr, Term) and expr.args:
        made = tuple([replace(arg, old, new) for arg in expr.args])
        for one, other in zip(made, expr.args, strict=True):
            if one is not other:
                return Term(expr.head, made, expr.is_var)
    return expr


def apply(function: Expr, args: tuple[Expr, ...]) -> Expr:
    """Application; arguments are added to those a head has already."""
    if not args:
        return function
    if isinstance(function, Term):
        return Term(function.head, function.args + args, function.is_var)
    return Term("apply", (function, *args))


def match(pattern: Expr, expr: Expr, found: dict[str, Expr]) -> bool:
    """One-way matching of first-order patterns; fills `found` (also on failure)."""
    if not isinstance(pattern, Term):
        return pattern == expr
    if pattern.is_var and not pattern.args:
        known = found.setdefault(pattern.head, expr)
        return known is expr or known == expr
    if not isinstance(expr, Term) or len(pattern.args) != len(expr.args):
        return False
    if pattern.is_var:
        if not expr.is_var or found.setdefault(pattern.head, var(expr.head)) != var(expr.head):
            return False
    elif pattern.head != expr.head or expr.is_var:
        return False
    for left, right in zip(pattern.args, expr.args, strict=True):  # noqa: SIM110 - a loop is faster, and this runs most
        if not match(left, right, found):
            return False
    return True


def may_match(pattern: Term, term: Term) -> bool:
    """A glance at the arguments: whether their heads allow a match of two terms that have the same head."""
    for left, right in zip(pattern.args, term.args, strict=False):
        if isinstance(left, Term) and not left.is_var and isinstance(right, Term) and right.head != left.head:
            return False
    return True


def is_embedded(small: Expr, large: Expr) -> bool:
    """Whether leaving out heads of the large term gives the small one, variables being all alike."""
    if not isinstance(small, Term) or not isinstance(large, Term):
        return small == large
    if small.is_var and not small.args and large.is_var:
        return True
    if any(is_embedded(small, arg) for arg in large.args):
        return True
    same = small.head == large.head and len(small.args) == len(large.args)
    return same and all(is_embedded(one, other) for one, other in zip(small.args, large.args, strict=True))


def rename_apart(expr: Expr, order: Iterable[str] = ()) -> Expr:
    """The same expression with variables numbered by first occurrence: equal up to names means equal."""
    names = dict.fromkeys((*order, *variables(expr)))
    return substitute(expr, {name: var(f"?{index}") for index, name in enumerate(names)})


def arrow_parts(kind: Expr) -> tuple[tuple[Expr, ...], Expr]:
    """Argument types and result of a function type."""
    args: list[Expr] = []
    while isinstance(kind, Term) and kind.head == ARROW:
        args.append(kind.args[0])
        kind = kind.args[1]
    return tuple(args), kind
