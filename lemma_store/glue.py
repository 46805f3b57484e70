"""Glue: a proof of a parent from its children, as a lemma `child₁ → … → childₙ → parent`."""

import re
import textwrap

import msgspec

from bus.errors import BadArguments

from .types import CheckReport, Statement, Verdict

_NAME = re.compile(r"[^\W\d][\w'!?₀-₉]*")


def glue_source(name: str, parent: Statement, children: list[tuple[str, Statement]], glue: str) -> str:
    """Return the Lean text of the glue lemma; `glue` is tactic text.

    Raises:
        BadArguments: a name is no plain identifier, or a child has universe parameters (a hypothesis cannot).
    """
    for child, statement in children:
        if not _NAME.fullmatch(child):
            raise BadArguments(f"{child!r} cannot name a hypothesis", hint="use letters, digits and underscores")
        if statement.universes:
            raise BadArguments(f"{child} is universe-polymorphic", hint="state it at a fixed universe, such as Type")
    hypotheses = "".join(f"\n    ({child} : {embedded(statement.text)})" for child, statement in children)
    tactics = textwrap.indent(textwrap.dedent(glue).strip() or "skip", "  ")
    return f"theorem {name}{hypotheses} :\n    {embedded(parent.text)} := by\n{tactics}\n"


def embedded(text: str) -> str:
    """Return `text` so that a comment at its end does not reach what follows."""
    return f"{text}\n    " if "--" in text else text


def compose_source(name: str, parent: Statement, parts: list[str]) -> str:
    """Return the Lean text of a composed lemma."""
    return f"theorem {name} :\n    {embedded(parent.text)} :=\n  {' '.join(parts)}"


def has_expected_shape(report: CheckReport, *, name: str, parent: Statement, children: list[Statement]) -> CheckReport:
    """Return `report` with the glue's verdict turned into a rejection unless it is `child₁ → … → childₙ → parent`.

    The comparison is of term hashes, so a text that closes a bracket early gains nothing.
    """
    verdicts = tuple(_judged(verdict, name, parent, children) for verdict in report.verdicts)
    return msgspec.structs.replace(report, verdicts=verdicts)


def _judged(verdict: Verdict, name: str, parent: Statement, children: list[Statement]) -> Verdict:
    if verdict.name != name or verdict.lemma is None:
        return verdict
    shape = verdict.lemma.premises
    is_expected = len(shape) > len(children) and shape[len(children)][1] == parent.hash
    if is_expected and [premise for premise, _ in shape[: len(children)]] == [child.hash for child in children]:
        return verdict
    return Verdict(name=name, outcome="rejected", reasons=("the glue proves another statement than children → parent",))
