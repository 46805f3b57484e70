"""An agent played by Codex or Claude Code: its session is followed, woken, steered, restarted and stopped."""

from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec
import structlog

from bus.messages import Event

from .agent_spec import AgentSpec
from .host_plan import Host, PrivateFolder
from .host_protocol import HostProtocol
from .line_process import LineProcess, start
from .transcript import Account, Entry, Exited, SessionBegan, ToolCalled, Transcript, Troubled, TurnEnded, Woken
from .waking import Wake, WakePolicy

LOG = structlog.get_logger()

FIRST = "Join the team now: call digest, then follow the loop in your instructions until the target is proved."
AGAIN = "Your session was cut off ({reason}). What you held may have changed: call digest and go on."
CALL_A_TOOL = "You have not called any of the adapter's tools. Call digest and go on from what it says."

Prepare = Callable[[AgentSpec, PrivateFolder, str | None], Host]
Tell = Callable[[str, Entry], None]
"""Gets an agent's name and what has happened in its session."""


class FollowingLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Times and counts of the launcher."""

    tick_s: float = 0.25
    hang_s: float = 400.0
    """Silence of a working host after which it counts as hung; longer than any tool call."""
    grace_s: float = 3.0
    restarts: int = 3
    restart_pause_s: float = 2.0
    """Before the first restart; twice as long before each further one."""
    silent_turns: int = 3
    """Turns in a row without a tool call after which the agent is given up."""
    wake_every_s: float = 60.0
    idle_s: float = 30.0


class _Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Why a session ended, and whether another one follows."""

    reason: str
    is_final: bool
    exit_code: int = 0


class HostedAgent:
    """One agent; `run` plays it to its end, everything else may be called meanwhile."""

    def __init__(
        self,
        spec: AgentSpec,
        *,
        prepare: Prepare,
        folder: PrivateFolder,
        logs: Path,
        limits: FollowingLimits,
        tell: Tell | None = None,
    ) -> None:
        self.spec = spec
        self.log = logs / f"{spec.name}.log"
        self.transcript_file = logs / f"{spec.name}.jsonl"
        self.exit_code: int | None = None
        """None while it is at work."""

        self._prepare = prepare
        self._folder = folder
        self._limits = limits
        self._tell = tell
        self._policy = WakePolicy(spec.name, every_s=limits.wake_every_s, idle_s=limits.idle_s)
        self._transcript: Transcript | None = None
        self._process: LineProcess | None = None
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        self._verdict: _Verdict | None = None
        self._session: str | None = None
        self._heard_at = 0.0
        self._began_at = 0.0
        self._calls_in_turn = 0
        self._silent_turns = 0
        self._turn_ended = anyio.Event()

    @property
    def pid(self) -> int | None:
        """Process and process group id; None between two sessions."""
        return self._process.pid if self._process is not None else None

    @property
    def account(self) -> Account:
        """What it has done and spent so far."""
        return self._transcript.account if self._transcript is not None else Account()

    def take(self, event: Event) -> None:
        """Learn what has happened in the episode."""
        self._policy.take(event)

    async def wait(self) -> int:
        """Until it ends for good."""
        await self._ended.wait()
        return self.exit_code or 0

    async def stop(self) -> None:
        """End it; no restart follows. When the episode has ended it may interrupt its model in order first."""
        if self._policy.is_over:
            with anyio.move_on_after(self._limits.grace_s):
                await self._ended.wait()
        self._decide("stopped by the launcher", is_final=True)
        self._scope.cancel()
        await self._ended.wait()

    async def run(self) -> None:
        """Play the agent until it has finished, is stopped, or has failed too often."""
        self._began_at = anyio.current_time()
        verdict = _Verdict(reason="stopped by the launcher", is_final=True)
        try:
            with self._scope:
                prompt = FIRST
                for attempt in range(self._limits.restarts + 1):
                    # the first restart goes on with the session, the next ones begin a new one
                    verdict = await self._session_through(prompt, resume=self._session if attempt == 1 else None)
                    if verdict.is_final:
                        break
                    prompt = f"{AGAIN.format(reason=verdict.reason)}\n\n{FIRST}"
                    if attempt < self._limits.restarts:
                        await anyio.sleep(self._limits.restart_pause_s * 2**attempt)
        except OSError as error:
            verdict = _Verdict(reason=f"cannot be started: {error}", is_final=True, exit_code=1)
            LOG.warning("agent_not_started", agent=self.spec.name, reason=verdict.reason)
        finally:
            self.exit_code = verdict.exit_code
            self._folder.remove()
            self._ended.set()

    async def _session_through(self, prompt: str, *, resume: str | None) -> _Verdict:
        """One process of the host, from its start to its end."""
        host = self._prepare(self.spec, self._folder, resume)
        if self._transcript is None:
            self._transcript = Transcript(self.transcript_file, secrets=host.plan.secrets)
        plan = host.plan
        if self._verdict is not None and self._verdict.is_final:
            return self._verdict
        self._verdict, self._calls_in_turn, self._silent_turns = None, 0, 0
        process = await start(
            plan.command, environment=plan.environment, folder=plan.workspace, log=self.log, secrets=plan.secrets
        )
        self._process, self._heard_at = process, anyio.current_time()
        LOG.info("agent_launched", agent=self.spec.name, role=self.spec.role, client=self.spec.kind, pid=process.pid)
        try:
            await self._follow(process, host.protocol, prompt)
        finally:
            await process.stop(self._limits.grace_s)
            self._process = None
            code = process.exit_code
            verdict = self._verdict or _Verdict(reason=f"exit code {code}", is_final=False, exit_code=code or 1)
            self._note(Exited(reason=verdict.reason, exit_code=code))
            LOG.info("agent_stopped", agent=self.spec.name, reason=verdict.reason, exit_code=code)
        return verdict

    async def _follow(self, process: LineProcess, protocol: HostProtocol, prompt: str) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.keep_complaints)
            tasks.start_soon(self._attend, process, protocol, tasks.cancel_scope)
            await process.send([*protocol.begin(), *protocol.prompt(prompt)])
            async for message in process.messages():
                self._heard_at = anyio.current_time()
                step = protocol.take(message)
                for entry in step.entries:
                    self._note(entry)
                await process.send(step.replies)
            tasks.cancel_scope.cancel()

    async def _attend(self, process: LineProcess, protocol: HostProtocol, scope: anyio.CancelScope) -> None:
        """Look after a running session; leave with a verdict."""
        while self._verdict is None:
            await anyio.sleep(self._limits.tick_s)
            self._judge(protocol)
            if self._verdict is None:
                wake = self._policy.due(anyio.current_time(), is_busy=protocol.is_busy)
                await self._wake(wake or self._silence(), process, protocol)
        if protocol.is_busy:
            self._turn_ended = anyio.Event()
            self._note(Woken(how="interrupted", reason=self._verdict.reason))
            await process.send(protocol.interrupt())
            with anyio.move_on_after(self._limits.grace_s):
                await self._turn_ended.wait()
        scope.cancel()

    async def _wake(self, wake: Wake | None, process: LineProcess, protocol: HostProtocol) -> None:
        if wake is not None:
            self._note(Woken(how="steered" if protocol.is_busy else "prompted", reason=wake.reason))
            await process.send(protocol.prompt(wake.text))

    def _judge(self, protocol: HostProtocol) -> None:
        """Whether the session has to end."""
        now, budget, account = anyio.current_time(), self.spec.budget, self.account
        tokens = (account.usage + protocol.spent).total
        if self._policy.is_over:
            self._decide("the episode has ended", is_final=True)
        elif budget.seconds is not None and now - self._began_at >= budget.seconds:
            self._decide(f"budget: {budget.seconds:g} seconds", is_final=True)
        elif budget.tokens is not None and tokens >= budget.tokens:
            self._decide(f"budget: {budget.tokens} tokens", is_final=True)
        elif budget.turns is not None and account.turns >= budget.turns and not protocol.is_busy:
            self._decide(f"budget: {budget.turns} turns", is_final=True)
        elif self._silent_turns >= self._limits.silent_turns:
            self._decide("never called a tool", is_final=False, exit_code=1)
        elif protocol.is_busy and now - self._heard_at >= self._limits.hang_s:
            self._decide(f"silent for {self._limits.hang_s:g} seconds", is_final=False, exit_code=1)

    def _decide(self, reason: str, *, is_final: bool, exit_code: int = 0) -> None:
        self._verdict = self._verdict or _Verdict(reason=reason, is_final=is_final, exit_code=exit_code)

    def _silence(self) -> Wake | None:
        """Prompt at once a model that has stopped without a single call."""
        if self._calls_in_turn == -1:
            self._calls_in_turn = 0
            return Wake(reason="no tool was called", text=CALL_A_TOOL)
        return None

    def _note(self, entry: Entry) -> None:
        assert self._transcript is not None
        self._transcript.add(entry)
        if self._tell is not None:
            self._tell(self.spec.name, entry)
        match entry:
            case SessionBegan():
                self._session = entry.session
                if not entry.is_connected:
                    self._decide("the adapter could not be reached", is_final=False, exit_code=1)
            case ToolCalled() if entry.server:
                self._calls_in_turn += 1
                self._silent_turns = 0
            case TurnEnded():
                self._turn_ended.set()
                is_silent = self._calls_in_turn == 0
                self._silent_turns = self._silent_turns + 1 if is_silent else 0
                self._calls_in_turn = -1 if is_silent and self.account.tool_calls == 0 else 0
            case Troubled():
                LOG.warning("agent_troubled", agent=self.spec.name)
            case _:
                pass
