"""One run: a server, an episode, a team; watched until it is solved, out of time or interrupted."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

import anyio
import msgspec

from bus.errors import AdapterError, CallerError, ConnectionLost
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
from clients.agent_spec import AgentSpec
from clients.hosted import HostedAgent
from clients.launch import Agent, team
from clients.nursery import open_nursery
from clients.transcript import Entry, entry_line

from .joined_calls import keep_calls
from .run_folder import RunFolder
from .run_limits import CheckBudget, RunLimits
from .run_record import RunOrder, RunRecord, RunStatus, record_of_end, record_of_stop, with_sessions
from .run_state import RunState
from .server_process import ServerAddress, died, own_server, remote_server
from .signals import until_signal
from .team import agent_spec, has_tacticians, parse_team
from .viewer import Viewer

CREATE_TIMEOUT_S = 120.0
SETTLE_S = 15.0
CALLS_S = 10.0
RECONNECT_S = 60.0
"""How long a server elsewhere may be away."""
RECONNECT_PAUSE_S = 1.0


async def run(order: RunOrder, folder: RunFolder, *, limits: RunLimits, viewer: Viewer) -> RunRecord:
    """Carry out a run, or go on with one that was interrupted. The record is kept in the folder.

    SIGINT and SIGTERM end it in order: the record says `interrupted`, the episode stays open for a later call.

    Raises:
        CallerError: the problem cannot be posed; the folder is gone.
        ServiceError: a part cannot be started or goes away; the record says `failed`.
    """
    current = _Run(order, folder, limits, viewer)
    return await _recorded(current, partial(until_signal, current.go))


async def run_part(order: RunOrder, folder: RunFolder, *, limits: RunLimits, viewer: Viewer) -> RunRecord:
    """As `run`, for a caller that has many runs and cares for signals itself; cancelling it ends the team."""
    current = _Run(order, folder, limits, viewer)
    return await _recorded(current, current.go)


async def _recorded(current: "_Run", work: Callable[[], Awaitable[RunRecord | None]]) -> RunRecord:
    folder = current.folder
    failure: AdapterError | None = None
    record: RunRecord | None = None
    try:
        record = await work()
    except* AdapterError as group:
        failure = first_error(group)
    if failure is not None and isinstance(failure, CallerError) and current.order.episode is None:
        folder.remove()  # nothing was done yet, and the same call shall work once the input is right
        raise failure
    if failure is not None:
        folder.save_record(current.stopped("failed", failure.message))
        raise failure
    record = record or current.stopped("interrupted", "stopped by a signal")
    folder.save_record(record)
    return record


def first_error(group: BaseExceptionGroup[AdapterError]) -> AdapterError:
    """The error to report: a lost connection is a consequence when there is another."""
    leaves = list(_leaves(group))
    return next((error for error in leaves if not isinstance(error, ConnectionLost)), leaves[0])


def _leaves(group: BaseExceptionGroup[AdapterError]) -> Iterator[AdapterError]:
    for inner in group.exceptions:
        yield from _leaves(inner) if isinstance(inner, BaseExceptionGroup) else (inner,)


class _Run:
    def __init__(self, order: RunOrder, folder: RunFolder, limits: RunLimits, viewer: Viewer) -> None:
        self.order, self.folder, self.limits, self.viewer = order, folder, limits, viewer
        self.members = parse_team(order.team, seed=order.seed)
        self.state = RunState()
        self.exit_codes: dict[str, int] = {}
        self.agents: list[Agent] = []
        self.server: ServerAddress | None = None
        self.nursery = limits.nursery
        self.last_seq = 0
        before = folder.record()
        self.seconds = before.seconds if before is not None else 0.0
        self.reason = ""

    async def go(self) -> RunRecord:
        async with AsyncExitStack() as stack:
            if self.nursery is None:  # the run's own loads while the server starts
                own = open_nursery(self.folder.nursery_log, at_once=has_tacticians(self.order.team))
                self.nursery = await stack.enter_async_context(own)
            self.server = await stack.enter_async_context(self._server())
            try:
                async with self._link() as link:
                    status = await self._opened(link)
                if status.status == "open":
                    status = await self._work(status.episode)
            except* ConnectionLost as group:
                raise (died(self.folder.server_log) if self.order.server is None else first_error(group)) from None
            finally:
                await self._keep_calls()
        if status.proof is not None:
            self.folder.proof_file.write_text(status.proof, encoding="utf-8")
        record = record_of_end(self.order, status, seconds=self.seconds, exit_codes=self.exit_codes, reason=self.reason)
        return self._with_sessions(record)

    @asynccontextmanager
    async def _server(self) -> AsyncGenerator[ServerAddress]:
        if self.order.server is not None:
            yield remote_server(self.order.server, token_file=self.limits.token_file)
            return
        project = ("--project", self.order.project) if self.order.project else ()
        options = (*self.limits.server_options, *project)
        async with own_server(self.folder.data, log=self.folder.server_log, options=options) as server:
            yield server

    async def _opened(self, link: Link) -> EpisodeStatus:
        """Open the episode, or find the one that this run has opened before."""
        if self.order.episode is None:
            problem = self.order.problem
            text = ProblemText(name=problem.name, source=problem.source, theorem=problem.theorem, origin=problem.origin)
            wanted = EpisodeCreate(problem=text, adapter=self.order.adapter)
            created = await link.call("episode.create", wanted, EpisodeCreated, timeout_s=CREATE_TIMEOUT_S)
            self.order = msgspec.structs.replace(self.order, episode=created.episode)
            self.folder.save_order(self.order)
        assert self.order.episode is not None
        status = await link.call("episode.status", EpisodeRef(episode=self.order.episode), EpisodeStatus)
        self.viewer.begin(self.order, status.statement)
        return status

    def _link(self) -> AbstractAsyncContextManager[Link]:
        assert self.server is not None
        return connect(self.server.url, token=self.server.token)

    async def _work(self, episode: str) -> EpisodeStatus:
        """Let the team work until the episode ends, the time is over or nobody is left."""
        has_ended = anyio.Event()
        self.reason = f"{self.limits.seconds:g} seconds are over"
        began = anyio.current_time()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._follow, episode, has_ended)
                with anyio.move_on_after(self.limits.seconds):
                    async with self._link() as link:
                        specs = await self._registered(link, episode)
                    logs, nursery = self.folder.agent_logs, self.nursery
                    async with team(specs, log_folder=logs, tell=self._tell, nursery=nursery) as self.agents:
                        self.reason = await self._watch(self.agents, has_ended)
                if self.state.is_target_proved:
                    with anyio.move_on_after(SETTLE_S):  # the server is assembling; that is not the team's time
                        await has_ended.wait()
                tasks.cancel_scope.cancel()
        finally:
            self.seconds += anyio.current_time() - began
        async with self._link() as link:
            return await self._left(link, episode)

    async def _left(self, link: Link, episode: str) -> EpisodeStatus:
        """How the episode stands. An open one is closed unless its server is the run's own: there it goes on later."""
        status = await link.call("episode.status", EpisodeRef(episode=episode), EpisodeStatus)
        if status.status == "open" and self.order.server is not None:
            close = EpisodeClose(episode=episode, status="unsolved", reason=self.reason)
            status = await link.call("episode.close", close, EpisodeStatus)
        if status.status != "open":
            await self._catch_up(link, episode)
            self.reason = self.state.reason
            if self.state.witness:
                self.reason += f"; it fails at {self.state.witness}"
        return status

    async def _keep_calls(self) -> None:
        """Also when the run was interrupted, as long as the server can be asked."""
        if self.order.episode is None:
            return
        with anyio.CancelScope(shield=True), anyio.move_on_after(CALLS_S):
            try:
                async with self._link() as link:
                    await keep_calls(link, self.folder, self.order.episode)
            except* AdapterError as group:
                self.viewer.note(f"the server's side of the calls is not known: {first_error(group).message}")

    async def _registered(self, link: Link, episode: str) -> list[AgentSpec]:
        """Let every member join; the server decides on the roles."""
        specs: list[AgentSpec] = []
        roles = (*self.order.roles, *[""] * len(self.members))
        for member, role in zip(self.members, roles, strict=False):
            wanted = AgentRegister(episode=episode, name=member.name, role=role, client=member.kind)
            answer = await link.call("agent.register", wanted, AgentRegistered)
            is_alone = len(self.members) == 1
            spec = agent_spec(member, answer, self.order.hosting, is_sharing=self.order.is_sharing, is_alone=is_alone)
            specs.append(spec)
        return specs

    async def _watch(self, agents: list[Agent], has_ended: anyio.Event) -> str:
        """Return why nobody works on: the episode has ended, the checks are used, or the last agent has ended."""

        async def wait_for(agent: Agent) -> None:
            code = self.exit_codes[agent.spec.name] = await agent.wait()
            if code:
                self.viewer.note(f"{agent.spec.name} ended with exit code {code}; its log is {agent.log}")

        async def wait_for_all() -> None:
            async with anyio.create_task_group() as waiting:
                for agent in agents:
                    waiting.start_soon(wait_for, agent)
            await anyio.sleep(SETTLE_S)  # what the last one proved may still close the episode
            tasks.cancel_scope.cancel()

        async def wait_for_checks(budget: CheckBudget) -> None:
            nonlocal reason
            await budget.is_spent.wait()
            reason = f"{budget.checks} checks are used"
            tasks.cancel_scope.cancel()

        reason = "every agent has ended"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_for_all)
            if self.limits.budget is not None:
                tasks.start_soon(wait_for_checks, self.limits.budget)
            await has_ended.wait()
            tasks.cancel_scope.cancel()
        return reason

    async def _follow(self, episode: str, has_ended: anyio.Event) -> None:
        """Take the events until the episode ends. A server that is not the run's own may be away for a while."""
        known, patience = self.folder.last_seq(), RECONNECT_S
        while True:
            try:
                async with self._link() as link:
                    async for event in link.subscribe(episode, from_seq=self.last_seq):
                        self.last_seq, patience = event.seq, RECONNECT_S
                        self._take(event, is_new=event.seq > known)
                        if event.kind == "episode_closed":
                            break
            except ConnectionLost:
                if self.order.server is None or patience <= 0:
                    raise
            else:
                has_ended.set()
                return
            self.viewer.note("the server cannot be reached; trying again")
            patience -= RECONNECT_PAUSE_S
            await anyio.sleep(RECONNECT_PAUSE_S)

    async def _catch_up(self, link: Link, episode: str) -> None:
        """Take the events that were not seen while the team was stopped."""
        if self.state.status == "open":
            with anyio.move_on_after(SETTLE_S):
                async for event in link.subscribe(episode, from_seq=self.folder.last_seq()):
                    self._take(event, is_new=True)
                    if event.kind == "episode_closed":
                        break

    def _take(self, event: Event, *, is_new: bool) -> None:
        lines = self.state.take(event)
        for agent in self.agents:
            agent.take(event)
        if is_new:
            self.folder.keep_event(event)
            if event.kind == "check_finished" and self.limits.budget is not None:
                self.limits.budget.take()
        self.viewer.show(self.state, lines if is_new else [])

    def _tell(self, name: str, entry: Entry) -> None:
        if line := entry_line(entry):
            self.viewer.note(f"{name} {line}")

    def _with_sessions(self, record: RunRecord) -> RunRecord:
        accounts = {agent.spec.name: agent.account for agent in self.agents if isinstance(agent, HostedAgent)}
        return with_sessions(record, accounts)

    def stopped(self, status: RunStatus, reason: str) -> RunRecord:
        """The record when the end of the episode was not reached."""
        record = record_of_stop(self.order, self.state, seconds=self.seconds, status=status, reason=reason)
        return self._with_sessions(record)
