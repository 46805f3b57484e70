"""The adapter in a configuration file that a person owns: added as one piece, taken out again exactly."""

import json
from pathlib import Path
from typing import Any, cast

import msgspec

from bus.errors import BadArguments

from .claude.plan import server_entry
from .codex.plan import server_table
from .codex.protocol import SERVER

_BEGIN = f"# adapter-server: begin ({SERVER})"
_END = f"# adapter-server: end ({SERVER})"


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """What was written, so that it can be taken back."""

    kind: str
    file: str
    before: str | None
    """The whole file before; None when there was none."""
    after: str


def piece(kind: str, url: str) -> str:
    """What a person adds to the host's configuration by hand."""
    if kind == "codex":
        return server_table(url)
    return json.dumps({"mcpServers": {SERVER: server_entry(url)}}, indent=2) + "\n"


def add(kind: str, file: Path, url: str) -> Added:
    """Add the adapter to a configuration file.

    Raises:
        BadArguments: it has an MCP server of this name already, or cannot be understood or written.
    """
    before = file.read_text(encoding="utf-8") if file.exists() else None
    after = _with_table(before or "", url) if kind == "codex" else _with_entry(before or "{}", file, url)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(after, encoding="utf-8")
    except OSError as error:
        raise BadArguments(f"cannot write {file}: {error.strerror or error}") from None
    return Added(kind=kind, file=str(file), before=before, after=after)


def take_back(added: Added) -> None:
    """Undo `add`. Changes that were made to the file since then are kept.

    Raises:
        BadArguments: the file cannot be understood or written.
    """
    file = Path(added.file)
    if not file.exists():
        return
    now = file.read_text(encoding="utf-8")
    rest = added.before
    if now != added.after:
        rest = _without_table(now) if added.kind == "codex" else _without_entry(now, file)
    try:
        if rest is None:
            file.unlink()
        else:
            file.write_text(rest, encoding="utf-8")
    except OSError as error:
        raise BadArguments(f"cannot write {file}: {error.strerror or error}") from None


def _with_table(text: str, url: str) -> str:
    if f"[mcp_servers.{SERVER}]" in text:
        raise _taken()
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{_BEGIN}\n{server_table(url)}{_END}\n"


def _without_table(text: str) -> str:
    head, begin, rest = text.partition(_BEGIN)
    _, end, tail = rest.partition(_END + "\n")
    return f"{head.removesuffix(chr(10))}{tail}" if begin and end else text


def _with_entry(text: str, file: Path, url: str) -> str:
    settings = _settings(text, file)
    servers = cast("dict[str, Any]", settings.setdefault("mcpServers", {}))
    if SERVER in servers:
        raise _taken()
    servers[SERVER] = server_entry(url)
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _without_entry(text: str, file: Path) -> str:
    settings = _settings(text, file)
    cast("dict[str, Any]", settings.get("mcpServers", {})).pop(SERVER, None)
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _settings(text: str, file: Path) -> dict[str, Any]:
    try:
        settings: object = json.loads(text)
    except ValueError as error:
        raise BadArguments(f"{file} is no JSON: {error}") from None
    if not isinstance(settings, dict) or not isinstance(cast("dict[str, Any]", settings).get("mcpServers", {}), dict):
        raise BadArguments(f"{file} is no list of MCP servers")
    return cast("dict[str, Any]", settings)


def _taken() -> BadArguments:
    hint = "remove it with `adapter-server disconnect`, or by hand"
    return BadArguments(f"there is an MCP server named {SERVER} already", hint=hint)
