"""`adapter-server connect` and `disconnect`: for a person who starts an agent by hand, or a host of another kind."""

import os
import shlex
import sys
from pathlib import Path

import anyio
import msgspec

from adapter_server.data_folder import DataFolder, ServerNote
from bus.errors import BadArguments
from bus.link import connect as open_link
from bus.messages import AgentRegister, AgentRegistered
from clients.connection import Added, add, piece, take_back
from clients.relay import relay
from scenarios.lean.server_process import ServerAddress, remote_server

from .exit_codes import OK

KINDS = ("codex", "claude", "stdio")
NOTES = Path(".adapter-server")
"""Folder in the current directory with the token and with what was changed; its user's only, never committed."""


def run_connect(
    kind: str,
    *,
    agent: str,
    episode: str | None,
    data: Path,
    server: str | None,
    token_file: Path | None,
    is_written: bool,
) -> int:
    """Let an agent join and print or write what its host needs; for `stdio` be its server until it leaves.

    Raises:
        AdapterError: an unknown kind, no server, no such episode, or a file that cannot be changed.
    """
    if kind not in KINDS:
        raise BadArguments(f"there is no host of kind {kind}", hint=f"kinds are {', '.join(KINDS)}")
    address = remote_server(server, token_file=token_file) if server else _local_server(data)
    joined = anyio.run(_join, address, episode or _only_episode(data), agent, kind)
    if kind == "stdio":
        anyio.run(_relay, joined)
    elif is_written:
        _write(kind, joined)
    else:
        _print(kind, joined)
    return OK


def run_disconnect(kind: str, *, agent: str) -> int:
    """Undo `connect --write` in this directory.

    Raises:
        BadArguments: nothing was written here for the agent.
    """
    note = NOTES / f"{agent}.{kind}.json"
    try:
        added = msgspec.json.decode(note.read_bytes(), type=Added)
    except (OSError, msgspec.DecodeError):
        hint = "disconnect in the directory in which you connected"
        raise BadArguments(f"{agent} was not connected to {kind} here", hint=hint) from None
    take_back(added)
    for path in (note, NOTES / f"{agent}.token"):
        path.unlink(missing_ok=True)
    (NOTES / ".gitignore").unlink(missing_ok=True)
    if not any(NOTES.iterdir()):
        NOTES.rmdir()
    else:
        _write_private(NOTES / ".gitignore", "*\n")
    print(f"removed from {added.file}")
    return OK


async def _join(address: ServerAddress, episode: str, agent: str, kind: str) -> AgentRegistered:
    async with open_link(address.url, token=address.token) as link:
        return await link.call(
            "agent.register", AgentRegister(episode=episode, name=agent, client=kind), AgentRegistered
        )


async def _relay(joined: AgentRegistered) -> None:
    await relay(joined.url, token=joined.token)


def _local_server(data: Path) -> ServerAddress:
    folder = DataFolder(path=data)
    try:
        note = msgspec.json.decode(folder.server_file.read_bytes(), type=ServerNote)
        token = folder.token_file.read_text(encoding="utf-8").strip()
    except (OSError, msgspec.DecodeError):
        hint = "start one with `adapter-server serve`, name its folder with --data, or its address with --server"
        raise BadArguments(f"no server runs on {data}", hint=hint) from None
    return ServerAddress(url=note.url, token=token)


def _only_episode(data: Path) -> str:
    folder = DataFolder(path=data).episodes
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if len(names) != 1:
        known = f"there are {', '.join(names[-5:])}" if names else "there is none yet"
        raise BadArguments(f"which episode? {known}", hint="name it with --episode")
    return names[0]


def _print(kind: str, joined: AgentRegistered) -> None:
    print(piece(kind, joined.url), end="")
    print(f"Put this into {_file(kind)} and start the host with the token:", file=sys.stderr)
    print(f"  export ADAPTER_TOKEN={shlex.quote(joined.token)}", file=sys.stderr)


def _write(kind: str, joined: AgentRegistered) -> None:
    added = add(kind, _file(kind), joined.url)
    NOTES.mkdir(mode=0o700, exist_ok=True)
    _write_private(NOTES / ".gitignore", "*\n")
    _write_private(NOTES / f"{joined.agent}.{kind}.json", msgspec.json.encode(added).decode())
    token = NOTES / f"{joined.agent}.token"
    _write_private(token, joined.token + "\n")
    print(f"{added.file} has the adapter now. Start the agent with:")
    print(f'  ADAPTER_TOKEN="$(cat {token})" {kind}')
    print(f"Undo with: adapter-server disconnect {kind} --agent {joined.agent}")


def _file(kind: str) -> Path:
    if kind == "claude":
        return Path(".mcp.json").absolute()
    home = os.environ.get("CODEX_HOME") or "~/.codex"
    return Path(home).expanduser().absolute() / "config.toml"


def _write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
