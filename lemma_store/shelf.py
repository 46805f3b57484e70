"""Accepted units that nothing has used yet: kept as the bytes that were published, until something needs them."""

from collections.abc import Iterable

import msgspec

from .lean.olean import read_imports
from .terms import Name, undotted


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """The module of an accepted unit."""

    module: str
    names: tuple[str, ...]
    """Stored names of the unit; every constant of its module has one of them, or a name below it."""

    data: bytes


class Shelf:
    """Held units by module and by name."""

    def __init__(self, *, version: str) -> None:
        self._version = version
        self._units: dict[str, Held] = {}
        self._modules: dict[Name, str] = {}

    def put(self, unit: Held) -> None:
        """Keep a unit; what its module imports is known or on the shelf already."""
        self._units[unit.module] = unit
        self._modules.update((undotted(name), unit.module) for name in unit.names)

    def owner(self, name: Name) -> str | None:
        """Return the module on the shelf that may declare `name`."""
        if not self._modules:
            return None
        found = (self._modules.get(name[:end]) for end in range(len(name), 0, -1))
        return next((module for module in found if module is not None), None)

    def needed(self, modules: Iterable[str]) -> list[Held]:
        """Return those of `modules` that are on the shelf, and what they import from it, dependencies first.

        Raises:
            Refused: one of them is malformed.
        """
        found: list[Held] = []
        seen: set[str] = set()
        stack = [(module, False) for module in modules]
        while stack:
            module, is_ready = stack.pop()
            unit = self._units.get(module)
            if unit is None:
                continue
            if is_ready:
                found.append(unit)
            elif module not in seen:
                seen.add(module)
                stack.append((module, True))
                stack.extend((below, False) for below in read_imports(unit.data, version=self._version))
        return found

    def remove(self, unit: Held) -> None:
        """Take a unit off the shelf that the kernel holds by now."""
        del self._units[unit.module]
        for name in unit.names:
            del self._modules[undotted(name)]
