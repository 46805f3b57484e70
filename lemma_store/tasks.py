"""Questions for the judge, and its findings. Paths are files that the asker wrote and removes."""

import msgspec

LEMMA_PREFIX = "L."
"""How the modules that hold agents' work are named."""


class Start(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """First question: the kernel's library and the modules to hold from the beginning."""

    library: str
    version: str
    modules: list[tuple[str, tuple[str, ...]]]
    """`(module name, paths)` in dependency order; a module of the library may be in parts."""

    imports: tuple[str, ...] = ()
    """What a module imports to have all of the library."""

    library_path: str = ""
    """Where Lean finds the library if it is to import it; otherwise the library is among the modules."""

    library_bytes: int = 0
    """How much of memory an import takes."""


class Split(msgspec.Struct, frozen=True, kw_only=True, tag="split"):
    """Become two: the other one holds the same and listens on the socket that comes with this question."""


class Admit(msgspec.Struct, frozen=True, kw_only=True, tag="admit"):
    """Hold an accepted or trusted module from now on."""

    module: str
    path: str
    names: tuple[str, ...] = ()
    """Stored names of the unit that it is: one, or the types of a mutual declaration in their order."""


class Hold(msgspec.Struct, frozen=True, kw_only=True, tag="hold"):
    """Hold the module of an accepted unit from now on; it is replayed when a later question needs it."""

    module: str
    path: str
    names: tuple[str, ...]
    """See `Admit.names`."""


class LookUp(msgspec.Struct, frozen=True, kw_only=True, tag="look_up"):
    """What does the kernel hold under a name?"""

    name: str


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
    order_free_hash: str = ""
    universes: int = 0
    uses: tuple[str, ...] = ()
    """Stored names of the units and lemmas that it uses directly."""

    axioms: tuple[str, ...] = ()
    premises: tuple[tuple[str, str], ...] = ()
    """See `Lemma.premises`."""

    module: str = ""
    """The written module's path; empty when the session had this very unit already."""


Task = Start | Split | Admit | Hold | LookUp | Artifact | Question | Composition


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One question."""

    id: int
    task: Task
    limit_ms: int = 30_000


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to the question of the same id."""

    id: int
    status: str
    """`done`, `refused` (the candidate's fault) or `undecided` (a limit or a broken part)."""

    reason: str = ""
    judged: list[Judged] = []
    declarations: int = 0
    """How many declarations the kernel holds."""

    names: list[str] = []
    """Constants of the last admitted module that a person would write."""

    axioms: list[str] = []
    """Axioms that the last admitted module rests on."""

    process: int = 0
    """Id of the process that a split made."""
