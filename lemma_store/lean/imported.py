"""A library that Lean's own import maps into memory: its constants are read from there when they are asked for.

For the operator's own modules only, which are trusted: nothing is checked that Lean's import does not check. Nothing of
agents' comes into the judge in this way.
"""

import ctypes
from collections.abc import Sequence
from typing import cast

from lemma_store.declarations import Declaration
from lemma_store.refusals import Refused
from lemma_store.terms import Terms

from .objects import Objects
from .reader import Reader
from .regions import Region

_MEMORY_BYTES = 1 << 47


class _Memory(Region):
    """All of this process's memory as one region, in which a pointer is an address."""

    def __init__(self) -> None:
        self.data = memoryview((ctypes.c_uint8 * _MEMORY_BYTES).from_address(0)).cast("B")
        self.words = cast("Sequence[int]", (ctypes.c_uint64 * (_MEMORY_BYTES // 8)).from_address(0))
        self.base = 0
        self.roots = []
        self._starts, self.ends = [0], [_MEMORY_BYTES]


class ImportedLibrary:
    """The constants of an imported library, and the axioms that each of them rests on."""

    def __init__(self, objects: Objects, terms: Terms, path: str, modules: list[int]) -> None:
        """Import `modules`, which are names as objects, from the search path `path`.

        Raises:
            OSError: Lean cannot import them.
        """
        self._objects = objects
        self._imported = objects.import_modules(path, modules)
        self.environment = objects.kernel_environment(self._imported)
        """With the library and nothing else."""
        self._terms = terms
        self._reader = Reader(_Memory(), terms)
        self._seen = objects.no_axioms_seen()

    def declaration(self, name: int) -> Declaration | None:
        """Return a constant that safe ones may use, if the library has one of this name.

        Raises:
            Refused: the library is malformed.
        """
        address = self._objects.find(self.environment, name)
        if address is None:
            return None
        try:
            found = self._reader.declaration(address, _MEMORY_BYTES)
        except Refused:
            self._reader = Reader(_Memory(), self._terms)
            raise
        return found if found.is_safe else None

    def axioms(self, name: int) -> frozenset[str]:
        """Return the axioms in the closure of a constant of the library, by Lean's own search over its terms."""
        found, self._seen = self._objects.axioms(self._imported, name, self._seen)
        return frozenset(found)
