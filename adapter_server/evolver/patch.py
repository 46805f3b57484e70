"""A proposed change of one component of an adapter version: read from JSON, bounded, applied whole or not at all."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta

from adapter_server.bundle import PLACES, read_bundle, size_cap
from bus.errors import BadDataFolder, BadPatch

from .json_pointer import replaced

MAX_PATCH_BYTES = 200_000
MAX_VALUE_BYTES = 4_000
"""Of a value at a JSON pointer."""

_TEXTS = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]*")
"""Without characters that a reader of the change cannot see."""

T = TypeVar("T", "Patch", "NoChange")

Metric = Literal[
    "solved", "subgoals", "seconds", "lean_cpu_s", "checks", "calls", "tokens", "lemmas", "distinct_lemmas",
    "used_lemmas", "tool_errors", "stale_calls", "idle_turns", "lost_leases", "duplicates",
]  # fmt: skip
"""What can be predicted: fields of an episode's record, and counters of it by their names."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the change should do, checked by code from the records of both arms.

    The change of a metric is challenger ÷ champion − 1 over means, and challenger − champion for the shares `solved`
    and `subgoals`. So "duplicates fall by 30 %" is at_most −0.3, and "tokens rise by at most 5 %" is at_most 0.05.
    """

    metric: Metric
    relation: Literal["at_most", "at_least"]
    amount: Annotated[float, Meta(ge=-1e6, le=1e6)]


class Patch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of one component.

    Attributes:
        component: a file of the version, or a value in one of its JSON files: `policy.json#/lease_s`.
        content: the whole new text of the file, or the new value as JSON.
        hypothesis: why it should help, in words.
        predictions: what can be checked afterwards.
    """

    component: Annotated[str, Meta(min_length=1, max_length=300)]
    content: str
    hypothesis: Annotated[str, Meta(max_length=4000)] = ""
    predictions: Annotated[list[Prediction], Meta(max_length=10)] = []

    @property
    def file(self) -> str:
        """The file that it changes."""
        return self.component.partition("#")[0]


class NoChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A result too: the evidence does not call for a change."""

    reason: Annotated[str, Meta(max_length=4000)]


class _Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposal as proposers write it: `component` with `content` or `value`, or `no_change`."""

    component: str = ""
    content: str | None = None
    value: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b""))
    hypothesis: str = ""
    predictions: list[Prediction] = []
    no_change: str | None = None


def read_proposal(text: bytes) -> Patch | NoChange:
    """A proposal from the JSON that a proposer wrote.

    Raises:
        BadPatch: it is no proposal, or proposes more than one change.
    """
    if len(text) > MAX_PATCH_BYTES:
        raise BadPatch(f"the proposal has {len(text)} bytes, allowed are {MAX_PATCH_BYTES}")
    if text.lstrip()[:1] == b"[":
        raise BadPatch("the proposal is a list; one proposal changes one component")
    try:
        written = msgspec.json.decode(text, type=_Written)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = 'write {"component", "content" or "value", "hypothesis", "predictions"} or {"no_change": "why"}'
        raise BadPatch(f"the proposal cannot be read: {error}", hint=hint) from None
    if written.no_change is not None:
        if written.component:
            raise BadPatch("the proposal is a change and no_change at once")
        return _checked(NoChange(reason=written.no_change))
    value = bytes(written.value).decode()
    if (written.content is None) == (value == ""):
        raise BadPatch("a change has either content (text of a file) or value (JSON at a pointer)")
    if (value != "") != ("#" in written.component):
        raise BadPatch("a file takes content, a JSON pointer takes value", component=written.component)
    patch = Patch(
        component=written.component,
        content=value if written.content is None else written.content,
        hypothesis=written.hypothesis,
        predictions=written.predictions,
    )
    return _checked(patch)


def proposal_schema() -> tuple[dict[str, Any], tuple[str, ...]]:
    """The JSON schema of what proposers write, and the metrics that predictions can be about."""
    return msgspec.json.schema(_Written), get_args(Metric)


def apply(files: Mapping[str, bytes], patch: Patch) -> dict[str, bytes]:
    """The files of the version with the change; what was given stays as it is.

    Raises:
        BadPatch: as `edited`, or the result is no valid version.
    """
    after = edited(files, patch)
    try:
        read_bundle(after)
    except BadDataFolder as error:
        raise BadPatch(f"the change gives no valid version: {error.message}", component=patch.component) from None
    return after


def edited(files: Mapping[str, bytes], patch: Patch) -> dict[str, bytes]:
    """The files with the change, whether or not they are a version.

    Raises:
        BadPatch: it is malformed or too large, changes nothing, or changes what no version may change.
    """
    check_form(patch)
    name, hash_, pointer = patch.component.partition("#")
    content = patch.content.encode()
    after = {**files, name: _with_value(files, name, pointer, content) if hash_ else content}
    if files.get(name) == after[name]:
        raise BadPatch(f"{patch.component} has this content already", component=patch.component)
    return after


def check_form(patch: Patch) -> None:
    """One component that a version may change, within its size.

    Raises:
        BadPatch: if not.
    """
    name, hash_, pointer = patch.component.partition("#")
    if not PLACES.fullmatch(name):
        raise BadPatch(f"{patch.component!r} is no component of a version", component=patch.component)
    if name == "manifest.json":
        raise BadPatch("manifest.json states the contracts with the server; no change may touch it")
    if hash_ and not (name.endswith(".json") and pointer.startswith("/")):
        raise BadPatch(f"{patch.component!r} is no pointer into a JSON file", component=patch.component)
    size, cap = len(_encoded(patch.content, "content")), MAX_VALUE_BYTES if hash_ else size_cap(name)
    if size > cap:
        raise BadPatch(f"{patch.component} would have {size} bytes, allowed are {cap}", cap=cap)
    if not patch.content.strip():
        raise BadPatch(f"{patch.component} would be empty", component=patch.component)
    for words, text in (("content", patch.content), ("the hypothesis", patch.hypothesis)):
        if not _TEXTS.fullmatch(text):
            raise BadPatch(f"{words} has control characters or invisible ones", component=patch.component)
        _encoded(text, words)


def _with_value(files: Mapping[str, bytes], name: str, pointer: str, content: bytes) -> bytes:
    if name not in files:
        raise BadPatch(f"{name} is not in the version")
    value = _decoded(content, "value")
    before = _decoded(files[name], name)
    after = msgspec.json.encode(replaced(before, pointer, value))
    if after == msgspec.json.encode(before):
        return files[name]
    return msgspec.json.format(after, indent=2) + b"\n"


def _decoded(text: bytes, what: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadPatch(f"{what} is not JSON: {error}") from None


def _encoded(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadPatch(f"{what} is not Unicode text") from None


def _checked(value: T) -> T:
    try:
        return msgspec.convert(msgspec.to_builtins(value), type(value))
    except msgspec.ValidationError as error:
        raise BadPatch(f"the proposal is out of bounds: {error}") from None
