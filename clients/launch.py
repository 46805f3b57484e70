"""Agents as processes of their own: start them with an identity, follow them, stop them, leave none behind."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

import anyio
import structlog

from bus.messages import Event
from bus.tasks import background_tasks

from .agent_spec import AgentSpec, passed_on
from .hosted import FollowingLimits, HostedAgent, Tell
from .hosts import HOSTS, find_hosts, hosted_agent
from .nursery import Nursery, can_be_forked

LOG = structlog.get_logger()
GRACE_S = 3.0


class Running(Protocol):
    """A process that was started, or forked."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    async def wait(self) -> int: ...
    async def aclose(self) -> None: ...


class AgentProcess:
    """A running agent in its own process group.

    Its standard input is a pipe that only this process holds: when this process ends, however it ends, the agent
    reads the end of the pipe and ends too.
    """

    def __init__(self, spec: AgentSpec, process: Running, log: Path) -> None:
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


async def launch(spec: AgentSpec, *, log_folder: Path, nursery: Nursery | None = None) -> AgentProcess:
    """Start one agent; what it writes goes to `<log_folder>/<name>.log`, its calls and replies to `<name>.jsonl`.

    Raises:
        OSError: if the program cannot be started or the log cannot be written.
    """
    await anyio.Path(log_folder).mkdir(parents=True, exist_ok=True)
    path = log_folder / f"{spec.name}.log"
    environment = _environment(spec) | {"ADAPTER_TRANSCRIPT": str((log_folder / f"{spec.name}.jsonl").absolute())}
    with path.open("ab") as log:
        process = await _started(spec, environment, log, nursery)
    LOG.info("agent_launched", agent=spec.name, role=spec.role, pid=process.pid)
    return AgentProcess(spec, process, path)


async def _started(spec: AgentSpec, environment: Mapping[str, str], log: BinaryIO, nursery: Nursery | None) -> Running:
    if nursery is not None and can_be_forked(spec):
        return await nursery.fork(environment, output=log)
    return await anyio.open_process(list(spec.command), stdout=log, stderr=log, env=environment, start_new_session=True)


Agent = AgentProcess | HostedAgent


@asynccontextmanager
async def team(
    specs: Sequence[AgentSpec],
    *,
    log_folder: Path,
    limits: FollowingLimits | None = None,
    tell: Tell | None = None,
    nursery: Nursery | None = None,
) -> AsyncGenerator[list[Agent]]:
    """All agents of a team; on leaving, also by cancellation, every one of them has ended.

    Tacticians are forked when there is a nursery, and start as processes when there is none.

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
                    running.append(await launch(spec, log_folder=log_folder, nursery=nursery))
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
    return passed_on() | {
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
