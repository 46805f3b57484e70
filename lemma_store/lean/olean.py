"""Memory-safe reader of Lean 4.35 `.olean` files: untrusted bytes in, closed kernel terms out.

Pure Python, iterative, bounds-checked. Reading never maps the file and never runs Lean code. Anything that is not
exactly of the expected form is `Refused`.
"""

from collections.abc import Container, Sequence

import msgspec

from lemma_store.declarations import Declaration, Module
from lemma_store.refusals import Refused
from lemma_store.terms import Name, Terms

from .reader import Reader
from .regions import MAX_BYTES, Region

MAX_CONSTANTS = 200_000
MAX_TRUSTED_BYTES = 1 << 30
"""Largest module of a library that is read; others are bounded by `regions.MAX_BYTES`."""
PARTS = 3
"""Files of a module in parts: `.olean`, `.olean.server`, `.olean.private`. The last holds every constant."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What the first file of a module says of the whole."""

    imports: list[str]
    is_in_parts: bool
    """Two more files belong to it: it was compiled under Lean's module system."""


def read_module(data: bytes, terms: Terms, *, version: str) -> Module:
    """Read `data`, a module in one file, into `terms`.

    Raises:
        Refused: the bytes are no well-formed module of Lean `version`, or hold metavariables, free variables, open
            terms or duplicate names.
    """
    return read_parts([data], terms, version=version, most=MAX_BYTES)


def read_parts(parts: Sequence[bytes], terms: Terms, *, version: str, most: int = MAX_TRUSTED_BYTES) -> Module:
    """Read a trusted module in one file or in three, with all that is private in it, into `terms`.

    Raises:
        Refused: see `read_module`; or the parts do not belong together, or there are more or fewer than should be.
    """
    return _ModuleReader(Region(*parts, version=version, most=most), terms).module()


def read_head(data: bytes, *, version: str, most: int = MAX_BYTES) -> Head:
    """Return what a module's first file says.

    Raises:
        Refused: the bytes are no well-formed module of Lean `version`.
    """
    return _ModuleReader(Region(data, version=version, most=most), Terms()).head()


def read_imports(data: bytes, *, version: str) -> list[str]:
    """Return the names of the modules that a module imports.

    Raises:
        Refused: the bytes are no well-formed module of Lean `version`.
    """
    return read_head(data, version=version).imports


class _ModuleReader:
    def __init__(self, region: Region, terms: Terms) -> None:
        self._region = region
        self._reader = Reader(region, terms)

    def head(self) -> Head:
        """Return what the region's first root says."""
        at, _, fields, scalars = self._reader.expect(self._region.roots[0], None, 5)
        names = self._imports(fields[0], at)
        return Head(imports=[".".join(map(str, name)) for name in names], is_in_parts=_is_in_parts(scalars))

    def _imports(self, pointer: int, parent: int) -> tuple[Name, ...]:
        spot, items = self._region.array(pointer, parent)
        found = [self._reader.expect(item, spot, 1) for item in items]
        return tuple(self._reader.name(fields[0], at) for at, _, fields, _ in found)

    def module(self) -> Module:
        """Return the module that the last root holds.

        Raises:
            Refused: see `read_parts`.
        """
        region = self._region
        *_, scalars = self._reader.expect(region.roots[0], None, 5)
        if _is_in_parts(scalars) is not (len(region.roots) == PARTS):
            raise Refused(
                f"a module is one file or, in parts, {PARTS}; here are {len(region.roots)}, and it says otherwise"
            )
        at, _, fields, _ = self._reader.expect(region.roots[-1], None, 5)
        spot, items = region.array(fields[2], at)
        if len(items) > MAX_CONSTANTS:
            raise Refused(f"the artifact declares {len(items)} constants, more than {MAX_CONSTANTS}")
        declarations: dict[Name, Declaration] = {}
        for item in items:
            declaration = self._reader.declaration(item, spot)
            if declaration.name in declarations:
                raise Refused(f"{declaration.text} is declared twice")
            declarations[declaration.name] = declaration
        imports = self._imports(fields[0], at)
        self._refuse_other_parts(imports, declarations)
        return Module(imports=imports, declarations=declarations, extensions=self._extensions(fields[4], at))

    def _refuse_other_parts(self, imports: tuple[Name, ...], declarations: Container[Name]) -> None:
        """Refuse parts that say something else than the last one, which has everything."""
        for part, root in enumerate(self._region.roots[:-1]):
            at, _, fields, _ = self._reader.expect(root, self._region.ends[part], 5)
            spot, names = self._region.array(fields[1], at)
            is_same = self._imports(fields[0], at) == imports
            if not is_same or not all(self._reader.name(name, spot) in declarations for name in names):
                raise Refused(f"part {part + 1} of the module is of another build than the last")

    def _extensions(self, pointer: int, parent: int) -> dict[str, int]:
        spot, items = self._region.array(pointer, parent)
        found: dict[str, int] = {}
        for item in items:
            at, _, fields, _ = self._reader.expect(item, spot, 2)
            name = ".".join(str(part) for part in self._reader.name(fields[0], at))
            found[name] = found.get(name, 0) + len(self._region.array(fields[1], at)[1])
        return found


def _is_in_parts(scalars: bytes | memoryview) -> bool:
    return scalars[:1] == b"\1"
