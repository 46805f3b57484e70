"""Does a text give away a task? Runs of words that it shares with a statement, and names that belong to a solution."""

import re
from collections.abc import Iterable, Iterator

import msgspec

RUN = 5
"""Words in a row that a text may not share with a statement; a shorter statement counts as a whole."""

MIN_WORDS = 2
"""Different words with a meaning in a run that counts."""

MIN_NAME = 4
_WORDS = re.compile(r"[^\W\d_][\w'!?.]*|[^\s\w(),:;.`{}\[\]]+|\d+")
_VARIABLE = re.compile(r"[^\W\d_]{1,2}[\d'₀-₉_]*")
_BINDERS = re.compile(r"^(\s*(∀|forall)[^,]*,)+")
_PLAIN = {"forall", "theorem", "lemma", "fun", "true", "false", "not", "and", "or", "if", "then", "else", "list", "nat"}
"""Words that every statement may have: a run of nothing else gives nothing away."""


class LeakGuard(msgspec.Struct, frozen=True, kw_only=True):
    """What no version may contain.

    Attributes:
        runs: words in a row of the statements, in the form that `runs_of` gives → the task.
        names: of theorems, lemmas and tasks.
    """

    runs: dict[tuple[str, ...], str]
    names: frozenset[str]

    def found_in(self, text: str, *, known: str = "") -> list[str]:
        """What `text` gives away and `known`, the text before the change, did not; one line each."""
        sizes = {len(run) for run in self.runs}
        old = {run for size in sizes for run in runs_of(known, size)}
        new = {run for size in sizes for run in runs_of(text, size)} - old
        leaks = {task: run for run in sorted(new) if (task := self.runs.get(run)) is not None}
        lines = [f"shares {' '.join(run)!r} with the statement of {task}" for task, run in sorted(leaks.items())]
        names = (self.names & _names_in(text)) - _names_in(known)
        return lines + [f"names {name!r}, which belongs to a task or a solution" for name in sorted(names)]


def leak_guard(statements: Iterable[tuple[str, str]], names: Iterable[str] = ()) -> LeakGuard:
    """A guard for (task, statement) and for names; names of fewer than four characters are left out."""
    runs: dict[tuple[str, ...], str] = {}
    for task, statement in statements:
        body = _BINDERS.sub("", statement)
        for run in runs_of(body, min(RUN, len(_normal(body)))):
            runs.setdefault(run, task)
    return LeakGuard(runs=runs, names=frozenset(name for name in names if len(name) >= MIN_NAME))


def runs_of(text: str, size: int) -> Iterator[tuple[str, ...]]:
    """Runs of `size` words that say something: all variables count as one word, brackets and commas as none."""
    words = _normal(text)
    for start in range(len(words) - size + 1):
        run = tuple(words[start : start + size])
        if len({word for word in run if word[0].isalpha() and word not in _PLAIN}) >= MIN_WORDS:
            yield run


def _normal(text: str) -> list[str]:
    plain = (word.rstrip(".!?") for word in _WORDS.findall(text))
    return ["_" if _VARIABLE.fullmatch(word) else word.lower() for word in plain if word]


def _names_in(text: str) -> set[str]:
    return {word.rstrip(".!?") for word in re.findall(r"[\w'.!?/]+", text)} | set(re.findall(r"[\w']+", text))
