"""Reading Lean terms: a tokenizer and an operator-precedence parser."""

from __future__ import annotations

import re

import msgspec

from .terms import ARROW, Binding, Expr, Match, Term, apply


class NotInSubset(Exception):
    """The text uses syntax that the tactician does not read."""


TOKEN = re.compile(
    r"(?P<space>\s+|--[^\n]*|/-.*?-/)"
    r"|(?P<name>@?[A-Za-z_\u0370-\u03ba\u03bc-\u03ff\u1d00-\u1dbf\u2100-\u214f][\w'!?\u271d\u00b9\u00b2\u00b3\u2070-\u2079\u2080-\u209c]*"
    r"(?:\.[A-Za-z_0-9][\w'!?\u271d]*)*)"
    r"|(?P<number>\d+)"
    r"|(?P<dot>\.[A-Za-z_][\w'!?]*)"
    r"|(?P<symbol>:=|=>|\u21a6|->|::|\+\+|&&|\|\||<=|>=|!=|==|<\|>|\.\.|[^\s\w])",
    re.DOTALL,
)

# Operator -> (left binding power, right binding power, head in our terms).
INFIX: dict[str, tuple[int, int, str]] = {
    "→": (25, 25, ARROW),
    "->": (25, 25, ARROW),
    "↔": (20, 21, "↔"),
    "∨": (30, 30, "∨"),
    "∧": (35, 35, "∧"),
    "||": (30, 31, "Bool.or"),
    "&&": (35, 36, "Bool.and"),
    "=": (50, 51, "="),
    "≠": (50, 51, "≠"),
    "==": (50, 51, "=="),
    "≤": (50, 51, "≤"),
    "<=": (50, 51, "≤"),
    "<": (50, 51, "<"),
    "≥": (50, 51, "≥"),
    ">": (50, 51, ">"),
    "∈": (50, 51, "∈"),
    "::": (67, 67, "List.cons"),
    "++": (65, 66, "++"),
    "+": (65, 66, "+"),
    "-": (65, 66, "-"),
    "*": (70, 71, "*"),
    "/": (70, 71, "/"),
    "%": (70, 71, "%"),
    "^": (75, 75, "^"),
    "×": (35, 35, "Prod"),
    "∘": (90, 90, "∘"),
}
PREFIX = {"¬": (40, "¬"), "!": (1000, "Bool.not"), "-": (75, "-")}
STOP_WORDS = frozenset(
    {"then", "else", "with", "fun", "if", "match", "let", "have", "from", "by", "in", "termination_by", "deriving"}
)


class Token(msgspec.Struct, frozen=True):
    """One token and whether blank space stood before it."""

    kind: str
    text: str
    is_spaced: bool
    column: int = 0


def tokenize(text: str) -> list[Token]:
    """Split text; comments vanish."""
    tokens: list[Token] = []
    at, is_spaced = 0, True
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise NotInSubset(f"cannot read {text[at : at + 10]!r}")
        at = found.end()
        if found.lastgroup == "space":
            is_spaced = True
            continue
        column = found.start() - text.rfind("\n", 0, found.start()) - 1
        tokens.append(Token(found.lastgroup, found.group(), is_spaced, column))
        is_spaced = False
    return tokens


class Parser:
    """Reads one token list; every method consumes what it returns."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._at = 0

    def peek(self) -> str:
        """Text of the next token, empty at the end."""
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def take(self, expected: str | None = None) -> Token:
        """The next token, which must be `expected` when given."""
        if self._at >= len(self._tokens) or (expected is not None and self.peek() != expected):
            raise NotInSubset(f"expected {expected or 'more'} but found {self.peek() or 'the end'}")
        self._at += 1
        return self._tokens[self._at - 1]

    def skip(self, text: str) -> bool:
        """Consume the token if it is next."""
        if self.peek() == text:
            self._at += 1
            return True
        return False

    def expression(self, power: int = 0) -> Expr:
        """An expression whose operators bind at least as tightly as `power`."""
        left = self._prefixed()
        while (operator := INFIX.get(self.peek())) and operator[0] >= power:
            self.take()
            left = Term(operator[2], (left, self.expression(operator[1])))
        return left

    def _prefixed(self) -> Expr:
        text = self.peek()
        if text in PREFIX:
            self.take()
            power, head = PREFIX[text]
            return Term(head, (self.expression(power) if power < 1000 else self._atom(),))
        if text in {"fun", "λ", "∀", "∃"}:
            return self._binder(self.take().text)
        if text == "if":
            return self._conditional()
        if text == "match":
            return self._match()
        if text in {"let", "have"}:
            return self._let()
        return self._application()

    def _application(self) -> Expr:
        function = self._atom()
        args: list[Expr] = []
        while self._starts_atom():
            args.append(self._binder(self.take().text) if self.peek() in {"fun", "λ"} else self._atom())
        return apply(function, tuple(args))

    def _starts_atom(self) -> bool:
        if self._at >= len(self._tokens):
            return False
        token = self._tokens[self._at]
        if token.kind == "name":
            return token.text == "fun" or token.text not in STOP_WORDS
        return token.kind in {"number", "dot"} or token.text in {"(", "[", "λ", "⟨"}

    def _atom(self) -> Expr:
        token = self.take()
        if token.kind in {"name", "dot", "number"}:
            if token.text in STOP_WORDS:
                raise NotInSubset(f"unexpected {token.text}")
            result: Expr = Term(token.text)
        elif token.text == "(":
            result = self._parenthesis()
        elif token.text == "[":
            result = self._list()
        else:
            raise NotInSubset(f"unexpected {token.text}")
        return self._fields(result)

    def _fields(self, result: Expr) -> Expr:
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind != "dot" or token.is_spaced:
                break
            self._at += 1
            result = Term(token.text, (result,))
        return result

    def _parenthesis(self) -> Expr:
        if self.skip(")"):
            return Term("Unit.unit")
        result = self.expression()
        if self.skip(":"):
            self.expression()
        if self.skip(","):
            rest = self._parenthesis()
            return Term("Prod.mk", (result, rest))
        self.take(")")
        return result

    def _list(self) -> Expr:
        items: list[Expr] = []
        while not self.skip("]"):
            items.append(self.expression())
            self.skip(",")
        result: Expr = Term("List.nil")
        for item in reversed(items):
            result = Term("List.cons", (item, result))
        return result

    def binders(self) -> list[tuple[str, Expr | None, str]]:
        """Binder groups: (name, type, opening bracket), until something else stands next."""
        found: list[tuple[str, Expr | None, str]] = []
        while True:
            opening = self.peek()
            if opening in {"(", "{", "[", "⦃"}:
                self.take()
                found += self._group(opening)
            elif self._starts_atom() and self._tokens[self._at].kind == "name":
                found.append((self.take().text, None, "("))
            else:
                return found

    def _group(self, opening: str) -> list[tuple[str, Expr | None, str]]:
        closing = {"(": ")", "{": "}", "[": "]", "⦃": "⦄"}[opening]
        start = self._at
        names: list[str] = []
        while self._tokens[self._at].kind == "name":
            names.append(self.take().text)
            if self._at >= len(self._tokens):
                raise NotInSubset("a binder is not closed")
        if not self.skip(":"):
            self._at, names = start, ["_inst"]
        kind = self.expression()
        self.take(closing)
        return [(name, kind, opening) for name in names]

    def _binder(self, word: str) -> Expr:
        kind = {"λ": "fun"}.get(word, word)
        found = self.binders()
        if self.skip(":"):
            shared = self.expression()
            found = [(name, shared, style) for name, _, style in found]
        separator = self.take().text
        if separator not in {"=>", "↦", ","}:
            raise NotInSubset(f"unexpected {separator} after binders")
        body = self.expression()
        for name, annotation, style in reversed(found):
            body = Binding(kind, name, annotation, body, style)
        return body

    def _conditional(self) -> Expr:
        self.take("if")
        if self._at + 1 < len(self._tokens) and self._tokens[self._at + 1].text == ":":
            self._at += 2
        condition = self.expression()
        self.take("then")
        yes = self.expression()
        self.take("else")
        return Term("ite", (condition, yes, self.expression()))

    def _match(self) -> Expr:
        self.take("match")
        scrutinees = [self.expression()]
        while self.skip(","):
            scrutinees.append(self.expression())
        self.take("with")
        return Match(tuple(scrutinees), tuple(self.rows()))

    def rows(self) -> list[tuple[tuple[Expr, ...], Expr]]:
        """Rows of a match or of an equational definition; one further left belongs to what is around."""
        found: list[tuple[tuple[Expr, ...], Expr]] = []
        first = self._tokens[self._at].column if self.peek() == "|" else 0
        while self.peek() == "|" and self._tokens[self._at].column >= first:
            self.take()
            patterns = [self.expression()]
            while self.skip(","):
                patterns.append(self.expression())
            self.take("=>")
            found.append((tuple(patterns), self.expression()))
        return found

    def _let(self) -> Expr:
        self.take()
        name = self.take().text
        if self.skip(":"):
            self.expression()
        self.take(":=")
        value = self.expression()
        self.skip(";")
        return Binding("let", name, value, self.expression())

    def is_done(self) -> bool:
        """Whether everything was read."""
        return self._at >= len(self._tokens)


def parse(text: str) -> Expr:
    """One expression that must fill the whole text."""
    parser = Parser(text)
    result = parser.expression()
    if not parser.is_done():
        raise NotInSubset(f"cannot read on at {parser.peek()!r}")
    return result
