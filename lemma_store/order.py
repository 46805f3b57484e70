"""A hash of a statement that the order of its independent hypotheses does not change.

Variables and hypotheses are put into an order that depends on what they say and not on where they stood; those that
look alike even by their uses keep their order. So equal hashes always mean that one statement is the other reordered.
"""

import hashlib

from .terms import CONST, PI, Name, Terms

MAX_BINDERS, MAX_TERMS = 16, 2_000
"""A statement with more has no such hash: it costs their product."""


def order_free_hash(terms: Terms, statement: int, params: tuple[Name, ...]) -> str:
    """Return the hash, as hex; empty for a statement with nothing to reorder, or with too much."""
    try:
        telescope = _telescope(terms, statement, params)
    except RecursionError:
        return ""
    return telescope.hash() if telescope else ""


def _telescope(terms: Terms, statement: int, params: tuple[Name, ...]) -> "_Telescope | None":
    places: list[int] = []
    binders: list[int] = []
    while terms.nodes[statement][0] == PI and len(binders) <= MAX_BINDERS:
        binders.append(terms.instantiate(terms.nodes[statement][1], places))
        statement = terms.nodes[statement][2]
        places.append(terms.add((CONST, ("", len(places)), ())))
    parts = [*binders, terms.instantiate(statement, places)]
    if not 1 < len(binders) <= MAX_BINDERS or sum(1 for _ in terms.walk(*parts)) > MAX_TERMS:
        return None
    return _Telescope(terms, parts, params)


class _Telescope:
    """The types of variables and hypotheses, then the conclusion; each names the others by placeholders."""

    def __init__(self, terms: Terms, parts: list[int], params: tuple[Name, ...]) -> None:
        self._terms, self._parts, self._params = terms, parts, params
        self._needs = [
            {place for name in terms.constants(part) if (place := _place(name)) is not None} for part in parts
        ]

    def hash(self) -> str:
        order = self._order(self._looks())
        position = {binder: str(at) for at, binder in enumerate(order)}
        whole = "".join(self._digest(part, position) for part in (*order, len(self._parts) - 1))
        return hashlib.sha256(whole.encode()).hexdigest()

    def _digest(self, part: int, called: dict[int, str]) -> str:
        def name_of(name: Name) -> Name:
            place = _place(name)
            return name if place is None else ("", called.get(place, ""))

        return self._terms.digest(self._parts[part], self._params, name_of).hex()

    def _looks(self) -> list[str]:
        """How each binder looks from its type, and then from what is said of it."""
        looks: list[str] = []
        for at in range(len(self._parts) - 1):
            looks.append(self._digest(at, dict(enumerate(looks))))
        called = dict(enumerate(looks))
        found: list[str] = []
        for at, look in enumerate(looks):
            users = [part for part, needs in enumerate(self._needs) if at in needs]
            said = (called.get(part, "") + self._digest(part, {**called, at: "self"}) for part in users)
            found.append("".join([look, *sorted(said)]))
        return found

    def _order(self, looks: list[str]) -> list[int]:
        placed: list[int] = []
        left = list(range(len(looks)))
        while left:
            free = [at for at in left if self._needs[at] <= set(placed)]
            placed.append(min(free, key=lambda at: (looks[at], at)))
            left.remove(placed[-1])
        return placed


def _place(name: Name) -> int | None:
    """The binder that a placeholder stands for."""
    return name[1] if len(name) == 2 and name[0] == "" and isinstance(name[1], int) else None
