"""The handbook of knobs for proposers, generated from the schemas: what can be changed, its bounds, what it does."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from adapter_server.bundle import ParameterWords, ToolWords, size_cap
from adapter_server.policy import Policy

from .patch import MAX_VALUE_BYTES

_FILES = {
    "prompts/team.md": "what every agent is told at its start; `{{agent}}` and `{{role}}` are filled in",
    "prompts/roles/NAME.md": "what an agent with this role is told besides",
    "prompts/mcp/instructions.md": "what the host says about the server as a whole, before the first tool call",
    "skills/NAME/SKILL.md": "a skill that hosts can load; counts as read at the start",
    "tools.json": "words, defaults and limits of the tools that agents see",
    "policy.json": "the numbers that coordination depends on",
}


class Knob(msgspec.Struct, frozen=True, kw_only=True):
    """One number or list of the policy.

    Attributes:
        component: what a proposal names it.
        kind: `integer`, `number`, or what the schema says else.
        low: smallest value allowed; None when there is no bound.
        high: largest value allowed.
        value: in the version to be changed.
        shipped: in the version that comes with the server.
        influences: what it does.
    """

    component: str
    kind: str
    low: float | None
    high: float | None
    value: Any
    shipped: Any
    influences: str


def knobs(policy: bytes, shipped: bytes) -> list[Knob]:
    """Every knob of the policy, in the schema's order, from the text of the champion's and the shipped policy.json."""
    document = msgspec.json.schema(Policy)
    return list(_knobs(document, document, msgspec.json.decode(policy), msgspec.json.decode(shipped), ""))


def handbook(files: Mapping[str, bytes], shipped: Mapping[str, bytes]) -> str:
    """The handbook for a version, as Markdown."""
    tools = msgspec.json.decode(files["tools.json"], type=dict[str, ToolWords])
    widest = msgspec.json.decode(shipped["tools.json"], type=dict[str, ToolWords])
    lines = ["# Handbook: what a proposal can change", "", *_file_lines(files), "", "## policy.json", ""]
    lines += ["| component | type | bounds | now | shipped | what it influences |", "|---|---|---|---|---|---|"]
    lines += [_knob_line(knob) for knob in knobs(files["policy.json"], shipped["policy.json"])]
    lines += ["", "## tools.json", "", _TOOL_WORDS, ""]
    for name, words in tools.items():
        lines += _tool_lines(name, words, widest.get(name))
    return "\n".join(lines) + "\n"


_TOOL_WORDS = (
    "Each value has a pointer, such as `tools.json#/check/description` or `tools.json#/find/parameters/limit/default`. "
    "Tools and parameters are never taken away or added; a tool may be disabled. Limits may be made tighter than the "
    "shipped ones, not wider. Everything here is read by agents before their first call and counts there."
)


def _file_lines(files: Mapping[str, bytes]) -> Iterator[str]:
    yield f"One proposal changes one component: a file, or one JSON value of at most {MAX_VALUE_BYTES} bytes."
    yield ""
    yield "| file | at most | what it is |"
    yield "|---|---|---|"
    for name, meaning in _FILES.items():
        yield f"| `{name}` | {size_cap(name)} bytes | {meaning} |"
    yield ""
    yield "In this version: " + ", ".join(f"`{path}` ({len(content)} bytes)" for path, content in files.items()) + "."
    yield "manifest.json, the judge, axioms, scoring, budgets, splits and all bounds belong to the server."


def _knobs(
    schema: Mapping[str, Any], document: Mapping[str, Any], value: Any, shipped: Any, pointer: str
) -> Iterator[Knob]:
    node = cast("dict[str, Any]", document["$defs"][schema["$ref"].rpartition("/")[2]]) if "$ref" in schema else schema
    if "properties" in node:
        for name, part in node["properties"].items():
            yield from _knobs(part, document, value[name], shipped[name], f"{pointer}/{name}")
        return
    yield Knob(
        component=f"policy.json#{pointer}",
        kind=node.get("type", "any"),
        low=node.get("minimum"),
        high=node.get("maximum"),
        value=value,
        shipped=shipped,
        influences=node.get("description", ""),
    )


def _knob_line(knob: Knob) -> str:
    bounds = "by its schema" if knob.low is None or knob.high is None else f"{knob.low:g} to {knob.high:g}"
    now, shipped = (msgspec.json.encode(value).decode() for value in (knob.value, knob.shipped))
    return f"| `{knob.component}` | {knob.kind} | {bounds} | `{now}` | `{shipped}` | {knob.influences} |"


def _tool_lines(name: str, words: ToolWords, widest: ToolWords | None) -> Iterator[str]:
    state = "" if words.enabled else " (disabled)"
    yield f"### {name}{state}: {words.title}"
    yield f"{words.description}"
    for parameter, own in words.parameters.items():
        bound = widest.parameters.get(parameter) if widest else None
        yield f"- `{parameter}`: {own.description}{_limits(own, bound)}"
    yield ""


def _limits(words: ParameterWords, bound: ParameterWords | None) -> str:
    facts: list[str] = []
    if words.default is not None:
        facts.append(f"default {msgspec.json.encode(words.default).decode()}")
    for field in ("minimum", "maximum", "max_length", "max_items"):
        value, limit = getattr(words, field), getattr(bound, field) if bound else None
        if value is not None:
            facts.append(f"{field} {value:g}" + (f", shipped {limit:g}" if limit not in (None, value) else ""))
    return f" [{'; '.join(facts)}]" if facts else ""
