"""Closed statements: quantified variables, hypotheses and a conclusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from .definitions import Names
from .printing import show
from .syntax import parse
from .terms import (
    ARROW,
    TYPE,
    Binding,
    Expr,
    Term,
    arrow_parts,
    constants,
    match,
    rename_apart,
    size,
    substitute,
    var,
    variables,
)


class Statement(msgspec.Struct, frozen=True):
    """`∀ {types} (binders), hypotheses → conclusion`."""

    types: tuple[str, ...]
    """Type variables."""
    instances: tuple[Expr, ...]
    """Types of instance binders."""
    binders: tuple[tuple[str, Expr], ...]
    hypotheses: tuple[Expr, ...]
    conclusion: Expr
    intros: tuple[str, ...] = ()
    """Names for `intro` up to the last quantifier, `_` for what has no name."""
    written: Expr | None = None
    """The body as it has to be written when some types are decided by nothing in it."""

    @property
    def body(self) -> Expr:
        """Hypotheses and conclusion as one implication."""
        result = self.conclusion
        for hypothesis in reversed(self.hypotheses):
            result = Term(ARROW, (hypothesis, result))
        return result

    @property
    def equation(self) -> tuple[Expr, Expr] | None:
        """Both sides when the conclusion is an equation."""
        goal = self.conclusion
        return (goal.args[0], goal.args[1]) if isinstance(goal, Term) and goal.head == "=" else None

    def key(self) -> tuple[Expr, ...]:
        """Equal for statements that differ in variable names only."""
        renamed = rename_apart(whole(self))
        return renamed.args if isinstance(renamed, Term) else ()


def read_statement(text: str, names: Names) -> Statement:
    """Parse and take apart; raises NotInSubset."""
    return split_statement(names.resolve(parse(text)))


def split_statement(expr: Expr) -> Statement:
    """Peel quantifiers and implications off a resolved proposition; later binders are renamed when they clash."""
    types: list[str] = []
    instances: list[Expr] = []
    binders: dict[str, Expr] = {}
    hypotheses: list[Expr] = []
    intros: list[str] = []
    last = 0
    while True:
        if isinstance(expr, Binding) and expr.kind == "∀" and expr.type is not None:
            name, body = expr.name, expr.body
            if name in binders or name in types:
                fresh = next(f"{name}{index}" for index in range(1, 99) if f"{name}{index}" not in binders)
                name, body = fresh, substitute(body, {name: var(fresh)})
            if expr.type == TYPE:
                types.append(name)
            elif expr.style == "[":
                instances.append(expr.type)
            else:
                binders[name] = expr.type
            intros.append("_" if expr.style == "[" else name)
            last = len(intros)
            expr = body
        elif isinstance(expr, Term) and expr.head == ARROW and len(expr.args) == 2:
            hypotheses.append(expr.args[0])
            intros.append("_")
            expr = expr.args[1]
        else:
            return Statement(
                tuple(types), tuple(instances), tuple(binders.items()), tuple(hypotheses), expr, tuple(intros[:last])
            )


def show_statement(statement: Statement) -> str:
    """Lean text of the closed proposition."""
    groups: list[str] = []
    if statement.types:
        groups.append(f"{{{' '.join(statement.types)} : Type}}")
    groups += [f"[{show(instance)}]" for instance in statement.instances]
    names: list[str] = []
    for index, (name, kind) in enumerate(statement.binders):
        names.append(name)
        if index + 1 == len(statement.binders) or statement.binders[index + 1][1] != kind:
            groups.append(f"({' '.join(names)} : {show(kind)})")
            names = []
    prefix = f"∀ {' '.join(groups)}, " if groups else ""
    return prefix + show(statement.written or statement.body)


class Types:
    """Infers types of terms by first-order unification."""

    def __init__(self, names: Names) -> None:
        self._signatures = names.signatures
        self._solved: dict[str, Expr] = {}
        self._count = 0

    def fresh(self) -> Term:
        """An unknown type."""
        self._count += 1
        return var(f"?t{self._count}")

    def infer(self, expr: Expr, context: Mapping[str, Expr]) -> Expr | None:
        """The type of a plain term, None when it has none in the context."""
        self._solved = {}
        kind = self._infer(expr, context)
        return None if kind is None else self._expand(kind)

    def of_subterms(self, expr: Expr, context: Mapping[str, Expr]) -> dict[Expr, Expr]:
        """Types of all plain subterms, decided together, so that constants without arguments get theirs from around."""
        self._solved = {}
        found: dict[Expr, Expr] = {}
        self._infer(expr, context, found)
        return {term: self._expand(kind) for term, kind in found.items()}

    def decided(self, expr: Expr, context: Mapping[str, Expr], taken: Iterable[str]) -> tuple[Expr, tuple[str, ...]]:
        """The same with types at constants that nothing else decides; and the type variables made for that."""
        self._solved = {}
        places: dict[str, tuple[str, tuple[Expr, ...]]] = {}
        kinds = dict(context)
        marked = self._marked(expr, places, kinds)
        self._infer(marked, kinds)
        free = (name for name in (*"abcdefgh", *(f"a{index}" for index in range(99))) if name not in set(taken))
        made: list[str] = []
        values: dict[str, Expr] = {}
        for place, (head, params) in places.items():
            unknown = [name for param in params for name in variables(self._expand(param)) if name.startswith("?t")]
            for name in unknown:
                if name not in self._solved:
                    made.append(next(free))
                    self._solved[name] = var(made[-1])
            kind = tuple(self._expand(param) for param in params)
            is_new = any(name in made for param in kind for name in variables(param))
            values[place] = Term(f"@{head}", kind) if is_new else Term(head)
        return substitute(marked, values), tuple(made)

    def _marked(self, expr: Expr, places: dict[str, tuple[str, tuple[Expr, ...]]], kinds: dict[str, Expr]) -> Expr:
        """Every constant of an open type becomes a variable of its own."""
        if not isinstance(expr, Term):
            return expr
        known = None if expr.is_var or expr.args else self._signatures.get(expr.head)
        if known is not None and known.params and not known.args:
            fresh = {param: self.fresh() for param in known.params}
            place = f"?c{len(places)}"
            places[place] = expr.head, tuple(fresh.values())
            kinds[place] = substitute(known.result, fresh)
            return var(place)
        return Term(expr.head, tuple(self._marked(arg, places, kinds) for arg in expr.args), expr.is_var)

    def _infer(self, expr: Expr, context: Mapping[str, Expr], found: dict[Expr, Expr] | None = None) -> Expr | None:
        if not isinstance(expr, Term):
            return None
        args = [self._infer(arg, context, found) for arg in expr.args]
        kind = self._result(expr, args, context)
        if found is not None and kind is not None:
            found[expr] = kind
        return kind

    def _result(self, expr: Term, args: list[Expr | None], context: Mapping[str, Expr]) -> Expr | None:
        if expr.head in {"=", "≠", "<", "≤"} and len(args) == 2 and args[0] is not None and args[1] is not None:
            return Term("Prop") if self._unify(args[0], args[1]) else None
        if expr.head in {"∧", "∨", "¬", "↔", ARROW}:
            return Term("Prop")
        if expr.head == "ite" and len(args) == 3:
            return args[1] or args[2]
        if expr.is_var:
            whole = context.get(expr.head)
            if whole is None:
                return None
            expected, result = arrow_parts(whole)
        else:
            signature = self._signatures.get(expr.head)
            if signature is None:
                return Term("Nat") if expr.head.isdigit() else None
            fresh = {param: self.fresh() for param in signature.params}
            expected = tuple(substitute(arg, fresh) for arg in signature.args)
            result = substitute(signature.result, fresh)
        for wanted, given in zip(expected, args, strict=False):
            if given is not None and not self._unify(wanted, given):
                return None
        for rest in reversed(expected[len(args) :]):
            result = Term(ARROW, (rest, result))
        return result

    def _expand(self, kind: Expr) -> Expr:
        if isinstance(kind, Term):
            if kind.is_var and kind.head in self._solved:
                return self._expand(self._solved[kind.head])
            return Term(kind.head, tuple(self._expand(arg) for arg in kind.args), kind.is_var)
        return kind

    def _unify(self, left: Expr, right: Expr) -> bool:
        left, right = self._expand(left), self._expand(right)
        if left == right:
            return True
        if not isinstance(left, Term) or not isinstance(right, Term):
            return False
        if left.head.startswith("?t"):
            self._solved[left.head] = right
            return True
        if right.head.startswith("?t"):
            self._solved[right.head] = left
            return True
        if left.head != right.head or len(left.args) != len(right.args):
            return False
        return all(self._unify(one, other) for one, other in zip(left.args, right.args, strict=True))


def close_statement(
    hypotheses: Iterable[Expr], conclusion: Expr, *, kinds: Mapping[str, Expr], instances: tuple[Expr, ...] = ()
) -> Statement | None:
    """Quantify over the free variables; None when a type is not known."""
    hypotheses = tuple(dict.fromkeys(hypotheses))
    whole = Term("all", (*hypotheses, conclusion))
    binders: list[tuple[str, Expr]] = []
    for name in variables(whole):
        kind = kinds.get(name)
        if kind is None or any(found.startswith("?") for found in variables(kind)):
            return None
        binders.append((name, kind))
    types = dict.fromkeys(name for _, kind in binders for name in variables(kind))
    kept = instances if types else ()
    intros = (*types, *("_" for _ in kept), *(name for name, _ in binders))
    return Statement(tuple(types), kept, tuple(binders), hypotheses, conclusion, intros)


def with_types(statement: Statement, names: Names) -> Statement:
    """The same for all types that its own text leaves open, which are then written out."""
    taken = {*names.signatures, *statement.types, *(name for name, _ in statement.binders)}
    written, made = Types(names).decided(statement.body, dict(statement.binders), taken)
    if not made:
        return statement
    return Statement(
        types=(*statement.types, *made),
        instances=statement.instances,
        binders=statement.binders,
        hypotheses=statement.hypotheses,
        conclusion=statement.conclusion,
        intros=(*statement.types, *made, *statement.intros[len(statement.types) :]),
        written=written,
    )


def whole(statement: Statement) -> Term:
    """Hypotheses and conclusion under one head, for questions about all of them."""
    return Term("all", (*statement.hypotheses, statement.conclusion))


def is_instance(special: Statement, general: Statement) -> bool:
    """Whether one statement says of some values what the other says of all, hypotheses in the same order."""
    fixed = {name: Term(f"!{name}") for name, _ in special.binders}
    return match(whole(general), substitute(whole(special), fixed), {})


def weight(statement: Statement) -> tuple[int, int]:
    """Smaller is simpler; fewer variables break ties against instances."""
    return size(statement.body), -len(statement.binders)


def heads(statement: Statement) -> frozenset[str]:
    """Constants that occur in hypotheses and conclusion."""
    return constants(whole(statement))
