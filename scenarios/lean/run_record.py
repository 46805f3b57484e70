"""What was asked for and how it ended, as data."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from bus.messages import Credit, EpisodeStatus
from clients.transcript import Account

from .problem import LeanProblem
from .run_state import RunState
from .team import Hosting

FORMAT = "adapter-server run 1"
RunStatus = Literal["solved", "refuted", "unsolved", "closed", "interrupted", "failed"]


class RunOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for: enough to go on after an interruption."""

    format: str = FORMAT
    problem: LeanProblem
    """What to prove."""
    team: str
    """As given: KIND:COUNT,…"""
    seed: int = 0
    """What the agents' choices depend on."""
    roles: tuple[str, ...] = ()
    """Roles that the members ask for, in order; without it the adapter version decides."""
    hosting: Hosting = Hosting()
    """Models and budgets of the agents that have one."""
    adapter: str | None = None
    """Id of the adapter version; without it the server's own choice."""
    is_sharing: bool = True
    """Whether agents may use each other's lemmas; only tacticians can do without."""
    project: str | None = None
    """Lake project that the run's own server uses."""
    server: str | None = None
    """Address of a server that runs already; without it the run starts its own."""
    episode: str | None = None
    """Set once the server has opened the episode."""


class AgentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent did."""

    role: str = ""
    calls: int = 0
    checks: int = 0
    lemmas: int = 0
    used: int = 0
    exit_code: int | None = None
    """Exit code of its process; None when it was still at work and was stopped."""
    session: Account | None = None
    """What its host did and spent, when it is played by one; `tool_calls` are the same calls as `calls`."""


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    status: RunStatus
    """refuted: proved false. unsolved: out of time or out of agents. closed: by someone else."""
    seconds: float
    """How long the team worked, all calls together."""
    lemmas: int = 0
    """Accepted lemmas."""
    checks: int = 0
    """Lean checks."""
    certificate: str | None = None
    """Path of the certificate, when solved."""
    agents: dict[str, AgentRecord] = {}
    """By name."""
    problem: str = ""
    theorem: str = ""
    origin: str = ""
    statement: str = ""
    team: str = ""
    seed: int = 0
    episode: str = ""
    credit: list[Credit] = []
    reason: str = ""

    def summary(self) -> dict[str, Any]:
        """What `--json` prints."""
        names = ("status", "seconds", "lemmas", "checks", "certificate", "agents")
        return {name: msgspec.to_builtins(getattr(self, name)) for name in names}


def with_sessions(record: RunRecord, accounts: Mapping[str, Account]) -> RunRecord:
    """The record with what hosts did and spent."""
    agents = {
        name: msgspec.structs.replace(agent, session=accounts[name]) if name in accounts else agent
        for name, agent in record.agents.items()
    }
    return msgspec.structs.replace(record, agents=agents)


def record_of_end(
    order: RunOrder, status: EpisodeStatus, *, seconds: float, exit_codes: Mapping[str, int], reason: str
) -> RunRecord:
    """The record of a run that has come to its end; an episode that is still open is not solved."""
    agents = {
        agent.name: AgentRecord(
            role=agent.role,
            calls=agent.calls,
            checks=agent.checks,
            lemmas=agent.lemmas,
            used=agent.used,
            exit_code=exit_codes.get(agent.name),
        )
        for agent in status.agents
    }
    return RunRecord(
        **_asked(order),
        status="unsolved" if status.status == "open" else status.status,
        seconds=round(seconds, 3),
        lemmas=status.lemmas,
        checks=status.checks,
        certificate=status.certificate,
        agents=agents,
        statement=status.statement,
        credit=status.credit,
        reason=reason,
    )


def record_of_stop(order: RunOrder, state: RunState, *, seconds: float, status: RunStatus, reason: str) -> RunRecord:
    """The record of a run that did not get to the end of its episode, from what was seen of it."""
    agents = {
        agent.name: AgentRecord(role=agent.role, checks=agent.checks, lemmas=agent.lemmas)
        for agent in state.agents.values()
    }
    return RunRecord(
        **_asked(order),
        status=status,
        seconds=round(seconds, 3),
        lemmas=len(state.lemmas),
        checks=state.checks,
        agents=agents,
        reason=reason,
    )


def _asked(order: RunOrder) -> dict[str, Any]:
    return {
        "problem": order.problem.name,
        "theorem": order.problem.theorem,
        "origin": order.problem.origin,
        "team": order.team,
        "seed": order.seed,
        "episode": order.episode or "",
    }
