"""Reading a problem: its inductive types, its functions and the statement to prove."""

from __future__ import annotations

import re

from .syntax import NotInSubset, Parser
from .terms import ARROW, TYPE, Binding, Expr, Match, Term, arrow_parts
from .theory import BUILT_IN, Constructor, Datatype, Function, Theory

_SHORT = {"Bool.true": "true", "Bool.false": "false"}
_COMMAND = re.compile(
    r"^(?=(?:@\[[^\]]*\]\s*)?(?:inductive|structure|def|theorem|lemma|abbrev|opaque|instance|mutual|end\b|namespace|section|variable|open|axiom|set_option|private|protected|noncomputable|#))",
    re.MULTILINE,
)


_MODIFIERS = re.compile(r"^(@\[[^\]]*\]\s*)?((private|protected|noncomputable)\s+)*")


def split_commands(source: str) -> list[str]:
    """The text cut at lines that begin a command."""
    text = re.sub(r"/-.*?-/", "", source, flags=re.DOTALL)
    text = re.sub(r"--[^\n]*", "", text)
    return [part.strip() for part in _COMMAND.split(text) if part.strip()]


def read_theory(source: str) -> Theory:
    """All declarations of a problem; what cannot be read is listed in `unread`."""
    datatypes = dict(BUILT_IN)
    functions: dict[str, Function] = {}
    sorts: list[str] = []
    unread: list[str] = []
    scopes: list[str] = []
    namespaces: dict[str, None] = {}
    for command in split_commands(source):
        word, _, rest = _MODIFIERS.sub("", command).partition(" ")
        space = ".".join(filter(None, scopes))
        try:
            if word.split("\n")[0] in {"namespace", "section", "mutual", "end"}:
                _enter(scopes, command.split())
            elif word == "inductive":
                kind = _read_inductive(rest, space)
                datatypes[kind.name] = kind
                namespaces[space] = None
            elif word in {"def", "abbrev"}:
                function = _read_function(rest, space)
                functions[function.name] = function
                namespaces[space] = None
            elif word in {"opaque", "axiom"}:
                sorts.append(rest.split()[0])
        except (NotInSubset, IndexError):
            unread.append(rest.split()[0] if rest.split() else word)
    theory = Theory(datatypes, functions, tuple(sorts), tuple(unread), tuple(filter(None, namespaces)))
    return _resolved(theory)


def _enter(scopes: list[str], words: list[str]) -> None:
    """Keep the list of open namespaces; an empty name stands for a section."""
    parts = words[1].split(".") if len(words) > 1 else [""]
    if words[0] == "end":
        del scopes[max(0, len(scopes) - len(parts)) :]
    else:
        scopes += parts if words[0] == "namespace" else [""] * len(parts)


def _read_inductive(text: str, space: str) -> Datatype:
    text = re.sub(r"\bderiving\b.*", "", text, flags=re.DOTALL)
    parser = Parser(text.replace(" where", " :=", 1) if " where" in text else text)
    name = _full(parser.take().text, space)
    params = tuple(param for param, _, _ in parser.binders())
    if parser.skip(":"):
        parser.expression()
    parser.skip(":=")
    found: list[Constructor] = []
    while parser.skip("|"):
        short = parser.take().text.removeprefix(".")
        args = [kind for _, kind, style in parser.binders() if kind is not None and style == "("]
        if parser.skip(":"):
            args += arrow_parts(parser.expression())[0]
        found.append(Constructor(f"{name}.{short}", tuple(args)))
    if not parser.is_done():
        raise NotInSubset(f"inductive type {name}")
    return Datatype(name, params, tuple(found))


def _full(name: str, space: str) -> str:
    return f"{space}.{name}" if space else name


def _read_function(text: str, space: str) -> Function:
    text = re.split(r"^\s*(?:termination_by|decreasing_by|deriving)\b", text, maxsplit=1, flags=re.MULTILINE)[0]
    parser = Parser(text)
    name = _full(parser.take().text, space)
    binders = parser.binders()
    parser.take(":")
    kind = parser.expression()
    params = tuple(param for param, what, _ in binders if what == TYPE)
    explicit = [(param, what) for param, what, style in binders if style == "(" and what is not None and what != TYPE]
    given = tuple(Term(param, (), True) for param, _ in explicit)
    args = tuple(what for _, what in explicit)
    if parser.skip(":="):
        rows: list[tuple[tuple[Expr, ...], Expr]] = [(given, parser.expression())]
        result = kind
    else:
        rows = [(given + patterns, body) for patterns, body in parser.rows()]
        arity = len(rows[0][0]) - len(given)
        more, result = _peel(kind, arity)
        args += more
    if not parser.is_done():
        raise NotInSubset(f"definition of {name}")
    return Function(name, params, args, result, tuple(rows))


def _peel(kind: Expr, count: int) -> tuple[tuple[Expr, ...], Expr]:
    args: list[Expr] = []
    for _ in range(count):
        if not isinstance(kind, Term) or kind.head != ARROW:
            raise NotInSubset("more patterns than arguments")
        args.append(kind.args[0])
        kind = kind.args[1]
    return tuple(args), kind


class Names:
    """Tells variables from constants and completes shortened constructor names."""

    def __init__(self, theory: Theory) -> None:
        self.signatures = theory.signatures()
        self._known = {*self.signatures, *theory.datatypes, *theory.sorts, "Int", "Type", "Prop", "True", "False"}
        spaces = sorted(theory.namespaces, key=len)
        self._full = {
            name.removeprefix(f"{space}."): name
            for space in spaces
            for name in self._known
            if name.startswith(f"{space}.")
        }
        """Name without its namespace → name."""
        self._by_suffix: dict[str, list[str]] = {}
        for name in sorted(self.signatures, key=lambda name: name.partition(".")[0] in BUILT_IN):
            self._by_suffix.setdefault(name.rpartition(".")[2], []).append(name)

    def resolve(self, expr: Expr, bound: frozenset[str] = frozenset(), expected: str = "") -> Expr:
        """The same expression with `is_var` set and full names; unknown names become variables."""
        if isinstance(expr, Term):
            return self._resolve_term(expr, bound, expected)
        if isinstance(expr, Binding):
            kind = None if expr.type is None else self.resolve(expr.type, bound)
            return Binding(expr.kind, expr.name, kind, self.resolve(expr.body, bound | {expr.name}), expr.style)
        rows = tuple(self.resolve_row(row, bound, result=expected) for row in expr.rows)
        return Match(tuple(self.resolve(item, bound) for item in expr.scrutinees), rows)

    def resolve_row(
        self,
        row: tuple[tuple[Expr, ...], Expr],
        bound: frozenset[str] = frozenset(),
        *,
        kinds: tuple[Expr, ...] = (),
        result: str = "",
    ) -> tuple[tuple[Expr, ...], Expr]:
        """A row whose pattern variables are bound in its body."""
        expected = [_head(kind) for kind in kinds] or [""] * len(row[0])
        patterns = tuple(
            self.resolve(pattern, frozenset(), hint) for pattern, hint in zip(row[0], expected, strict=True)
        )
        names = _pattern_names(patterns)
        return patterns, self.resolve(row[1], bound | names, result)

    def _resolve_term(self, term: Term, bound: frozenset[str], expected: str) -> Expr:
        args = self._resolve_args(term, bound)
        head = _SHORT.get(term.head, term.head)
        if head in bound:
            return Term(head, args, True)
        head = head if head in self._known else self._full.get(head, head)
        if head.startswith("@"):
            name = head[1:]
            dropped = len(self.signatures[name].params) if name in self.signatures else 0
            return Term(name, args[dropped:], name not in self._known)
        if head.startswith("."):
            return self._complete(head[1:], args, expected)
        stem, dot, field = head.rpartition(".")
        if dot and head not in self._known and (stem in bound or field in self._by_suffix):
            return self._complete(field, (self.resolve(Term(stem), bound), *args), expected)
        is_operator = not (head[:1].isalpha() or head[:1] == "_") or head in {"ite", "apply", "Prod", "Prod.mk"}
        return Term(head, args, head not in self._known and not is_operator and not head[:1].isdigit())

    def _resolve_args(self, term: Term, bound: frozenset[str]) -> tuple[Expr, ...]:
        known = self.signatures.get(term.head.lstrip("@"))
        hints = [_head(kind) for kind in known.args] if known and not term.head.startswith("@") else []
        hints += [""] * (len(term.args) - len(hints))
        return tuple(self.resolve(arg, bound, hint) for arg, hint in zip(term.args, hints, strict=False))

    def _complete(self, suffix: str, args: tuple[Expr, ...], expected: str) -> Expr:
        if f"{expected}.{suffix}" in self.signatures:
            return Term(f"{expected}.{suffix}", args)
        options = self._by_suffix.get(suffix, [])
        fitting = [name for name in options if len(self.signatures[name].args) == len(args)] or options
        return Term(fitting[0], args) if fitting else Term(suffix, args, True)


def _head(kind: Expr) -> str:
    return kind.head if isinstance(kind, Term) else ""


def _pattern_names(patterns: tuple[Expr, ...]) -> frozenset[str]:
    found: set[str] = set()
    pending = list(patterns)
    while pending:
        expr = pending.pop()
        if isinstance(expr, Term):
            if expr.is_var:
                found.add(expr.head)
            pending += expr.args
    return frozenset(found)


def _resolved(theory: Theory) -> Theory:
    names = Names(theory)
    datatypes = {
        name: Datatype(
            kind.name,
            kind.params,
            tuple(
                Constructor(item.name, tuple(names.resolve(arg, frozenset(kind.params)) for arg in item.args))
                for item in kind.constructors
            ),
        )
        for name, kind in theory.datatypes.items()
    }
    functions: dict[str, Function] = {}
    for name, function in theory.functions.items():
        bound = frozenset(function.params)
        args = tuple(names.resolve(arg, bound) for arg in function.args)
        result = names.resolve(function.result, bound)
        functions[name] = Function(
            name,
            function.params,
            args,
            result,
            tuple(names.resolve_row(row, kinds=args, result=_head(result)) for row in function.rows),
        )
    return Theory(datatypes, functions, theory.sorts, theory.unread, theory.namespaces)
