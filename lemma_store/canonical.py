"""Which arguments a printed application may leave out without hiding what it means.

A reader takes `a + b` for the addition that everybody knows. So an instance is left out only when it is built from
instances of trusted modules, each of exactly the class that its place asks for; any other makes the printer write
the application in full.
"""

from collections.abc import Callable

from .declarations import Declaration, Kind
from .terms import BVAR, CONST, DEFAULT, INSTANCE, PI, Name, Node, Terms

_ANY_WILL_DO = frozenset({("Decidable",), ("DecidableEq",), ("DecidablePred",), ("DecidableRel",), ("Nonempty",)})
"""Classes whose instances are all equal: nothing hides behind them."""


class Canon:
    """Judges left-out arguments. `find` gives trusted declarations only."""

    def __init__(self, terms: Terms, find: Callable[[Name], Declaration | None]) -> None:
        self._terms = terms
        self._find = find

    def may_hide(self, constant: Declaration, arguments: list[int], styles: tuple[int, ...]) -> bool:
        """Return whether `constant arguments` reads the same without the arguments that are not explicit.

        `styles` gives the binder styles of the bound variables in scope, innermost last.
        """
        places = self.places(constant)
        for at, argument in enumerate(arguments[: len(places)]):
            style, type_ = places[at]
            if style == DEFAULT:
                continue
            if style == INSTANCE and not self._is_canonical(argument, self._place(type_, arguments, at), styles):
                return False
            if style != INSTANCE and not self._is_inferable(constant, at):
                return False
        return True

    def places(self, constant: Declaration) -> list[tuple[int, int]]:
        """Return binder style and type of each parameter of `constant`; a type sees the parameters before it."""
        found: list[tuple[int, int]] = []
        node: Node = self._terms.nodes[constant.type]
        while node[0] == PI:
            found.append((node[4], node[1]))
            node = self._terms.node(node[2])
        return found

    def _place(self, type_: int, arguments: list[int], at: int) -> int:
        return self._terms.instantiate(type_, arguments[:at])

    def _is_inferable(self, constant: Declaration, at: int) -> bool:
        """Return whether parameter `at` occurs in a later explicit parameter's type or in the result's."""
        places = self.places(constant)
        result = constant.type
        for _ in places:
            result = self._terms.nodes[result][2]
        later = [
            (type_, place - at - 1) for place, (style, type_) in enumerate(places) if place > at and style == DEFAULT
        ]
        return any(occurs(self._terms, type_, index) for type_, index in [*later, (result, len(places) - at - 1)])

    def _is_canonical(self, term: int, wanted: int, styles: tuple[int, ...]) -> bool:
        if self._head(wanted) in _ANY_WILL_DO:
            return True
        head, arguments = self._terms.spine(term)
        node = self._terms.nodes[head]
        if node[0] == BVAR:
            index: int = node[1]
            return not arguments and index < len(styles) and styles[-1 - index] == INSTANCE
        constant = self._find(node[1]) if node[0] == CONST else None
        if constant is None or constant.kind is not Kind.DEFINITION:
            return False
        places = self.places(constant)
        result = constant.type
        for _ in arguments:
            result = self._terms.nodes[result][2] if self._terms.nodes[result][0] == PI else result
        # Compared without universe levels: an instance's own are placeholders for those of its place.
        fits = len(places) == len(arguments) and self._head(result) == self._head(wanted) != ()
        same = fits and self._parts(self._terms.instantiate(result, arguments)) == self._parts(wanted)
        return same and self.may_hide_inner(arguments, places, styles)

    def may_hide_inner(self, arguments: list[int], places: list[tuple[int, int]], styles: tuple[int, ...]) -> bool:
        """Return whether the instances among the arguments of an instance are canonical themselves."""
        return all(
            self._is_canonical(argument, self._place(type_, arguments, at), styles)
            for at, (argument, (style, type_)) in enumerate(zip(arguments, places, strict=True))
            if style == INSTANCE
        )

    def _head(self, term: int) -> Name:
        node = self._terms.nodes[self._terms.spine(term)[0]]
        return node[1] if node[0] == CONST else ()

    def _parts(self, term: int) -> tuple[Name, list[int]]:
        return self._head(term), self._terms.spine(term)[1]


def occurs(terms: Terms, term: int, index: int) -> bool:
    """Return whether the variable `index` is loose in `term`."""
    stack, seen = [(term, index)], set[tuple[int, int]]()
    while stack:
        part = stack.pop()
        if part in seen or terms.loose(part[0]) <= part[1]:
            continue
        seen.add(part)
        node = terms.nodes[part[0]]
        if node[0] == BVAR:
            if node[1] == part[1]:
                return True
            continue
        stack += [(child, part[1] + under) for child, under in terms.under(node)]
    return False
