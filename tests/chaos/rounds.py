"""Rounds of chaos: agents work, something is killed, and everything that was acknowledged must still be there."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
import psutil

from adapter_server.settings import Settings
from adapter_server.store_access import store_to_read
from bus.errors import AdapterError
from bus.messages import EpisodeClose, EpisodeStatus
from tests.adapter_server.conftest import REV_REV, DaemonProcess, agent_client, open_episode, register
from tests.chaos.journal import Journal
from tests.chaos.promises import Promises

VICTIMS = ("server", "store", "worker", "agent")
AGENTS = ("ada", "bo")
ROUNDS_PER_EPISODE = 20
MAX_PAUSE_S = 0.8
GONE_S = 5.0
RECOVERED_S = 600.0
"""A recovery that takes long is counted, one that never comes ends the run."""

JOB_S = 40
"""So long a check that outlived its call is waited for, before another one is tried."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What one round did and found."""

    number: int
    victim: str
    recovery_s: float
    """From the kill until a call of the same kind was answered again."""

    acknowledged: int
    """Operations in the episode so far."""

    faults: list[str]
    orphans: int = 0
    """Processes that should have ended with what was killed and did not; each is a fault too."""


class Chaos:
    """A daemon, its agents as processes, and one who kills."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self._daemon = DaemonProcess(folder / "data", start_timeout_s=RECOVERED_S)
        self._agents: dict[str, subprocess.Popen[bytes]] = {}
        self._commands: dict[str, list[str]] = {}
        self._promises: Promises
        self._episode = ""
        self._number = 0

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Daemon and agents run inside the block; nothing is left after it."""
        self._daemon.start()
        try:
            yield
        finally:
            self._end_agents()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._daemon.stop, signal.SIGKILL)

    async def play(self, victim: str = "") -> Round:
        """Let the agents work for a moment, kill something, wait until it is there again, and judge."""
        if self._number % ROUNDS_PER_EPISODE == 0:
            await self._new_episode()
        self._number += 1
        victim = victim or self._random.choice(VICTIMS)
        await anyio.sleep(self._random.uniform(0, MAX_PAUSE_S))
        family = self._kill(victim)
        began = time.monotonic()
        if victim == "server":
            await anyio.to_thread.run_sync(self._daemon.start)
        await self._answered("check" if victim == "worker" else "say")
        recovery = time.monotonic() - began
        _, alive = psutil.wait_procs(family, timeout=max(0.0, GONE_S - recovery))
        orphans = [f"{victim} left {' '.join(_command(process))[:200]}" for process in alive if _is_alive(process)]
        async with store_to_read(Settings(data=str(self._daemon.folder.path))) as url:
            faults = orphans + await self._promises.judge(url)
        return Round(
            number=self._number, victim=victim, recovery_s=round(recovery, 3),
            acknowledged=self._promises.acknowledged, faults=faults, orphans=len(orphans),
        )  # fmt: skip

    async def finish(self) -> list[str]:
        """Stop everything in order; return what is left."""
        self._end_agents()
        note = self._daemon.folder.server()
        family = psutil.Process(note.pid).children(recursive=True) if note else []
        code = await anyio.to_thread.run_sync(self._daemon.stop)
        _, alive = psutil.wait_procs(family, timeout=GONE_S)
        left = [f"a stopped server left {' '.join(_command(one))[:200]}" for one in alive if _is_alive(one)]
        return [*left, *([f"the server ended with {code}"] if code else [])]

    def _kill(self, victim: str) -> list[psutil.Process]:
        """Kill it; return everything that must be gone then."""
        if victim == "agent":
            name = self._random.choice(AGENTS)
            self._agents[name].kill()
            self._agents[name].wait()
            self._start_agent(name)
            return []
        note = self._daemon.folder.server()
        assert note is not None
        server = psutil.Process(note.pid)
        below = server.children(recursive=True)
        if victim == "server":
            self._daemon.stop(signal.SIGKILL)
            return below
        is_store = victim == "store"
        candidates = [one for one in below if any("valkey-server" in word for word in _command(one)) == is_store]
        if not candidates:
            return []
        target = self._random.choice(candidates)
        with suppress(psutil.NoSuchProcess):
            family = [target, *target.children(recursive=True)]
            target.kill()
            return family
        return []

    async def _answered(self, tool: str) -> None:
        """Return when the server does again what this kind of call needs."""
        calls: dict[str, dict[str, Any]] = {
            "say": {"type": "note", "text": f"probe {time.time_ns()}"},
            "check": {"source": f"theorem probe (n : Nat) : n + {time.time_ns()} = n + {time.time_ns()} := rfl\n"},
        }
        with anyio.fail_after(RECOVERED_S):
            while True:
                with suppress(AdapterError, OSError, TimeoutError, ExceptionGroup, AssertionError):
                    async with self._daemon.bus() as link:
                        probe = await register(link, self._episode, f"probe{self._number}")
                    async with agent_client(probe) as client:
                        facts = await client.ok(tool, **calls[tool])
                        if facts.get("state") == "running":
                            facts = await client.ok("job", id=facts["job"], wait_s=JOB_S)
                        if tool == "say" or _is_decided(facts):
                            return
                await anyio.sleep(0.02)

    async def _new_episode(self) -> None:
        self._end_agents()
        async with self._daemon.bus() as link:
            if self._episode:
                await link.call("episode.close", EpisodeClose(episode=self._episode), EpisodeStatus)
            self._episode = (await open_episode(link, REV_REV)).episode
            journals = {name: self._folder / f"{self._episode}-{name}.jsonl" for name in AGENTS}
            for name, journal in journals.items():
                joined = await register(link, self._episode, name)
                words = [joined.url, joined.token, name, str(journal), str(self._random.randrange(1 << 30))]
                self._commands[name] = [sys.executable, "-m", "tests.chaos.agent", *words]
                self._start_agent(name)
        self._promises = Promises(self._episode, journals)
        with anyio.fail_after(RECOVERED_S):
            while not all(any(entry.outcome for entry in Journal(path).read()) for path in journals.values()):
                await anyio.sleep(0.02)

    def _start_agent(self, name: str) -> None:
        with (self._folder / "agents.log").open("ab") as output:
            self._agents[name] = subprocess.Popen(self._commands[name], stderr=output, stdout=output)

    def _end_agents(self) -> None:
        for process in self._agents.values():
            process.kill()
            process.wait()
        self._agents.clear()


def _is_decided(facts: dict[str, Any]) -> bool:
    verdicts = facts.get("verdicts") or [{"outcome": "undecided"}]
    return verdicts[0]["outcome"] != "undecided"


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def _is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
