"""A real daemon in a process of its own: real Valkey, real Lean, on a port that the system chooses."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from adapter_server.data_folder import DataFolder
from bus.link import Link, connect
from bus.messages import AgentRegister, AgentRegistered, EpisodeCreate, EpisodeCreated, ProblemText

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 20.0
OPEN_TIMEOUT_S = 90.0
"""A busy machine takes its time for the judge's start."""

APPEND = """
inductive L where
  | nil : L
  | cons : Nat → L → L

def app : L → L → L
  | .nil, y => y
  | .cons h t, y => .cons h (app t y)

def rev : L → L
  | .nil => .nil
  | .cons h t => app (rev t) (.cons h .nil)
"""
REV_REV = APPEND + "\ntheorem rev_rev : ∀ (x : L), rev (rev x) = x := by sorry\n"
APP_NIL = APPEND + "\ntheorem app_nil : ∀ (x : L), app x .nil = x := by sorry\n"
APP_NIL_PROOF = """theorem app_nil : ∀ (x : L), app x .nil = x := by
  intro x
  induction x with
  | nil => rfl
  | cons h t ih => simp [app, ih]
"""

_SERVE = """
import sys
from adapter_server.cli.serve import run_serve
from adapter_server.settings import load_settings
sys.exit(run_serve(load_settings({"data": sys.argv[1], "port": int(sys.argv[2]), "log_format": "json"})))
"""


class DaemonProcess:
    """A daemon on a data folder; it can be killed and started again on the same port."""

    def __init__(self, path: Path, *, start_timeout_s: float = START_TIMEOUT_S) -> None:
        self.folder = DataFolder(path=path)
        self._start_timeout_s = start_timeout_s
        self.log = path.with_suffix(".log")
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        note = self.folder.server()
        assert note is not None
        return note.url

    @property
    def token(self) -> str:
        return self.folder.operator_token()

    def start(self) -> None:
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, str(self.folder.path), str(self._port)], stdout=output, stderr=output
            )
        deadline = time.monotonic() + self._start_timeout_s
        while time.monotonic() < deadline and self._process.poll() is None:
            note = self.folder.server()
            if note is not None and note.pid == self._process.pid:
                self._port = int(note.url.rpartition(":")[2])
                return
            time.sleep(0.02)
        raise AssertionError(f"the daemon did not start: {self.log.read_text()[-3000:]}")

    def stop(self, sent: signal.Signals = signal.SIGTERM) -> int:
        assert self._process is not None
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, sent)
        return self._process.wait(STOP_TIMEOUT_S)

    def bus(self) -> AbstractAsyncContextManager[Link]:
        return connect(self.url, token=self.token)


@pytest.fixture
def fresh_daemon(tmp_path: Path) -> Generator[DaemonProcess]:
    """A daemon of this test alone, which may be killed."""
    process = DaemonProcess(tmp_path / "data")
    process.start()
    yield process
    process.stop()


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Generator[DaemonProcess]:
    """One daemon for all tests that do not harm it; every test has its own episode."""
    process = DaemonProcess(tmp_path_factory.mktemp("daemon") / "data")
    process.start()
    yield process
    assert process.stop() == 0


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A tool's text taken apart."""

    headline: str
    facts: dict[str, Any]
    news: list[str]
    is_error: bool
    text: str


class Agent:
    """An ordinary MCP client of one agent."""

    def __init__(self, client: Client, registered: AgentRegistered) -> None:
        self.client = client
        self.registered = registered

    @property
    def name(self) -> str:
        return self.registered.agent

    async def call(self, tool: str, **arguments: object) -> Reply:
        with anyio.fail_after(50):
            result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert len(content.text.encode()) <= 8192
        headline, facts, *rest = content.text.split("\n")
        return Reply(
            headline=headline,
            facts=msgspec.json.decode(facts),
            news=rest[1:],
            is_error=bool(result.is_error),
            text=content.text,
        )

    async def ok(self, tool: str, **arguments: object) -> dict[str, Any]:
        reply = await self.call(tool, **arguments)
        assert not reply.is_error, reply.text
        return reply.facts

    async def fails(self, tool: str, **arguments: object) -> dict[str, Any]:
        reply = await self.call(tool, **arguments)
        assert reply.is_error, reply.text
        return reply.facts


@asynccontextmanager
async def agent_client(registered: AgentRegistered, mode: str = "auto") -> AsyncGenerator[Agent]:
    headers = {"Authorization": f"Bearer {registered.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(registered.url, http_client=http), mode=mode) as client,
    ):
        failure: Exception | None = None
        try:
            yield Agent(client, registered)
        except Exception as error:  # noqa: BLE001 - raised below, outside the client's task groups
            failure = error
    if failure is not None:
        raise failure


async def open_episode(link: Link, source: str = REV_REV, **options: Any) -> EpisodeCreated:
    request = EpisodeCreate(problem=ProblemText(name="a test", source=source), **options)
    return await link.call("episode.create", request, EpisodeCreated, timeout_s=OPEN_TIMEOUT_S)


async def register(link: Link, episode: str, name: str, role: str = "") -> AgentRegistered:
    return await link.call("agent.register", AgentRegister(episode=episode, name=name, role=role), AgentRegistered)


Join = Callable[..., AbstractAsyncContextManager[Agent]]


@pytest.fixture
async def link(daemon: DaemonProcess) -> AsyncGenerator[Link]:
    async with daemon.bus() as opened:
        yield opened


@pytest.fixture
async def episode(link: Link) -> str:
    return (await open_episode(link)).episode


@pytest.fixture
def join(link: Link, episode: str) -> Join:
    """Let an agent join the test's episode and connect."""

    @asynccontextmanager
    async def joined(name: str, mode: str = "auto", role: str = "") -> AsyncGenerator[Agent]:
        registered = await register(link, episode, name, role)
        async with agent_client(registered, mode) as agent:
            yield agent

    return joined


@pytest.fixture(scope="session")
async def shared_episode(daemon: DaemonProcess) -> str:
    async with daemon.bus() as opened:
        return (await open_episode(opened)).episode


@pytest.fixture
def team(daemon: DaemonProcess, shared_episode: str) -> Join:
    """Let an agent join an episode that other tests use too, under a name of its own that begins with the given one."""

    @asynccontextmanager
    async def joined(name: str, mode: str = "auto") -> AsyncGenerator[Agent]:
        async with daemon.bus() as opened:
            registered = await register(opened, shared_episode, f"{name}-{secrets.token_hex(5)}")
        async with agent_client(registered, mode) as agent:
            yield agent

    return joined
