"""A proof by rewriting told step by step: the case splits are written out, each case is closed on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from .connectives import FALSE, TRUE, as_equation
from .printing import show
from .proving import Simp, Tactics
from .subgoals import Hint, Step, freed, plain
from .terms import Expr, Term, replace
from .theory import Datatype, Theory

MOST_CASES = 24
"""Cases of one proof; with more the text grows long and seldom helps."""

LONGEST = 6_000
"""Characters of such a proof: it stands beside others in one text, which has a limit."""


class TooLong(Exception):
    """There are more cases than anybody wants to check."""


def stepwise(hint: Hint, tactics: Tactics, theory: Theory, simp: Simp) -> str | None:
    """Proof text that splits as rewriting did; None when there is nothing to split, or too much."""
    if not any(step.kind in {"test", "cases"} for step in hint.steps):
        return None
    try:
        text = tactics.intro() + _Telling(hint, tactics, theory, _finish(simp)).text()
    except (TooLong, StopIteration):
        return None
    return text if len(text) <= LONGEST else None


def _finish(simp: Simp) -> str:
    rules = ", ".join(simp.rules)
    every = ", ".join((*simp.rules, "*"))
    last = msgspec.structs.replace(simp, splits=1).tactic()
    return f"(intros; first | (simp_all [{rules}]; done) | (simp [{every}]; done) | ({last}; done))"


class _Path(msgspec.Struct, frozen=True):
    """What was split on the way to a case."""

    values: tuple[tuple[Expr, Expr], ...] = ()
    """Each value that was taken apart and what it became, in order."""

    choices: Mapping[Expr, int] = {}
    """Which part each split came to; goals beside each other may split alike."""

    def now(self, expr: Expr) -> Expr:
        """An expression about the values as they are known here."""
        for old, new in self.values:
            expr = replace(expr, old, new)
        return expr

    def choosing(self, subject: Expr, part: int, value: Expr | None = None) -> _Path:
        """The path into one part."""
        values = self.values if value is None else (*self.values, (subject, value))
        return _Path(values, {**self.choices, subject: part})


class _Telling:
    """Writes the steps of one hint, in the order in which they were taken."""

    def __init__(self, hint: Hint, tactics: Tactics, theory: Theory, finish: str) -> None:
        self._hint = hint
        self._tactics = tactics
        self._theory = theory
        self._finish = finish
        self._cases = 0
        self._facts = 0

    def text(self) -> str:
        steps = iter(self._hint.steps)
        name = self._hint.variable
        if not name:
            return f"intros; {self._next(_subtree(steps), _Path())}"
        item = next(item for item in self._tactics.variables if item.name == name)
        found = f"induction {name}{self._tactics.generalizing(name)} with"
        for value, hypotheses in _values(item.datatype, name):
            pattern = " ".join([_pattern(value), *hypotheses])
            found += f" | {pattern} => (intros; {self._next(_subtree(steps), _Path())})"
        return found

    def _next(self, steps: Sequence[Step], path: _Path) -> str:
        """Text for subtrees that all have to be gone through, one within the other."""
        if not steps:
            self._cases += 1
            if self._cases > MOST_CASES:
                raise TooLong
            return self._finish
        first, rest = steps[0], iter(steps[1:])
        if first.kind in {"leaf", "pairs"}:
            return self._next(steps[1:], path)
        parts = [_subtree(rest) for _ in range(first.parts)]
        after = list(rest)
        subject = path.now(first.subject)
        chosen = path.choices.get(first.subject if first.kind == "cases" else subject)
        if chosen is not None:
            return self._next([*parts[chosen], *after], path)
        if first.kind == "test":
            self._facts += 1
            fact = f"test{self._facts}"
            texts = [self._next([*part, *after], path.choosing(subject, at)) for at, part in enumerate(parts)]
            return _test(freed(subject), fact, texts)
        assert isinstance(subject, Term)
        values = [value for value, _ in _values(self._theory.datatypes[first.datatype], subject.head)]
        rows = [
            f"| {_pattern(value)} => ({self._next([*part, *after], path.choosing(subject, at, value))})"
            for at, (part, value) in enumerate(zip(parts, values, strict=True))
        ]
        return f"cases {plain(subject.head)} with {' '.join(rows)}"


def _test(condition: Expr, fact: str, texts: list[str]) -> str:
    """A split on a condition, with the texts for when it holds and when it does not."""
    left, right = as_equation(condition)
    if right in {TRUE, FALSE}:
        words = ("true", "false") if right == TRUE else ("false", "true")
        rows = " ".join(f"| {word} => ({text})" for word, text in zip(words, texts, strict=True))
        return f"cases {fact} : ({show(left)}) with {rows}"
    return f"by_cases {fact} : ({show(condition)}); (focus {texts[0]}); (focus {texts[1]})"


def _subtree(steps: Iterator[Step]) -> list[Step]:
    """The next step with all that belongs to it."""
    first = next(steps)
    found = [first]
    for _ in range(first.parts):
        found += _subtree(steps)
    return found


def _values(datatype: Datatype, name: str) -> Iterator[tuple[Term, list[str]]]:
    """Each constructor applied to fields named as rewriting names them, and names for induction hypotheses."""
    for constructor in datatype.constructors:
        fields = tuple(Term(f"{name}.{index}") for index in range(len(constructor.args)))
        count = sum(isinstance(kind, Term) and kind.head == datatype.name for kind in constructor.args)
        yield Term(constructor.name, fields), [f"ih{index}" for index in range(count)]


def _pattern(value: Term) -> str:
    fields = [plain(field.head) for field in value.args if isinstance(field, Term)]
    return " ".join([value.head.rpartition(".")[2], *fields])
