"""What the lemma store hands out: statements, lemmas, verdicts, problems, certificates."""

from typing import Literal

import msgspec

from .lean.core_library import ROOT_MODULE
from .lean.messages import LeanMessage

__all__ = [
    "Assembly",
    "Certificate",
    "CheckReport",
    "Credit",
    "Hit",
    "LeanMessage",
    "Lemma",
    "Outcome",
    "Problem",
    "Statement",
    "Verdict",
]

Outcome = Literal["accepted", "rejected", "undecided"]
"""`accepted` needs positive evidence from the kernel; `undecided` (a limit, a broken part) is neither of the others."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A closed proposition that Lean elaborated."""

    text: str
    """Lean text as its author gave it."""

    pretty: str
    """The kernel's term as Lean prints it, on one line."""

    hash: str
    """SHA-256 (hex) of the kernel term, blind to binder names, binder styles and the names of universe parameters."""

    order_free_hash: str = ""
    """The same, blind also to the order of independent variables and hypotheses; empty when there are less than two."""

    universes: int = 0
    """Number of universe parameters."""


class Lemma(msgspec.Struct, frozen=True, kw_only=True):
    """A theorem that the judge accepted. Immutable."""

    id: str
    """Content id: hash of statement, proof, dependencies, library, toolchain and policy."""

    name: str
    """The name that Lean texts use: the author's name and a content suffix; unique in its episode."""

    author_name: str
    """The name in the author's text."""

    author: str
    statement: Statement

    source: str
    """The author's text of this theorem and of the definitions it needs, under stored names."""

    uses: tuple[str, ...] = ()
    """Ids of the accepted lemmas that the proof mentions."""

    axioms: tuple[str, ...] = ()
    """Axioms in the closure of statement and proof."""

    also: tuple[str, ...] = ()
    """Stored names of mutual companions that came with it."""

    premises: tuple[tuple[str, str], ...] = ()
    """For `P₁ → … → Pₙ → Q`: the hash of each `Pᵢ` and of what stands from `Pᵢ` on; last `("", hash of Q)`."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its stored name, and those of its mutual companions after it."""
        return (self.name, *self.also)


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge says about one theorem of a submitted text."""

    name: str
    """The author's name of the theorem."""

    outcome: Outcome

    lemma: Lemma | None = None
    """The stored lemma, when accepted."""

    reasons: tuple[str, ...] = ()
    """Why it was rejected or could not be decided; empty when accepted."""

    is_new: bool = True
    """False when the store had this very lemma already."""


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one check: a verdict per theorem, and Lean's words as notes for the author."""

    verdicts: tuple[Verdict, ...]
    messages: tuple[LeanMessage, ...] = ()
    """Positions point into the author's text."""

    goals: tuple[str, ...] = ()
    """Goals that Lean left unsolved, as it prints them."""

    elaborate_ms: float = 0.0
    judge_ms: float = 0.0
    is_lasting: bool = False
    """Whether Lean refuses the text for as long as it imports the same lemmas."""

    is_repeat: bool = False
    """Nothing ran: the same text with the same lemmas was being checked, or had been refused."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An episode's target and the trusted definitions below it."""

    episode: str
    theorem: str
    statement: Statement
    source: str
    """The definitions as Lean text, without the target."""

    names: tuple[str, ...]
    """Constants that the definitions declare and a person would write."""

    imports: tuple[str, ...] = (ROOT_MODULE,)
    """Modules of the library that it rests on."""

    library: str = ""
    """Id of that library."""

    context: str = ""
    """For reading: the sources of the project's modules that it imports."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One result of a search."""

    kind: Literal["lemma"]
    id: str
    name: str
    statement: str
    relation: Literal["text", "same", "closes", "uses"]
    author: str
    how: str
    """How to use it in a proof."""


class Credit(msgspec.Struct, frozen=True, kw_only=True):
    """One lemma of the final proof: who proved it and which other lemmas rest on it."""

    lemma: str
    name: str
    author: str
    used_by: tuple[str, ...]
    """Stored names; the target's own name stands for the final theorem."""


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """What was proved, on what grounds, and the files that let anybody replay it."""

    theorem: str
    statement: str
    statement_hash: str
    axioms: tuple[str, ...]
    kernels: tuple[str, ...]
    """Every kernel that said yes, with its version."""

    toolchain: str
    library: str
    policy: str
    declarations: int
    """How many declarations the kernel accepted to the target, from an empty environment or an imported library."""

    basis: str = "replayed"
    """`replayed`: the kernel accepted the library too; `imported`: it is too large, so Lean imported it unchecked."""

    root: str
    """Stored name of the lemma that states the target."""

    lemmas: tuple[str, ...]
    """Ids of the lemmas and definitions that it rests on, dependencies first, itself last."""

    files: dict[str, str]
    """Path relative to the certificate's folder → SHA-256."""


class Assembly(msgspec.Struct, frozen=True, kw_only=True):
    """The finished proof of an episode."""

    certificate: Certificate
    path: str
    """Where the certificate was written."""

    proof: str
    """The whole proof as one Lean text."""

    credit: tuple[Credit, ...]
