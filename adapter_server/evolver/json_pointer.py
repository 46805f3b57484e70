"""JSON pointers (RFC 6901): one value inside a document replaced, or added to an object or a list's end."""

import re
from typing import Any, cast

from bus.errors import BadPatch

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_ESCAPES = re.compile(r"(?:[^~]|~[01])*")


def replaced(document: object, pointer: str, value: object) -> Any:
    """A copy of the document with the value at the pointer.

    Raises:
        BadPatch: the pointer is malformed or leads nowhere.
    """
    if not pointer.startswith("/") or not _ESCAPES.fullmatch(pointer):
        raise BadPatch(f"{pointer!r} is no JSON pointer")
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]
    return _with(document, steps, value, pointer)


def _with(part: object, steps: list[str], value: object, pointer: str) -> object:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(part, dict):
        members = cast("dict[str, object]", part)
        if step not in members and rest:
            raise BadPatch(f"{pointer} leads nowhere: there is no {step!r}")
        return {**members, step: _with(members.get(step), rest, value, pointer)}
    if isinstance(part, list):
        items = cast("list[object]", part)
        if step == "-" and not rest:
            return [*items, value]
        if not _INDEX.fullmatch(step) or int(step) >= len(items):
            raise BadPatch(f"{pointer} leads nowhere: the list has {len(items)} items, not {step!r}")
        index = int(step)
        return [*items[:index], _with(items[index], rest, value, pointer), *items[index + 1 :]]
    raise BadPatch(f"{pointer} leads nowhere: {step!r} is asked of a plain value")
