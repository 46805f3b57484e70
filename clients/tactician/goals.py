"""Reading the goals that a failed proof leaves."""

from __future__ import annotations

import re

import msgspec

from .definitions import Names
from .syntax import NotInSubset, parse
from .terms import Binding, Expr, Term, arrow_parts

_PROPOSITIONS = frozenset({"=", "≠", "¬", "∧", "∨", "↔", "<", "≤", ">", "≥", "∈", "True", "False"})


class Goal(msgspec.Struct, frozen=True):
    """Variables with their types, hypotheses and what is to be shown."""

    kinds: dict[str, Expr]
    hypotheses: tuple[Expr, ...]
    conclusion: Expr
    instances: tuple[Expr, ...] = ()
    facts: frozenset[Expr] = frozenset()
    """Hypotheses that are known to be no induction hypotheses."""


def read_goals(text: str, names: Names) -> list[Goal]:
    """All goals in a text that can be read; others are left out."""
    found: list[Goal] = []
    for block in _blocks(text):
        try:
            found.append(_read_goal(block, names))
        except NotInSubset:
            continue
    return found


def _blocks(text: str) -> list[list[str]]:
    """Logical lines of each goal: a goal ends with its conclusion, and wrapped lines are joined."""
    blocks: list[list[str]] = []
    current: list[str] = []
    for line in text.splitlines():
        is_continued = line[:1].isspace() and bool(current)
        if not line.strip():
            continue
        if is_continued:
            current[-1] += " " + line.strip()
            continue
        if current and current[-1].startswith("⊢"):
            blocks.append(current)
            current = []
        if line.startswith(("⊢", "case ")) or re.match(r"[^:]* : ", line):
            current.append(line.strip())
    if current and current[-1].startswith("⊢"):
        blocks.append(current)
    return blocks


def _read_goal(lines: list[str], names: Names) -> Goal:
    kinds: dict[str, Expr] = {}
    raw: list[tuple[str, Expr]] = []
    conclusion: Expr | None = None
    for line in lines:
        if line.startswith("⊢"):
            conclusion = parse(line[1:])
        elif not line.startswith("case "):
            left, _, right = line.partition(" : ")
            raw += [(name, parse(right)) for name in left.split()]
    if conclusion is None:
        raise NotInSubset("no conclusion")
    bound = frozenset(name for name, _ in raw)
    hypotheses: list[Expr] = []
    instances: list[Expr] = []
    for name, kind in raw:
        resolved = names.resolve(kind, bound)
        if name.startswith("inst"):
            instances.append(resolved)
        elif is_proposition(resolved):
            hypotheses.append(resolved)
        else:
            kinds[name] = resolved
    return Goal(kinds, tuple(hypotheses), names.resolve(conclusion, bound), tuple(instances))


def is_proposition(expr: Expr) -> bool:
    """Whether a hypothesis is a fact and not a variable."""
    if isinstance(expr, Binding):
        return expr.kind in {"∀", "∃"}
    if isinstance(expr, Term):
        if expr.head == "→":
            args, result = arrow_parts(expr)
            return is_proposition(result) or any(is_proposition(arg) for arg in args)
        return expr.head in _PROPOSITIONS
    return False
