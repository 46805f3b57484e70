"""Agents as processes of their own: start them with an identity, follow them, stop them, leave none behind."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.abc
import structlog

from bus.messages import Event
from bus.tasks import background_tasks

from .agent_spec import AgentSpec
from .hosted import FollowingLimits, HostedAgent, Tell
from .hosts import HOSTS, find_hosts, hosted_agent

LOG = structlog.get_logger()
GRACE_S = 3.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "ADAPTER_DEBUG")


class AgentProcess:
    """A running agent in its own process group.

    Its standard input is a pipe that only this process holds: when this process ends, however it ends, the agent
    reads the end of the pipe and ends too.
    """

    def __init__(self, spec: AgentSpec, process: anyio.abc.Process, log: Path) -> None:
        self.spec = spec
        self.log = log
        """File with everything the agent wrote."""

        self._process = process

    @property
    def pid(self) -> int:
        """Process and process group id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.returncode

    def take(self, event: Event) -> None:
        """Nothing: such an agent asks the server itself."""

    async def wait(self) -> int:
        """Until it ends."""
        return await self._process.wait()

    async def stop(self, grace_s: float = GRACE_S) -> None:
        """End the whole process group; by force when it does not end in time."""
        if self._process.returncode is None:
            self._signal(signal.SIGTERM)
            with anyio.move_on_after(grace_s):
                await self._process.wait()
        self._signal(signal.SIGKILL)
        await self._process.wait()
        await self._process.aclose()
        LOG.info("agent_stopped", agent=self.spec.name, exit_code=self._process.returncode)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


async def launch(spec: AgentSpec, *, log_folder: Path) -> AgentProcess:
    """Start one agent; what it writes goes to `<log_folder>/<name>.log`, its calls and replies to `<name>.jsonl`.

    Raises:
        OSError: if the program cannot be started or the log cannot be written.
    """
    await anyio.Path(log_folder).mkdir(parents=True, exist_ok=True)
    path = log_folder / f"{spec.name}.log"
    async with await anyio.open_file(path, "ab") as log:
        process = await anyio.open_process(
            list(spec.command),
            stdout=log.wrapped,
            stderr=log.wrapped,
            env=_environment(spec) | {"ADAPTER_TRANSCRIPT": str(log_folder / f"{spec.name}.jsonl")},
            start_new_session=True,
        )
    LOG.info("agent_launched", agent=spec.name, role=spec.role, pid=process.pid)
    return AgentProcess(spec, process, path)


Agent = AgentProcess | HostedAgent


@asynccontextmanager
async def team(
    specs: Sequence[AgentSpec], *, log_folder: Path, limits: FollowingLimits | None = None, tell: Tell | None = None
) -> AsyncGenerator[list[Agent]]:
    """All agents of a team; on leaving, also by cancellation, every one of them has ended.

    Raises:
        BadArguments: a host's program or its login is missing.
        OSError: an agent cannot be started.
    """
    programs = find_hosts({spec.kind for spec in specs}, os.environ)
    running: list[Agent] = []
    async with background_tasks() as tasks:
        try:
            for spec in specs:
                if spec.kind not in HOSTS:
                    running.append(await launch(spec, log_folder=log_folder))
                    continue
                program, follow = programs[spec.kind], limits or FollowingLimits()
                agent = hosted_agent(spec, program=program, logs=log_folder, limits=follow, tell=tell)
                running.append(agent)
                tasks.start_soon(agent.run)
            yield running
        finally:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as stopping:
                    for agent in running:
                        stopping.start_soon(agent.stop)


def _environment(spec: AgentSpec) -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return passed | {
        "ADAPTER_URL": spec.url,
        "ADAPTER_TOKEN": spec.token,
        "ADAPTER_AGENT": spec.name,
        "ADAPTER_ROLE": spec.role,
        "ADAPTER_SEED": str(spec.seed),
        "ADAPTER_PORTFOLIO": " ".join(spec.portfolio),
        "ADAPTER_SHARING": "on" if spec.is_sharing else "off",
        "ADAPTER_ALONE": "yes" if spec.is_alone else "no",
        "ADAPTER_LIFELINE": "stdin",
        "PYTHONUNBUFFERED": "1",
    }
