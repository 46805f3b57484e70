"""Questions for the judge, and its findings. Paths are files that the asker wrote and removes."""

import msgspec


class Artifact(msgspec.Struct, frozen=True, kw_only=True, tag="artifact"):
    """A module that Lean compiled from agents' text, to be judged."""

    path: str
    imports: tuple[str, ...]
    """The imports that the server wrote into the header; the artifact must have exactly these."""

    theorems: tuple[str, ...]
    """Names after `theorem` in the text."""

    definitions: tuple[str, ...]
    world: str
    """Toolchain, library and policy, as they enter content ids."""

    folder: str
    """Where the modules of accepted units are written."""

    lemma_ids: dict[str, str]
    """Stored name → content id of every module unit that the session has admitted."""


class Question(msgspec.Struct, frozen=True, kw_only=True, tag="statement"):
    """A module whose one theorem is unproved: only its type matters."""

    path: str
    imports: tuple[str, ...]
    theorem: str


class Composition(msgspec.Struct, frozen=True, kw_only=True, tag="composition"):
    """A theorem to be built from accepted ones: `glue child₁ … childₙ`."""

    glue: str
    children: tuple[str, ...]
    name: str
    expected: str
    """Hash of the statement that must come out."""

    world: str
    folder: str
    lemma_ids: dict[str, str]


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge found out about one unit."""

    name: str
    outcome: str
    reasons: tuple[str, ...] = ()
    is_theorem: bool = True
    id: str = ""
    stored_name: str = ""
    names: dict[str, str] = {}
    """Author's name → stored name of everything that the unit declares at its top: one, or mutual inductive types."""

    pretty: str = ""
    statement_hash: str = ""
    universes: int = 0
    uses: tuple[str, ...] = ()
    """Stored names of the units and lemmas that it uses directly."""

    axioms: tuple[str, ...] = ()
    premises: tuple[tuple[str, str], ...] = ()
    """See `Lemma.premises`."""

    module: str = ""
    """The written module's path; empty when the session had this very unit already."""
