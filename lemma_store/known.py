"""What the judge knows about the constants that its kernel holds."""

from typing import TypeVar

import msgspec

from .declarations import Declaration
from .lean.core_library import LIBRARY
from .lean.kernel import Kernel, KernelLimit
from .refusals import Refused
from .terms import Name, dotted

T = TypeVar("T")


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A constant that the kernel holds."""

    declaration: Declaration
    module: str
    """The module that other modules import to use it."""

    axioms: frozenset[str]


class KnownAndImported(dict[Name, Known]):
    """Those of an imported library too, each read when it is first asked for; nothing iterates over them."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self._kernel = kernel

    def __missing__(self, name: Name) -> Known:
        try:
            found = self._kernel.imported(name)
        except Refused as refusal:  # that is no candidate's fault
            raise KernelLimit(f"{dotted(name)} of the library cannot be read: {refusal.reason}") from refusal
        if found is None:
            raise KeyError(name)
        known = self[name] = Known(declaration=found[0], module=LIBRARY, axioms=found[1])
        return known

    def __contains__(self, name: object) -> bool:
        return self.get(name) is not None  # pyright: ignore[reportArgumentType]

    def get(self, name: Name, default: T | None = None) -> Known | T | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            return self[name]
        except KeyError:
            return default
