"""What the judge says about a constant: its statement as text and as hashes."""

import re
from typing import Any

from .declarations import Declaration, Kind
from .order import order_free_hash
from .printing import Printer
from .refusals import Refused
from .session import Session
from .tasks import LEMMA_PREFIX, Judged
from .terms import PI, Name, dotted, undotted

_AUXILIARY = re.compile(
    r"(^|\.)_|(^|\.)(match|eq|proof)_\d|\.(rec|recOn|casesOn|brecOn|below|ibelow|noConfusion\w*|ctorIdx|ctorElim\w*|elim"
    r"|toCtorIdx|inj|injEq|sizeOf_spec|eq_def|induct\w*|fun_cases\w*|splitter|binductionOn|go)(\.|$)|^inst"
)
_MAX_PREMISES = 32


def is_auxiliary(name: Name) -> bool:
    """Return whether Lean made a constant of this name by itself."""
    return _AUXILIARY.search(dotted(name)) is not None


def describe(session: Session, name: str) -> Judged:
    """Return what the kernel holds under `name`.

    Raises:
        Refused: it holds nothing.
    """
    known = session.find(undotted(name))
    if known is None:
        raise Refused(f"the kernel holds nothing named {name}")
    is_theorem = known.declaration.kind is Kind.THEOREM
    return described(
        session,
        known.declaration,
        name=name,
        stored_name=name,
        is_theorem=is_theorem,
        axioms=tuple(sorted(known.axioms)),
    )


def described(session: Session, declaration: Declaration, *, name: str, **more: Any) -> Judged:
    """Return a finding about `declaration` with its statement; `more` are further fields."""

    def find(constant: Name) -> Declaration | None:
        known = session.known.get(constant)
        return None if known is None else known.declaration

    def find_trusted(constant: Name) -> Declaration | None:
        known = session.known.get(constant)
        return None if known is None or known.module.startswith(LEMMA_PREFIX) else known.declaration

    premises = _premises(session, declaration)
    return Judged(
        name=name,
        outcome="accepted",
        pretty=Printer(session.terms, find, find_trusted).text(declaration.type, declaration.params),
        statement_hash=premises[0][1],
        order_free_hash=order_free_hash(session.terms, declaration.type, declaration.params),
        universes=len(declaration.params),
        premises=premises,
        **more,
    )


def _premises(session: Session, declaration: Declaration) -> tuple[tuple[str, str], ...]:
    terms, term = session.terms, declaration.type

    memo: dict[int, bytes] = {}

    def digest(part: int) -> str:
        return terms.digest(part, declaration.params, memo=memo).hex()

    found: list[tuple[str, str]] = []
    while (node := terms.nodes[term])[0] == PI and not terms.loose(node[2]) and len(found) < _MAX_PREMISES:
        found.append((digest(node[1]), digest(term)))
        term = node[2]
    return (*found, ("", digest(term)))
