"""Kernel terms as an interned arena: equal terms are equal integers, and no walk recurses.

A term is an index into `Terms`. Its node is a tuple whose first item is a tag:

| node                                  | meaning                                     |
|---------------------------------------|---------------------------------------------|
| `(BVAR, i)`                           | bound variable, de Bruijn index             |
| `(SORT, level)`                       | `Sort level`                                |
| `(CONST, name, levels)`               | constant with universe arguments            |
| `(APP, f, a)`                         | application                                 |
| `(LAM, t, b, binder, style)`, `(PI, …)` | binder type and body                      |
| `(LET, t, v, b, binder)`              | `let`                                       |
| `(LIT, value)`                        | `int` or `str` literal                      |
| `(PROJ, structure, i, e)`             | structure projection                        |
| `(ZERO,)`, `(SUCC, l)`, `(MAX, a, b)`, `(IMAX, a, b)`, `(PARAM, name)` | universe levels |

Metadata is dropped on reading: the kernel ignores it. Free variables and metavariables have no node.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

BVAR, SORT, CONST, APP, LAM, PI, LET, LIT, PROJ = 0, 3, 4, 5, 6, 7, 8, 9, 11
ZERO, SUCC, MAX, IMAX, PARAM = 20, 21, 22, 23, 24

DEFAULT, IMPLICIT, STRICT_IMPLICIT, INSTANCE = 0, 1, 2, 3
"""Binder styles: `(x)`, `{x}`, `⦃x⦄`, `[x]`."""

Name = tuple[str | int, ...]
"""Components from the root; the empty tuple is Lean's anonymous name."""

Node = tuple[Any, ...]

# Where the child terms of a node stand in its tuple.
_CHILDREN: Mapping[int, slice] = {
    BVAR: slice(0, 0), SORT: slice(1, 2), APP: slice(1, 3), LAM: slice(1, 3), PI: slice(1, 3),
    LET: slice(1, 4), LIT: slice(0, 0), PROJ: slice(3, 4), ZERO: slice(0, 0), SUCC: slice(1, 2),
    MAX: slice(1, 3), IMAX: slice(1, 3), PARAM: slice(0, 0),
}  # fmt: skip
_NAMED, _PAIRS = (CONST, PROJ), (APP, LAM, PI)
_APP_LABEL = b"5"
# How many binders stand above the last child.
_BINDS: Mapping[int, int] = {LAM: 1, PI: 1, LET: 1}
_MAX_ORDERS = 32


def dotted(name: Name) -> str:
    """Return `name` as people write it."""
    return ".".join(str(part) for part in name)


def undotted(text: str) -> Name:
    """Return the name that `text` writes; numbers stay text, as in Lean source."""
    return tuple(text.split(".")) if text else ()


def children(node: Node) -> tuple[int, ...]:
    """Return the child terms of `node`, universe levels included."""
    return node[2] if node[0] == CONST else node[_CHILDREN[node[0]]]


class Terms:
    """An arena of interned terms. Grows only; not safe for threads."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._index: dict[Node, int] = {}
        self._settled: dict[Node, int] = {}
        """The index of terms from before `branch`."""
        self._open: list[int] = []
        self._constants: dict[int, frozenset[Name]] = {}
        self._orders: dict[int, list[int]] = {}
        """Of a few roots: the terms below, children first."""

    def _again(self, node: Node, below: Sequence[int]) -> int:
        if node[0] == CONST:
            return self.add((CONST, node[1], tuple(below)))
        where = _CHILDREN[node[0]]
        return self.add((*node[: where.start], *below, *node[where.stop :]) if below else node)

    def add(self, node: Node) -> int:
        """Return the term of `node`, whose children must be terms of this arena."""
        index = self._index
        found = index.get(node)
        if found is None:
            found = self._settled.get(node)
        if found is not None:
            return found
        open_ = self._open
        term = index[node] = len(open_)
        if node[0] in _PAIRS:
            left: int = node[1]
            right: int = node[2]
            open_.append(max(open_[left], open_[right] - (node[0] != APP)))
        else:
            open_.append(self._measure(node, children(node)))
        self.nodes.append(node)
        return term

    def branch(self) -> None:
        """Index new terms apart from now on, so that a fork leaves its parent's index as it is. Once only."""
        self._settled, self._index = self._index, {}

    def node(self, term: int) -> Node:
        """Return the node of `term`."""
        return self.nodes[term]

    def _measure(self, node: Node, below: tuple[int, ...]) -> int:
        if node[0] == BVAR:
            return node[1] + 1
        found = [self._open[child] for child in below]
        if node[0] in _BINDS:
            found[-1] -= 1
        return max(found, default=0)

    def loose(self, term: int) -> int:
        """Return one more than the largest loose bound variable; 0 for a closed term."""
        return max(0, self._open[term])

    def walk(self, *roots: int) -> Iterator[Node]:
        """Yield the node of every term below `roots` once, in no promised order."""
        yield from map(self.nodes.__getitem__, self._reach(roots, ()))

    def _reach(self, roots: Iterable[int], without: Container[int]) -> set[int]:
        """Return the terms below `roots`, and these, without going into those in `without`."""
        seen = set(roots)
        stack = list(seen)
        nodes = self.nodes
        while stack:
            node = nodes[stack.pop()]
            for child in node[1:] if node[0] == APP else children(node):
                if child not in seen and child not in without:
                    seen.add(child)
                    stack.append(child)
        return seen

    def _order(self, root: int) -> list[int]:
        """Return the terms below `root`, and it, children first: as they came in."""
        found = self._orders.get(root)
        if found is None:
            if len(self._orders) == _MAX_ORDERS:
                self._orders.clear()
            found = self._orders[root] = sorted(self._reach([root], ()))
        return found

    def constants(self, *roots: int) -> set[Name]:
        """Return the names of all constants below `roots`, structures of projections included."""
        return set[Name]().union(*map(self._constants_below, roots))

    def _constants_below(self, root: int) -> frozenset[Name]:
        found = self._constants.get(root)
        if found is None:
            nodes = map(self.nodes.__getitem__, self._order(root))
            found = self._constants[root] = frozenset([node[1] for node in nodes if node[0] in _NAMED])
        return found

    def fold(
        self, root: int, apply: Callable[[Any, Any], Any], build: Callable[[Node, list[Any]], Any], memo: dict[int, Any]
    ) -> Any:
        """Return the result for `root`, each term visited once, children first.

        An application, which most terms are, becomes `apply` of its parts' results, another term
        `build(node, results of its children)`.
        """
        if root not in memo:
            nodes = self.nodes
            for term in self._orders.get(root) or sorted(self._reach([root], memo)):
                node = nodes[term]
                if term in memo:
                    continue
                if node[0] == APP:
                    memo[term] = apply(memo[node[1]], memo[node[2]])
                else:
                    memo[term] = build(node, [memo[child] for child in children(node)])
        return memo[root]

    def rename(self, root: int, names: Mapping[Name, Name], memo: dict[int, int]) -> int:
        """Return `root` with the constants and projection structures in `names` renamed; `memo` is for these names."""
        constants, nodes = self._constants_below(root), self.nodes
        if names.keys().isdisjoint(constants):
            return root
        for term in self._order(root):
            node = nodes[term]
            if term in memo:
                continue
            if node[0] == APP:
                left, right = memo[node[1]], memo[node[2]]
                memo[term] = term if left == node[1] and right == node[2] else self.add((APP, left, right))
            else:
                if node[0] in _NAMED and node[1] in names:
                    node = (node[0], names[node[1]], *node[2:])
                memo[term] = self._again(node, [memo[child] for child in children(node)])
        self._constants[memo[root]] = frozenset([names.get(name, name) for name in constants])
        return memo[root]

    def spine(self, term: int) -> tuple[int, list[int]]:
        """Return the head and the arguments of an application; a head alone has none."""
        arguments: list[int] = []
        node = self.nodes[term]
        while node[0] == APP:
            arguments.append(node[2])
            term = node[1]
            node = self.nodes[term]
        return term, arguments[::-1]

    def under(self, node: Node) -> list[tuple[int, int]]:
        """Return the children of `node`, each with the number of binders that `node` puts above it."""
        below = children(node)
        last = len(below) - 1
        return [(child, _BINDS.get(node[0], 0) if at == last else 0) for at, child in enumerate(below)]

    def instantiate(self, root: int, values: Sequence[int]) -> int:
        """Return `root` with its loose variables replaced: variable `i` by `values[-1 - i]`, later ones lowered.

        Recurses, so it is for types of moderate depth; others end in `RecursionError`.
        """

        def replace(index: int, depth: int) -> int:
            is_bound = index < len(values)
            return self.lift(values[-1 - index], depth) if is_bound else self.add((BVAR, index - len(values) + depth))

        return self._replace(root, 0, replace, {})

    def lift(self, root: int, by: int) -> int:
        """Return `root` with its loose variables raised by `by`. Recurses."""
        return self._replace(root, 0, lambda index, depth: self.add((BVAR, index + by + depth)), {}) if by else root

    def _replace(
        self, term: int, depth: int, replace: Callable[[int, int], int], memo: dict[tuple[int, int], int]
    ) -> int:
        """Return `term` with `replace(index, depth)` for each loose variable, whose index counts from `depth`."""
        if self.loose(term) <= depth:
            return term
        if (found := memo.get((term, depth))) is not None:
            return found
        node = self.nodes[term]
        if node[0] == BVAR:
            return replace(node[1] - depth, depth)
        below = tuple(self._replace(child, depth + binders, replace, memo) for child, binders in self.under(node))
        where = _CHILDREN[node[0]]
        memo[term, depth] = found = self.add((*node[: where.start], *below, *node[where.stop :]))
        return found

    def digest(
        self,
        root: int,
        params: tuple[Name, ...],
        name_of: Callable[[Name], Name] = lambda name: name,
        *,
        memo: dict[int, bytes] | None = None,
    ) -> bytes:
        """Return a SHA-256 of `root`, blind to binder names, binder styles and universe parameter names.

        `params` gives the parameters their positions; `name_of` may replace constant names. A `memo` serves terms with
        the same of both.
        """
        position = {param: at for at, param in enumerate(params)}

        def apply(function: bytes, argument: bytes) -> bytes:
            return sha256(_APP_LABEL + function + argument).digest()

        def build(node: Node, below: list[bytes]) -> bytes:
            label = _label(node, position, name_of).encode("utf-8", "surrogatepass")
            return sha256(label + b"".join(below)).digest()

        return self.fold(root, apply, build, {} if memo is None else memo)


def _label(node: Node, position: Mapping[Name, int], name_of: Callable[[Name], Name]) -> str:
    tag = node[0]
    if tag in (CONST, PROJ):
        return f"{tag} {name_of(node[1])!r} {node[2] if tag == PROJ else ''}"
    if tag == PARAM:
        return f"{tag} {position.get(node[1], node[1])!r}"
    if tag in (BVAR, LIT):
        return f"{tag} {node[1]!r}"
    return f"{tag}"
