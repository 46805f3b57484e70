"""From argument types and an adapter version's words to the schema that agents see, and back from what they send."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import msgspec

from adapter_server.bundle import ParameterWords, ToolWords
from bus.errors import BadArguments, TooLarge, UnknownMethod

from .arguments import CONTRACTS, Arguments

JsonObject = dict[str, Any]

_LIMITS = {"minimum": "minimum", "maximum": "maximum", "max_length": "maxLength", "max_items": "maxItems"}


def input_schema(tool: str, words: ToolWords) -> JsonObject:
    """JSON schema of a tool's arguments: every parameter that the version has words for, with its limits."""
    document = msgspec.json.schema(CONTRACTS[tool])
    definitions = cast(JsonObject, document.pop("$defs"))
    own = cast(JsonObject, definitions[CONTRACTS[tool].__name__])
    properties: JsonObject = {}
    for name, parameter in words.parameters.items():
        properties[name] = _plain(own["properties"][name], definitions) | _overlay(parameter)
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in own.get("required", []) if name in properties],
        "additionalProperties": False,
    }


def _overlay(words: ParameterWords) -> JsonObject:
    overlay: JsonObject = {"description": words.description}
    if words.default is not None:
        overlay["default"] = words.default
    if words.choices is not None:
        overlay["enum"] = words.choices
    for field, keyword in _LIMITS.items():
        if (value := getattr(words, field)) is not None:
            overlay[keyword] = int(value) if value == math.floor(value) else value
    return overlay


def _plain(schema: JsonObject, definitions: JsonObject) -> JsonObject:
    """Inline references; drop titles, defaults and `null`, which only cost context."""
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    plain = {key: value for key, value in schema.items() if key not in ("title", "default", "description")}
    if "anyOf" in plain:
        branches = [_plain(branch, definitions) for branch in plain.pop("anyOf") if branch != {"type": "null"}]
        plain |= branches[0] if len(branches) == 1 else {"anyOf": branches}
    if "enum" in plain:
        plain["type"] = "string"
    if "items" in plain:
        plain["items"] = _plain(plain["items"], definitions)
    if "properties" in plain:
        plain["properties"] = {name: _plain(value, definitions) for name, value in plain["properties"].items()}
    return plain


def decode_arguments(tool: str, raw: Mapping[str, Any], words: ToolWords) -> Arguments:
    """The typed arguments of a call: defaults filled in, numbers moved into their limits.

    Raises:
        UnknownMethod: if no such tool exists.
        BadArguments: if a parameter is unknown, missing or of the wrong type.
        TooLarge: if a text or list is longer than the version allows.
    """
    if (kind := CONTRACTS.get(tool)) is None:
        raise UnknownMethod(f"no tool {tool!r}", tools=sorted(CONTRACTS))
    given = {name: value for name, value in raw.items() if value is not None}
    defaults = {name: value.default for name, value in words.parameters.items() if value.default is not None}
    merged = {name: _as_list(kind, name, value) for name, value in (defaults | given).items()}
    try:
        arguments = msgspec.convert(merged, kind, strict=False)
    except msgspec.ValidationError as error:
        names = ", ".join(words.parameters)
        raise BadArguments(f"{tool}: {error}", hint=f"{tool} takes {names}.") from error
    return _within_limits(arguments, words)


def _as_list(kind: type[Arguments], name: str, value: object) -> object:
    """A single text where a list is wanted is a list of one; some hosts send lists as JSON text."""
    if not isinstance(value, str) or name not in _lists(kind):
        return value
    if value.startswith("["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return [value]
    return [value]


@cache
def _fields(kind: type[Arguments]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


@cache
def _lists(kind: type[Arguments]) -> frozenset[str]:
    return frozenset(field.encode_name for field in _fields(kind) if "list[" in str(field.type).lower())


def _within_limits(arguments: Arguments, words: ToolWords) -> Arguments:
    changes: dict[str, float] = {}
    for field in _fields(type(arguments)):
        limits = words.parameters.get(field.encode_name)
        value = getattr(arguments, field.name)
        if limits is None or value is None or isinstance(value, bool):
            continue
        if isinstance(value, str | list):
            _refuse_large(field.encode_name, len(cast("str | list[object]", value)), limits)
        elif isinstance(value, int | float) and (moved := _clamp(value, limits)) != value:
            changes[field.name] = type(value)(moved)
    return msgspec.structs.replace(arguments, **changes)


def _refuse_large(name: str, length: int, limits: ParameterWords) -> None:
    cap = limits.max_length or limits.max_items
    if cap is not None and length > cap:
        raise TooLarge(f"{name} has {length} characters or items, allowed are {cap}", cap=cap)


def _clamp(value: float, limits: ParameterWords) -> float:
    if math.isnan(value):
        return limits.minimum or 0.0
    if limits.minimum is not None:
        value = max(value, limits.minimum)
    if limits.maximum is not None:
        value = min(value, limits.maximum)
    return value
