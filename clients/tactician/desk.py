"""An agent's own view of the tools: typed calls, with the news of every reply taken up."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
import structlog

from .knowledge import Knowledge, Part
from .news import Happening, happenings
from .proving import negations
from .session import Facts, Reply, Toolbox

LOG = structlog.get_logger()
_PASSING = frozenset({"deadline", "queue_full", "rate_limited", "internal"})


class EpisodeOver(Exception):
    """The target is proved, or the episode was closed."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """A claimed node."""

    node: str
    name: str
    text: str
    fence: int
    opened_with: int = -1
    """With how many rules somebody tried to open it up last, as their notes say."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What a check said."""

    accepted: tuple[str, ...] = ()
    """Names of the author whose theorems were accepted."""

    closes: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    is_undecided: bool = False
    """Whether limits or a failure kept the server from deciding; the same text may pass later."""


class Desk:
    """Calls tools for one agent and keeps its knowledge up to date."""

    def __init__(self, toolbox: Toolbox, *, me: str, is_sharing: bool = True) -> None:
        self._toolbox = toolbox
        self._knowledge: Knowledge | None = None
        self._untold: list[Happening] = []
        self._early: list[tuple[str, str, str]] = []
        self.me = me
        self.is_sharing = is_sharing
        """Whether others' lemmas are taken up."""

        self.open_parts: dict[str, Part] = {}
        """Parts that others added, as long as nothing told that they are closed."""

        self.version = 0
        """Grows when something happened that makes another attempt worth while."""

    @property
    def knowledge(self) -> Knowledge:
        """What is known; there is none before `open`."""
        assert self._knowledge is not None
        return self._knowledge

    def reconnect(self, toolbox: Toolbox) -> None:
        """Go on over a new connection."""
        self._toolbox = toolbox

    async def open(self, *, seed: int) -> None:
        """Read the problem and the state of the episode, once."""
        digest = await self.call("digest")
        self._stop_if_over(digest.facts)
        if self._knowledge is not None:
            return
        target = _mapping(digest.facts.get("target"))
        source = await self.read("problem")
        statement = str(target.get("statement", ""))
        root = str(target.get("node", "n0"))
        if statement.endswith("…") or not statement:
            statement = await self.read(root)
        self._knowledge = Knowledge(source=source, target=statement, root=root, seed=seed)
        for item in self._early:
            self.learn(*item)
        self._take_lemmas(digest.facts)

    async def call(self, tool: str, **arguments: Any) -> Reply:
        """One call; its news are taken up.

        Raises:
            EpisodeOver: when there is nothing left to do.
        """
        reply = await self._toolbox.call(tool, arguments)
        for event in happenings(reply):
            self._take_up(event)
        if reply.code in {"episode_closed", "unauthorized"}:
            raise EpisodeOver(reply.headline)
        return reply

    def _take_up(self, event: Happening) -> None:
        if event.kind == "episode_closed":
            raise EpisodeOver(event.kind)
        if self._knowledge is not None and self._knowledge.root.node in event.closes:
            raise EpisodeOver("the target is proved")
        if event.kind == "lemma_accepted" and event.name:
            if event.statement:
                self.learn(event.name, event.statement, event.actor)
            else:
                self._untold.append(event)
        if self._knowledge is not None and event.kind == "node_refuted" and event.node == self._knowledge.root.node:
            raise EpisodeOver("the target is false")
        for node in (*event.closes, *([event.node] if event.kind in {"node_closed", "node_refuted"} else [])):
            self.open_parts.pop(node, None)
        if event.kind == "node_added" and event.statement and self._knowledge is not None:
            statement = self._knowledge.read(event.statement)
            part = Part(node=event.node, name=event.name or "part", text=event.statement, statement=statement)
            self.open_parts[event.node] = part
        if event.kind in {"node_added", "lease_released", "lease_expired"}:
            self.version += 1

    def learn(self, name: str, text: str, author: str) -> None:
        """Take up a lemma."""
        if not self.is_sharing and author != self.me:
            return
        if self._knowledge is None:
            self._early.append((name, text, author))
        elif self._knowledge.learn(name, text, author=author):
            self.version += 1

    async def catch_up(self) -> None:
        """Read the statements that were too long for the news."""
        pending, self._untold = self._untold, []
        for event in pending if self.is_sharing else ():
            text = await self.read(event.name, part="statement")
            self.learn(event.name, text, event.actor)

    async def refresh(self) -> Facts:
        """The digest; its lemmas are taken up."""
        reply = await self.call("digest")
        self._stop_if_over(reply.facts)
        self._take_lemmas(reply.facts)
        left_out = _mapping(reply.facts.get("left_out")).get("lemmas", 0)
        if isinstance(left_out, int) and left_out > 0 and len(self.knowledge.lemmas) < left_out:
            await self._search()
        return reply.facts

    async def _search(self) -> None:
        """Lemmas about the functions of the target that neither news nor digest told."""
        for name in list(self.knowledge.theory.functions)[:4]:
            reply = await self.call("find", q=name, **{"in": ["lemmas"], "limit": 15})
            for item in _mappings(reply.facts.get("hits")):
                self._learn_fields(item)

    def _take_lemmas(self, facts: Facts) -> None:
        for item in _mappings(facts.get("lemmas")):
            self._learn_fields(item)

    def _learn_fields(self, item: Mapping[str, Any]) -> None:
        text = str(item.get("statement", ""))
        if text and not text.endswith("…"):
            self.learn(str(item.get("name", "")), text, str(item.get("author", "")))

    def _stop_if_over(self, facts: Facts) -> None:
        steps = [item.get("do") for item in _mappings(facts.get("next"))]
        if facts.get("phase") in {"solved", "refuted", "unsolved", "closed"} or "stop" in steps:
            raise EpisodeOver(str(facts.get("phase")))

    async def read(self, what: str, *, part: str | None = None) -> str:
        """A stored text, slice by slice."""
        text, offset = "", 0
        while True:
            reply = await self.call("get", id=what, part=part, offset=offset)
            if reply.is_error:
                return text
            text += str(reply.facts.get("text", ""))
            following = reply.facts.get("next_offset")
            if not isinstance(following, int):
                return text
            offset = following

    async def check(self, source: str, *, lease: Lease | None = None, wait_s: float = 20) -> Checked:
        """Have Lean text judged; accepted theorems become known lemmas."""
        node, fence = (lease.node, lease.fence) if lease else (None, None)
        reply = await self.call("check", source=source, node=node, fence=fence, wait_s=wait_s)
        if reply.facts.get("state") == "running":
            reply = await self.call("job", id=reply.facts["job"], wait_s=wait_s)
        if reply.facts.get("state") in ("running", "cancelled", "interrupted"):
            return Checked(is_undecided=True)
        if reply.is_error:
            return Checked(is_undecided=reply.code in _PASSING)
        accepted: list[str] = []
        closes: list[str] = []
        is_undecided = False
        for verdict in _mappings(reply.facts.get("verdicts")):
            if verdict.get("outcome") == "accepted":
                accepted.append(str(verdict.get("name", "")))
                closes += [str(node) for node in verdict.get("closes") or ()]
                self.learn(str(verdict.get("lemma", "")), str(verdict.get("statement", "")), self.me)
            elif verdict.get("outcome") == "undecided":
                is_undecided = True
                LOG.debug("check_undecided", reasons=verdict.get("reasons"), source=source)
        goals = tuple(str(goal) for goal in reply.facts.get("goals") or ())
        if self.knowledge.root.node in closes:
            raise EpisodeOver("the target is proved")
        return Checked(accepted=tuple(accepted), closes=tuple(closes), goals=goals, is_undecided=is_undecided)

    async def claim(self, *, node: str | None = None, approach: str) -> Lease | None:
        """A lease on the given node, or on the best free one."""
        action = "next" if node is None else "take"
        reply = await self.call("claim", action=action, node=node, approach=approach)
        facts = reply.facts
        if reply.is_error or not facts.get("node"):
            return None
        for item in _mappings(facts.get("lemmas")):
            self._learn_fields(item)
        text = str(facts.get("statement", ""))
        if text.endswith("…"):
            text = await self.read(str(facts["node"]))
        return Lease(
            node=str(facts["node"]),
            name=str(facts.get("name", "")),
            text=text,
            fence=int(facts.get("fence", 0)),
            opened_with=max((_opened_with(item) for item in _mappings(facts.get("attempts"))), default=-1),
        )

    async def release(self, lease: Lease, *, outcome: str, note: str) -> None:
        """Give a lease back with what was learned."""
        await self.call("claim", action="release", node=lease.node, outcome=outcome, note=note[:600])

    async def add_part(self, name: str, text: str, *, why: str) -> str | None:
        """A new node of the plan; None when it was there, is proved, or was refused."""
        reply = await self.call("plan", action="add", name=name, statement=text, text=why)
        if reply.is_error or reply.facts.get("duplicate_of"):
            return None
        return str(reply.facts.get("node", "")) or None

    async def split(self, parent: str, children: list[tuple[str, str]], *, glue: str, why: str) -> Reply:
        """An alternative for a node; an error reply when Lean does not accept the glue."""
        parts = [{"name": name, "statement": text} for name, text in children]
        return await self.call("plan", action="split", parent=parent, children=parts, glue=glue, text=why)

    async def refute(self, part: Part, values: Sequence[str]) -> bool:
        """Have the kernel confirm that a part is false at the given values; raises EpisodeOver for the target."""
        reply = await self.call("refute", kind="witness", node=part.node, evidence=" ".join(values))
        for proof in negations(values, self.knowledge.definitions):
            if not reply.is_error:
                break
            reply = await self.call("refute", kind="proof", node=part.node, lean=proof)
        if not reply.is_error and part.node == self.knowledge.root.node:
            raise EpisodeOver("the target is false")
        return not reply.is_error

    async def wait(self, seconds: float) -> None:
        """Until something happens; when an event ended the waiting, the log says when."""
        began_ms = time.time_ns() // 1_000_000
        reply = await self.call("wait", **{"for": ["any"], "timeout_s": seconds})
        for event in _mappings(reply.facts.get("events"))[:1]:
            LOG.info("woken", seq=event.get("seq"), began_ms=began_ms, woken_ms=time.time_ns() // 1_000_000)


def opened_note(rules: int) -> str:
    """What the others need not do again."""
    return f"opened up with {rules} rules"


def _opened_with(attempt: Mapping[str, Any]) -> int:
    found = re.search(opened_note(0).replace("0", r"(\d+)"), str(attempt.get("note", "")))
    return int(found[1]) if found else -1


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        return []
    return [cast("Mapping[str, Any]", item) for item in cast("list[object]", value) if isinstance(item, dict)]
