"""Which texts share most words with a query: one bit per text, so that the cost hardly grows with their number."""

from collections.abc import Collection, Iterable


class WordIndex:
    """Texts by the words in them. Places are 0, 1, 2 … in the order of adding."""

    def __init__(self) -> None:
        self._with_word: dict[str, int] = {}
        self._count = 0

    def add(self, words: Iterable[str]) -> None:
        """Add a text at the next place."""
        bit = 1 << self._count
        self._count += 1
        for word in set(words):
            self._with_word[word] = self._with_word.get(word, 0) | bit

    def best(self, words: Collection[str], *, limit: int, is_total: bool = False) -> list[tuple[int, int]]:
        """Return at most `limit` places, each with its number of the words: those with most first, then the latest.

        Texts without any of the words count only when `is_total`.
        """
        digits = self._scores(words)
        found: list[tuple[int, int]] = []
        for score in range(len(words), -1 if is_total else 0, -1):
            chosen = (1 << self._count) - 1 if score < 1 << len(digits) else 0
            for place, digit in enumerate(digits):
                chosen &= digit if score >> place & 1 else ~digit
            while chosen and len(found) < limit:
                latest = chosen.bit_length() - 1
                found.append((latest, score))
                chosen ^= 1 << latest
        return found

    def _scores(self, words: Collection[str]) -> list[int]:
        """The number of words in each text, in binary: entry k has the digit 2^k of all texts."""
        digits: list[int] = []
        for word in words:
            carry = self._with_word.get(word, 0)
            for place, digit in enumerate(digits):
                digits[place], carry = digit ^ carry, digit & carry
            if carry:
                digits.append(carry)
        return digits
