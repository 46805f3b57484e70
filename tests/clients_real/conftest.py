"""The real Codex and Claude Code, a real daemon, and a script in the model's place."""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio
import httpx2
import msgspec
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from bus.link import Link, connect
from bus.messages import (
    AgentRegister,
    AgentRegistered,
    EpisodeClose,
    EpisodeCreate,
    EpisodeCreated,
    EpisodeRef,
    EpisodeStatus,
    Event,
    ProblemText,
)
from clients.agent_spec import AgentSpec, Budget
from clients.binaries import PROGRAMS, Program
from clients.hosted import FollowingLimits, HostedAgent
from clients.launch import team
from clients.transcript import Entry, ToolCalled, read_transcript
from scenarios.lean.problem_files import load_problem
from scenarios.lean.server_process import ServerAddress, own_server
from tests.model_endpoints.server import ScriptedModel

E = TypeVar("E", bound=Entry)

INSTALL_TIMEOUT_S = 240
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH")
FAST = FollowingLimits(restart_pause_s=0.2, wake_every_s=1.0, idle_s=3600.0)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-clients", action="store_true", help="run the real Codex and Claude Code")


def cache_folder() -> Path:
    cache = os.environ.get("ADAPTER_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "adapter-server"
    return Path(cache).expanduser() / "clients"


def from_npm(name: str, *packages: str) -> Path:
    """An npm prefix in the cache that holds exactly these packages; made once, by one of the processes that test."""
    prefix = cache_folder() / name
    prefix.mkdir(parents=True, exist_ok=True)
    with (prefix / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (prefix / "complete").exists():
            _install(prefix, packages)
            (prefix / "complete").touch()
    return prefix


def _install(prefix: Path, packages: tuple[str, ...]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(prefix), *packages]
    done = subprocess.run(install, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    if done.returncode and any(code in done.stderr for code in UNREACHABLE):
        pytest.skip(f"npm cannot be reached: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


def installed(program: Program) -> Path:
    """The native binary of the pinned version."""
    prefix = from_npm(f"{program.kind}-{program.tried}", f"{program.package}@{program.tried}")
    (found,) = prefix.glob(program.native)
    return found


@pytest.fixture(scope="session")
def binaries(request: pytest.FixtureRequest) -> dict[str, Path]:
    if not request.config.getoption("--run-clients", default=False):
        pytest.skip("needs --run-clients")
    return {kind: installed(program) for kind, program in PROGRAMS.items()}


@pytest.fixture
def no_person(binaries: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Path]:
    """An environment without anything of the person who runs the tests, but with the pinned programs."""
    cache = cache_folder().parent  # before the home folder is another one
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "CLAUDE", "CODEX_")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    (tmp_path / "person").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("ADAPTER_CACHE", str(cache))
    for kind, path in binaries.items():
        monkeypatch.setenv(PROGRAMS[kind].variable, str(path))
    return binaries


@pytest.fixture
def real_clients(no_person: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The pinned programs are found, and nothing of the person who runs the tests; variables may be added."""
    assert no_person
    return monkeypatch


class Bench:
    """An episode on a real daemon, and the agents that work on it."""

    def __init__(self, *, link: Link, server: ServerAddress, folder: Path, episode: str) -> None:
        self.link, self.server, self.folder, self.episode = link, server, folder, episode
        self.logs = folder / "agents"
        self.events: list[Event] = []
        self.specs: list[AgentSpec] = []
        self._agents: list[HostedAgent] = []
        self._changed = anyio.Event()

    async def register(self, name: str, *, model: str = "scripted", budget: Budget | None = None) -> AgentSpec:
        kind = name.split("-", maxsplit=1)[0]
        wanted = AgentRegister(episode=self.episode, name=name, client=kind)
        answer = await self.link.call("agent.register", wanted, AgentRegistered)
        spec = AgentSpec(
            name=name, url=answer.url, token=answer.token, role=answer.role, kind=kind, prompts=answer.prompts,
            skills=answer.skills, model=model, budget=budget or Budget(),
        )  # fmt: skip
        self.specs.append(spec)
        return spec

    @asynccontextmanager
    async def playing(
        self, specs: list[AgentSpec], *, limits: FollowingLimits = FAST
    ) -> AsyncGenerator[list[HostedAgent]]:
        async with anyio.create_task_group() as tasks:
            async with team(specs, log_folder=self.logs, limits=limits) as agents:
                self._agents = [agent for agent in agents if isinstance(agent, HostedAgent)]
                tasks.start_soon(self._follow)
                yield self._agents
            tasks.cancel_scope.cancel()

    async def _follow(self) -> None:
        async for event in self.link.subscribe(self.episode, from_seq=0):
            self.events.append(event)
            for agent in self._agents:
                agent.take(event)
            self._changed.set()
            self._changed = anyio.Event()

    async def event(self, kind: str, *, timeout_s: float = 60.0, **body: object) -> Event:
        """The first event of a kind with these facts."""
        with anyio.fail_after(timeout_s):
            while True:
                changed = self._changed
                for event in self.events:
                    if event.kind == kind and body.items() <= event.body.items():
                        return event
                await changed.wait()

    async def call(self, spec: AgentSpec, tool: str, **arguments: object) -> str:
        """A tool call in an agent's name, without a host."""
        headers = {"Authorization": f"Bearer {spec.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(spec.url, http_client=http)) as client,
        ):
            result = await client.call_tool(tool, arguments)
        text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        assert not result.is_error, text
        return text

    async def status(self) -> EpisodeStatus:
        return await self.link.call("episode.status", EpisodeRef(episode=self.episode), EpisodeStatus)

    async def close(self) -> None:
        await self.link.call("episode.close", EpisodeClose(episode=self.episode), EpisodeStatus)

    def entries(self, name: str) -> list[Entry]:
        return [line.entry for line in read_transcript(self.logs / f"{name}.jsonl")]

    async def entry(self, name: str, kind: type[E], *, timeout_s: float = 30.0, **fields: object) -> E:
        """The first entry of a kind in an agent's transcript, once it is there."""
        with anyio.fail_after(timeout_s):
            while True:
                for entry in self.entries(name) if (self.logs / f"{name}.jsonl").exists() else []:
                    if isinstance(entry, kind) and all(getattr(entry, key) == fields[key] for key in fields):
                        return entry
                await anyio.sleep(0.05)

    def calls(self, name: str) -> list[ToolCalled]:
        return [entry for entry in self.entries(name) if isinstance(entry, ToolCalled)]


@pytest.fixture(scope="session")
def daemon_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("daemon")


@pytest.fixture(scope="session")
async def daemon(binaries: dict[str, Path], daemon_folder: Path) -> AsyncGenerator[ServerAddress]:
    """One daemon for all tests; each has an episode of its own."""
    assert binaries
    folder = daemon_folder
    async with own_server(folder / "server", log=folder / "server.log", options=("--conformance",)) as server:
        yield server


OpenBench = Callable[..., AbstractAsyncContextManager[Bench]]


@pytest.fixture
def bench(daemon: ServerAddress, real_clients: pytest.MonkeyPatch, tmp_path: Path) -> OpenBench:
    """Opens an episode; the clients that are started inside find the scripted model."""

    @asynccontextmanager
    async def opened(
        model: ScriptedModel, *, problem: str = "rev_rev", adapter: str | None = None
    ) -> AsyncGenerator[Bench]:
        for name, value in model.environment.items():
            real_clients.setenv(name, value)
        shipped = load_problem(problem)
        text = ProblemText(name=shipped.name, source=shipped.source, theorem=shipped.theorem)
        async with connect(daemon.url, token=daemon.token) as link:
            wanted = EpisodeCreate(problem=text, adapter=adapter)
            created = await link.call("episode.create", wanted, EpisodeCreated, timeout_s=120)
            try:
                yield Bench(link=link, server=daemon, folder=tmp_path, episode=created.episode)
            finally:
                await link.call("episode.close", EpisodeClose(episode=created.episode), EpisodeStatus)

    return opened


def facts_of(call: ToolCalled) -> dict[str, object]:
    line = next((line for line in call.text.splitlines() if line.startswith("{")), "{}")
    try:
        return msgspec.convert(json.loads(line), dict[str, object])
    except ValueError:
        return {}
