"""Adapter versions: folders of data that decide what agents see. Content-addressed, checked before use."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from bus.errors import BadDataFolder, UnknownId

from .policy import Policy
from .tools.arguments import CONTRACT_VERSION, CONTRACTS, Arguments

MAX_BUNDLE_BYTES = 1_000_000
MAX_JSON_BYTES = 60_000
MAX_PROMPT_BYTES = 8_000
MAX_SKILL_BYTES = 20_000
SCHEMA_VERSION = 1
INSTRUCTIONS = "mcp/instructions"
PLACES = re.compile(
    r"(manifest|tools|policy)\.json|prompts/team\.md|prompts/(roles|mcp)/[a-z0-9_-]{1,60}\.md"
    r"|skills/[a-z0-9_-]{1,60}/SKILL\.md"
)
"""Every path that a version may have."""

T = TypeVar("T")


class ParameterWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What agents read about one parameter, and its limits."""

    description: str
    default: Any = None
    choices: list[str] | None = None
    """The values that agents are told about."""

    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = None
    """Characters of a text."""

    max_items: int | None = None


class ToolWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What agents read about one tool."""

    title: str
    description: str
    parameters: dict[str, ParameterWords]
    enabled: bool = True


class PromptWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a host lists a prompt; `{role}` stands for the caller's role."""

    title: str
    description: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which schema the folder follows and which tool contracts it was written for."""

    schema: int
    name: str
    contracts: dict[str, int]
    team_prompt: PromptWords
    role_prompt: PromptWords


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """One adapter version, read and checked."""

    id: str
    """`ab1-` and the SHA-256 over all paths and contents."""

    manifest: Manifest
    tools: dict[str, ToolWords]
    """Enabled tools only, in the order in which agents see them."""

    policy: Policy
    prompts: dict[str, str]
    """`team`, `roles/<role>`, `mcp/<name>` → text."""

    skills: dict[str, str]
    """Skill name → its SKILL.md."""

    @property
    def instructions(self) -> str:
        """What an MCP host is told about the server as a whole."""
        return self.prompts[INSTRUCTIONS]

    def prompt(self, name: str, **values: str) -> str:
        """A prompt with `{{key}}` replaced by the given values.

        Raises:
            UnknownId: if the version has no such prompt.
        """
        if name not in self.prompts:
            raise UnknownId(f"no prompt {name!r} in this version", nearest=sorted(self.prompts))
        text = self.prompts[name]
        for key, value in values.items():
            text = text.replace("{{" + key + "}}", value)
        return text


def default_bundle_folder() -> Path:
    """The version that ships with the server."""
    return Path(str(resources.files("adapter_server"))) / "bundles" / "default"


def bundle_id(files: Mapping[str, bytes]) -> str:
    """Content id of a version: it depends on paths and bytes only."""
    listing = "".join(f"{path}\0{hashlib.sha256(files[path]).hexdigest()}\n" for path in sorted(files))
    return "ab1-" + hashlib.sha256(listing.encode()).hexdigest()


def size_cap(path: str) -> int:
    """Bytes that a file of a version may have."""
    if path.endswith(".json"):
        return MAX_JSON_BYTES
    return MAX_SKILL_BYTES if path.startswith("skills/") else MAX_PROMPT_BYTES


def read_bundle(files: Mapping[str, bytes], *, place: str = "adapter version") -> Bundle:
    """A version from its files, path → content, checked whole; `place` begins each complaint.

    Raises:
        BadDataFolder: if something is missing, misspelt, out of bounds or too large.
    """
    for path, content in files.items():
        if not PLACES.fullmatch(path):
            raise BadDataFolder(f"{place}: {path!r} has no place in a version, which is data of fixed names")
        if len(content) > (cap := size_cap(path)):
            raise BadDataFolder(f"{place}: {path} has {len(content)} bytes, allowed are {cap}")
    if sum(map(len, files.values())) > MAX_BUNDLE_BYTES:
        raise BadDataFolder(f"{place} is larger than {MAX_BUNDLE_BYTES} bytes")
    manifest = _decode(files, "manifest.json", Manifest)
    tools = _decode(files, "tools.json", dict[str, ToolWords])
    policy = _decode(files, "policy.json", Policy)
    prompts = {path[len("prompts/") : -len(".md")]: _text(files, path) for path in files if _is_prompt(path)}
    skills = {path.split("/")[1]: _text(files, path) for path in files if path.startswith("skills/")}
    for problem in _problems(manifest, tools, policy, prompts):
        raise BadDataFolder(f"{place}: {problem}")
    return Bundle(
        id=bundle_id(files),
        manifest=manifest,
        tools={name: words for name, words in tools.items() if words.enabled},
        policy=policy,
        prompts=prompts,
        skills=skills,
    )


def _decode(files: Mapping[str, bytes], name: str, kind: type[T]) -> T:
    if name not in files:
        raise BadDataFolder(f"adapter version: {name} is missing")
    try:
        return msgspec.json.decode(files[name], type=kind)
    except msgspec.DecodeError as error:
        raise BadDataFolder(f"adapter version: {name}: {error}") from error


def _text(files: Mapping[str, bytes], path: str) -> str:
    try:
        return files[path].decode()
    except UnicodeDecodeError as error:
        raise BadDataFolder(f"adapter version: {path} is not UTF-8") from error


def _is_prompt(path: str) -> bool:
    return path.startswith("prompts/") and path.endswith(".md")


def _problems(
    manifest: Manifest, tools: Mapping[str, ToolWords], policy: Policy, prompts: Mapping[str, str]
) -> Iterator[str]:
    if manifest.schema != SCHEMA_VERSION:
        yield f"schema {manifest.schema}; this server reads schema {SCHEMA_VERSION}"
    for name, version in manifest.contracts.items():
        if name not in CONTRACTS or version != CONTRACT_VERSION:
            yield f"needs tool {name} in contract version {version}, which this server does not have"
    for name, words in tools.items():
        if name in manifest.contracts:
            yield from (f"tools.json: {name} {problem}" for problem in _breaches(CONTRACTS[name], words))
        else:
            yield f"tools.json has {name}, manifest.json does not"
    if not any(words.enabled for words in tools.values()):
        yield "tools.json: no tool is enabled"
    if not policy.roles.get("default"):
        yield "policy.json: roles.default is empty"
    for prompt in (INSTRUCTIONS, "team", *(f"roles/{role}" for roles in policy.roles.values() for role in roles)):
        if prompt not in prompts:
            yield f"prompts/{prompt}.md is missing"


def _breaches(contract: type[Arguments], words: ToolWords) -> Iterator[str]:
    """Where the words promise what the tool does not take, or keep silent about what it needs."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(contract)}
    for name, field in fields.items():
        if field.required and name not in words.parameters:
            yield f"needs words for its parameter {name}"
    for name, parameter in words.parameters.items():
        if name not in fields:
            yield f"has no parameter {name}"
            continue
        promised = [parameter.default] if parameter.default is not None else []
        for value in (*promised, *(parameter.choices or ())):
            if not _is_taken(value, fields[name].type) and not _is_taken([value], fields[name].type):
                yield f"does not take {value!r} as {name}"
        low, high = parameter.minimum, parameter.maximum
        if low is not None and high is not None and low > high:
            yield f"has a minimum of {name} above its maximum"


def _is_taken(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True
