"""Which lemmas are most like a text, and which are worth trying on a goal; by their words alone."""

import heapq
import re

from .types import Lemma
from .word_index import WordIndex

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_BOUND = re.compile(r"[({\[⦃]([^(){}\[\]⦃⦄:]+) :|(?:∀|∃|fun|λ) ([^(){}\[\],:=]+)")
_LOOKED_AT = 300
"""So many that share most words are compared further."""


class Likeness:
    """Lemmas by the words of their names and statements; names of bound variables say nothing."""

    def __init__(self) -> None:
        self._lemmas: list[Lemma] = []
        self._index = WordIndex()
        self._said: list[frozenset[str]] = []

    def add(self, lemma: Lemma) -> None:
        """Add a lemma."""
        said = said_in(lemma.statement.pretty)
        self._lemmas.append(lemma)
        self._said.append(said)
        self._index.add(said | words_of(lemma.name) | words_of(lemma.author))

    def like(self, text: str, *, limit: int) -> list[Lemma]:
        """Return those that share most words with a text, of these the ones that say least else, then the newest.

        A text without words is like all of them.
        """
        wanted = words_of(text)
        found = self._index.best(wanted, limit=max(limit, _LOOKED_AT), is_total=not wanted)
        order = sorted((-shared, len(self._said[at] - wanted), -at) for at, shared in found)
        return [self._lemmas[-at] for _, _, at in order[:limit]]

    def may_close(self, goal: str, *, limit: int) -> list[Lemma]:
        """Return those that say least that the goal does not, of these the ones that say most of what it does."""
        wanted = said_in(goal)

        def rank(at: int) -> tuple[int, int, int]:
            said = self._said[at]
            common = len(said & wanted)
            return len(said) - common, -common, -at

        return [self._lemmas[at] for at in heapq.nsmallest(limit, range(len(self._lemmas)), key=rank)]


def words_of(text: str) -> set[str]:
    """Return the words of a text as they are searched for."""
    return {word.lower() for word in _WORD.findall(text)}


def said_in(statement: str) -> frozenset[str]:
    """Return the words of a statement that are not names of its bound variables."""
    bound = (name for groups in _BOUND.findall(statement) for names in groups for name in words_of(names))
    return frozenset(words_of(statement).difference(bound))
