"""Names for lemmas, made from what they say."""

from __future__ import annotations

import re
from collections.abc import Container

from .statements import Statement
from .terms import Expr, Term, subterms

_SYMBOLS = {"+": "add", "*": "mul", "-": "sub", "++": "append", "::": "cons", "≤": "le", "<": "lt"}
LONGEST = 40


def lemma_name(statement: Statement, *, taken: Container[str] = (), fallback: str = "lemma") -> str:
    """Heads of the left side, outermost first: `rev_append` for `rev (append x y) = …`; never a name that is taken."""
    equation = statement.equation
    shown = equation[0] if equation is not None else statement.conclusion
    words: list[str] = []
    for sub in subterms(shown):
        if isinstance(sub, Term) and not sub.is_var and sub.head not in {"=", "¬", "true", "false"}:
            word = _word(sub)
            if word and word not in words[-1:]:
                words.append(word)
    if statement.hypotheses:
        words.append("of")
        words += [_word(item) for item in list(subterms(statement.hypotheses[0]))[1:2] if isinstance(item, Term)]
    name = "_".join(word for word in words if word)[:LONGEST].strip("_")
    name = name if re.match(r"[A-Za-z]", name) else fallback
    while name in taken or "_" not in name:
        name += "_eq"
    return name


def _word(expr: Expr) -> str:
    if not isinstance(expr, Term):
        return ""
    text = _SYMBOLS.get(expr.head, expr.head.rpartition(".")[2])
    return re.sub(r"[^A-Za-z0-9_]", "", text)
