"""What the control methods for adapter versions take and answer."""

from typing import Any, Literal

import msgspec

from .messages import Name

VersionState = Literal["in use", "was in use", "staged", "unusable"]


class VersionsList(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of adapter.list: none."""


class VersionRef(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of adapter.show and adapter.export.

    Attributes:
        version: the start of an id, `in-use` or `built-in`.
    """

    version: Name


class VersionDiff(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of adapter.diff; versions as in adapter.show."""

    before: Name
    after: Name


class VersionStage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of adapter.stage.

    Attributes:
        files: path → text; all files of the version.
    """

    files: dict[str, str]


class VersionActivate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of adapter.activate.

    Attributes:
        version: as in adapter.show.
        epoch: act only if this is the epoch now.
    """

    version: Name
    epoch: int | None = None


class VersionRollBack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of adapter.rollback.

    Attributes:
        version: one that was in use, as in adapter.show; without it the one before.
    """

    version: Name | None = None


class VersionInUse(msgspec.Struct, frozen=True, kw_only=True):
    """The version that new episodes get, and how often it was changed until then."""

    bundle: str
    epoch: int


class VersionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A version in a list.

    Attributes:
        id: its id.
        name: what its manifest calls it; empty when it cannot be read.
        state: what it is to new episodes.
        epochs: when it was put in use.
        is_built_in: whether it is the one that ships with this server.
        problem: why it is unusable.
    """

    id: str
    name: str
    state: VersionState
    epochs: list[int] = []
    is_built_in: bool = False
    problem: str = ""


class VersionReign(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the version in use.

    Attributes:
        bundle: the version from then on.
        epoch: number of the change.
        because: promoted, rolled_back or restored.
        at_ms: Unix time.
    """

    bundle: str
    epoch: int
    because: str
    at_ms: int


class VersionsListed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Reply of adapter.list.

    Attributes:
        in_use: what new episodes get.
        history: all changes, oldest first.
        versions: all that are staged.
        fixed: the version that this server gives to all episodes whatever is in use; empty for none.
    """

    in_use: VersionInUse
    history: list[VersionReign]
    versions: list[VersionRow]
    fixed: str = ""


class VersionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of adapter.show and adapter.stage.

    Attributes:
        id: its id.
        name: what its manifest calls it.
        tools: enabled ones with their titles.
        disabled: tools that agents are not shown.
        policy: the numbers.
        prompts: name → bytes.
        skills: name → bytes.
    """

    id: str
    name: str
    tools: dict[str, str]
    disabled: list[str]
    policy: dict[str, Any]
    prompts: dict[str, int]
    skills: dict[str, int]


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A file in which two versions differ; `diff` is in the unified form."""

    path: str
    change: Literal["added", "removed", "changed"]
    diff: list[str]


class VersionsDiffer(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of adapter.diff: ids, and the files that are not equal."""

    before: str
    after: str
    files: list[FileChange]


class VersionExported(msgspec.Struct, frozen=True, kw_only=True):
    """Reply of adapter.export: what adapter.stage takes elsewhere."""

    id: str
    files: dict[str, str]


class VersionMoved(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Reply of adapter.activate and adapter.rollback.

    Attributes:
        bundle: what new episodes get from now on.
        epoch: number of the change.
        before: what they got until now; equal when nothing was changed.
        fixed: as in adapter.list.
    """

    bundle: str
    epoch: int
    before: VersionInUse
    fixed: str = ""
