"""Episodes: opened, joined, watched and ended. All that must survive is in the store; this only acts on it."""

import re
import secrets
import time
from collections.abc import Callable
from typing import Any

import msgspec
import structlog

from blackboard.board import Board
from blackboard.types import EpisodeMeta, NodeDraft
from bus.duplicate_work import DuplicateWork
from bus.errors import BadArguments, EpisodeClosed, Unauthorized, UnknownId
from bus.messages import (
    AgentRegister,
    AgentRegistered,
    AgentSummary,
    Credit,
    EpisodeClose,
    EpisodeCreate,
    EpisodeCreated,
    EpisodeRef,
    EpisodeStatus,
)
from lemma_store.store import LemmaStore

from .bundle import INSTRUCTIONS, Bundle
from .champion import Champions
from .data_folder import DataFolder
from .policy import Policy
from .settling import Settling
from .staging import open_bundle
from .tokens import Tokens
from .tools.caller import Caller
from .tools.closing import assembly
from .tools.statements import shown

_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_RESERVED_NAMES = frozenset({"server", "operator", "all", "everyone"})

log = structlog.get_logger()


class Episodes:
    """What the control plane and the MCP door may do with episodes.

    One that names no adapter version gets the one in use, or the `fixed` one of this server.
    """

    def __init__(
        self,
        *,
        board: Board,
        lemma_store: LemmaStore,
        folder: DataFolder,
        champions: Champions,
        fixed: Bundle | None,
        settling: Settling,
        tokens: Tokens,
        address: Callable[[], str],
    ) -> None:
        self._board = board
        self._lemma_store = lemma_store
        self._folder = folder
        self._champions = champions
        self._fixed = fixed
        self._settling = settling
        self._tokens = tokens
        self._address = address
        self._versions: dict[str, Bundle] = {}
        self._callers: dict[tuple[str, str], Caller] = {}
        self._duplicates: dict[str, DuplicateWork] = {}

    async def create(self, request: EpisodeCreate) -> EpisodeCreated:
        """Open an episode on a problem and pin the adapter version to it.

        Raises:
            BadProblem, NotLean: if the problem cannot be posed.
            BadArguments: if a limit does not exist or is out of bounds.
            UnknownId, BadDataFolder: if there is no such adapter version, or it was changed on disk.
        """
        bundle = await self._pinned(request.adapter)
        effective_policy(bundle.policy, request.limits)
        episode = _new_id(request.problem.name)
        problem = await self._lemma_store.open_problem(
            episode, source=request.problem.source, theorem=request.problem.theorem
        )
        statement = await shown(problem.statement, episode=episode, lemma_store=self._lemma_store)
        target = NodeDraft(
            name=problem.theorem, statement=statement, statement_hash=problem.statement.hash,
            order_free_hash=problem.statement.order_free_hash,
        )  # fmt: skip
        details: dict[str, object] = {
            "problem": request.problem.name,
            "origin": request.problem.origin,
            "limits": request.limits,
            "seconds": request.seconds,
        }
        root = await self._board.open_episode(episode, target, bundle.id, details, op=secrets.token_hex(8))
        self._settling.watch_time(episode, seconds=request.seconds)
        log.info("episode_opened", episode=episode, problem=request.problem.name, bundle=bundle.id)
        return EpisodeCreated(episode=episode, root=root.id, statement=root.statement, bundle=bundle.id)

    async def register(self, request: AgentRegister) -> AgentRegistered:
        """Let an agent join and tell its address and token; the same name again gets the same, in the role it has.

        Raises:
            BadArguments: if name or role cannot be used.
            EpisodeClosed, UnknownId: as the board says.
        """
        if not _AGENT.fullmatch(request.name) or request.name.lower() in _RESERVED_NAMES:
            raise BadArguments(
                f"{request.name!r} cannot name an agent", hint="Use letters, digits, . _ - (at most 64)."
            )
        if request.role and not _ROLE.fullmatch(request.role):
            raise BadArguments(
                f"{request.role!r} cannot name a role", hint="Use letters, digits, . _ - : (at most 64)."
            )
        meta = await self._board.meta(request.episode)
        if meta.status != "open":
            raise EpisodeClosed(f"the episode is {meta.status}", status=meta.status)
        team = {row.name: row.role for row in await self._board.agents(request.episode)}
        role = request.role or team.get(request.name) or self._policy(meta).role_of(len(team))
        await self._board.join(request.episode, request.name, role)
        self._callers.pop((request.episode, request.name), None)
        log.info("agent_joined", episode=request.episode, agent=request.name, role=role, client=request.client)
        return AgentRegistered(
            agent=request.name,
            url=f"{self._address()}/mcp/{request.episode}/{request.name}",
            token=self._tokens.issue(episode=request.episode, agent=request.name),
            role=role,
            prompts=_prompts(self._version(meta.bundle), agent=request.name, role=role),
            skills=self._version(meta.bundle).skills,
            portfolio=self._policy(meta).portfolio,
        )

    async def authenticate(self, *, episode: str, agent: str, token: str) -> Caller:
        """The caller behind address and token, which must agree.

        Raises:
            Unauthorized: if they do not, or the episode or the agent does not exist.
        """
        if not self._tokens.is_valid(token, episode=episode, agent=agent):
            raise Unauthorized("the token does not belong to this address")
        if (known := self._callers.get((episode, agent))) is not None:
            return known
        try:
            meta = await self._board.meta(episode)
        except UnknownId as error:
            raise Unauthorized("there is no such episode") from error
        roles = {row.name: row.role for row in await self._board.agents(episode)}
        if agent not in roles:
            raise Unauthorized("there is no such agent in this episode")
        caller = Caller(
            episode=episode,
            agent=agent,
            role=roles[agent],
            version=self._version(meta.bundle),
            policy=self._policy(meta),
        )
        self._callers[episode, agent] = caller
        return caller

    async def status(self, request: EpisodeRef) -> EpisodeStatus:
        """How an episode stands, with proof and credit once it is solved."""
        episode = request.episode
        meta = await self._board.meta(episode)
        root = await self._board.node(episode, meta.root)
        done = None
        if meta.status == "solved":
            done = await assembly(episode, board=self._board, lemma_store=self._lemma_store)
        credit = [
            Credit(lemma=one.lemma, name=one.name, author=one.author, used_by=list(one.used_by))
            for one in (done.credit if done else ())
        ]
        return EpisodeStatus(
            episode=episode,
            status=meta.status,
            statement=root.statement,
            seconds=seconds_of(meta),
            nodes=meta.nodes,
            closed_nodes=meta.closed_nodes,
            lemmas=meta.lemmas,
            checks=meta.checks,
            agents=await self._summaries(episode, credit),
            certificate=done.path if done else None,
            proof=done.proof if done else None,
            credit=credit,
            folder=str(self._folder.episodes / episode),
            duplicate_work_min=await self._duplicate_work(episode),
        )

    async def close(self, request: EpisodeClose) -> EpisodeStatus:
        """End an episode; one that has ended stays as it ended.

        Raises:
            BadArguments: if it should end as open or solved, which only the proof decides.
        """
        if request.status not in ("closed", "unsolved"):
            raise BadArguments(f"an episode cannot be closed as {request.status}", hint="Use closed or unsolved.")
        meta = await self._settling.end(request.episode, request.status, request.reason)
        log.info("episode_closed", episode=request.episode, status=meta.status)
        return await self.status(EpisodeRef(episode=request.episode))

    async def _duplicate_work(self, episode: str) -> float:
        """Only what happened since the last look is read."""
        work = self._duplicates.setdefault(episode, DuplicateWork())
        while events := await self._board.events(episode, work.seq):
            work.take(event for event in events if event.seq > work.seq)
        return work.minutes

    async def _summaries(self, episode: str, credit: list[Credit]) -> list[AgentSummary]:
        return [
            AgentSummary(
                name=row.name,
                role=row.role,
                calls=row.calls,
                checks=row.checks,
                lemmas=row.lemmas,
                used=sum(one.author == row.name for one in credit),
            )
            for row in await self._board.agents(episode)
        ]

    async def _pinned(self, wanted: str | None) -> Bundle:
        """The version for a new episode, read from the disk again: what was changed there since is never served."""
        if wanted is not None:
            bundle = open_bundle(self._folder.adapters, wanted)
        else:
            bundle = self._fixed or await self._champions.usable()
        return self._versions.setdefault(bundle.id, bundle)

    def _version(self, version: str) -> Bundle:
        if version not in self._versions:
            self._versions[version] = open_bundle(self._folder.adapters, version)
        return self._versions[version]

    def _policy(self, meta: EpisodeMeta) -> Policy:
        return effective_policy(self._version(meta.bundle).policy, meta.details.get("limits") or {})


def _prompts(bundle: Bundle, *, agent: str, role: str) -> dict[str, str]:
    names = {"team": "team", "role": f"roles/{role}", "instructions": INSTRUCTIONS}
    return {
        short: bundle.prompt(name, agent=agent, role=role) for short, name in names.items() if name in bundle.prompts
    }


def effective_policy(policy: Policy, limits: dict[str, Any]) -> Policy:
    """The policy with some numbers replaced, within the same bounds.

    Raises:
        BadArguments: if a name is unknown or a number out of bounds.
    """
    fields: dict[str, Any] = msgspec.to_builtins(policy)
    for name, value in limits.items():
        if isinstance(value, dict) and isinstance(fields.get(name), dict):
            fields[name] = {**fields[name], **value}
        else:
            fields[name] = value
    try:
        return msgspec.convert(fields, Policy)
    except msgspec.ValidationError as error:
        raise BadArguments(f"limits: {error}", hint=f"Limits are {', '.join(msgspec.to_builtins(policy))}.") from error


def seconds_of(meta: EpisodeMeta) -> float:
    """From the opening until now or until the end."""
    end_ms = meta.closed_at_ms if meta.closed_at_ms is not None else time.time() * 1000
    return max(0.0, round((end_ms - meta.opened_at_ms) / 1000, 3))


def _new_id(name: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    return f"{words or 'episode'}-{secrets.token_hex(5)}"
