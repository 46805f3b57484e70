"""Which open node is worth most to an agent that looks for work."""

from collections.abc import Iterable, Sequence

from .types import Candidate


def needed_nodes(candidates: Iterable[Candidate]) -> frozenset[str]:
    """Return the ids of the nodes that the theorem, or a part that nobody has linked yet, may still need.

    What only serves closed parts is not needed any more, although it is open.
    """
    candidates = list(candidates)
    under: dict[str, list[str]] = {}
    for candidate in candidates:
        for parent in candidate.parents:
            under.setdefault(parent, []).append(candidate.node.id)
    found = {candidate.node.id for candidate in candidates if not candidate.is_linked or candidate.depth == 0}
    queue = list(found)
    while queue:
        fresh = [child for child in under.get(queue.pop(), ()) if child not in found]
        found.update(fresh)
        queue.extend(fresh)
    return frozenset(found)


def rank(candidates: Sequence[Candidate], agent: str, *, per_node: int) -> list[str]:
    """Return the ids of the nodes that this agent may claim, best first.

    Needed before not needed; then fewest holders; then fewest own attempts; then near the theorem; then oldest.
    """
    needed = needed_nodes(candidates)

    def cost(candidate: Candidate) -> tuple[bool, int, int, int, int]:
        return (
            candidate.node.id not in needed,
            len(candidate.holders),
            candidate.own_attempts,
            candidate.depth,
            candidate.node.at_seq,
        )

    free = [c for c in candidates if len(c.holders) < per_node and agent not in c.holders]
    return [candidate.node.id for candidate in sorted(free, key=cost)]
