"""Declarations of a compiled module, as the memory-safe reader hands them out."""

from enum import IntEnum

import msgspec

from .terms import Name, Terms, dotted


class Kind(IntEnum):
    """The constructors of Lean's `ConstantInfo`, with its tags."""

    AXIOM = 0
    DEFINITION = 1
    THEOREM = 2
    OPAQUE = 3
    QUOTIENT = 4
    INDUCTIVE = 5
    CONSTRUCTOR = 6
    RECURSOR = 7


SAFE = 1
"""Lean's `DefinitionSafety.safe`; `unsafe` is 0 and `partial` is 2."""


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """One constant. Terms are indices into the arena that it was read into."""

    kind: Kind
    name: Name
    params: tuple[Name, ...]
    """Universe parameters."""

    type: int
    value: int | None = None
    """Of definitions, theorems and opaque constants."""

    is_safe: bool = True
    """False for `unsafe` and `partial` constants, which no safe one may use."""

    hints: int | None = None
    """Reducibility: 0 opaque, 1 abbreviation, otherwise 2 + height. Definitions only."""

    group: tuple[Name, ...] = ()
    """Mutual companions: the types of an inductive declaration or of a recursor; the owner of a constructor."""

    constructors: tuple[Name, ...] = ()
    """Of an inductive type."""

    num_params: int = 0
    """Parameters of an inductive type."""

    @property
    def text(self) -> str:
        """The name as people write it."""
        return dotted(self.name)


class Module(msgspec.Struct, frozen=True, kw_only=True):
    """A compiled Lean module without its regions of private data."""

    imports: tuple[Name, ...]
    declarations: dict[Name, Declaration]
    extensions: dict[str, int]
    """Environment extension → number of entries."""


def mentioned(declaration: Declaration, terms: Terms) -> set[Name]:
    """Return the constants in the type and value of `declaration`, and its constructors or owners."""
    roots = [declaration.type] if declaration.value is None else [declaration.type, declaration.value]
    return terms.constants(*roots) | set(declaration.constructors) | set(declaration.group)
