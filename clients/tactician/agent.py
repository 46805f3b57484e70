"""The agent's loop: choose an activity, do a bounded piece of it, look at the news."""

from __future__ import annotations

import anyio
import structlog

from .attacking import Attacker
from .desk import Desk, EpisodeOver, Lease, opened_note
from .evaluation import Undefined, find_witness
from .exploring import Explorer
from .goals import Goal
from .knowledge import Part
from .narrowing import Counterexample
from .printing import show
from .proving import Simp
from .refuting import Refuter, at_values
from .splitting import Splitter
from .strategies import Strategy
from .subgoals import Hint

LOG = structlog.get_logger()
IDLE_S = 2.0
ATTACK_PAUSE_S = 2.0
WATCH_S = 0.3
"""How long an agent looks at open parts in one turn."""

STAND_BACK_S = 1.5
TRIES_PER_LEASE = 3
TURNS_IN_ORDER = 6
"""Every so many turns what usually comes first comes last."""

REFRESH_EVERY = 12
"""Turns between two looks at the digest."""


class Agent:
    """One tactician; its memory outlives a broken connection."""

    def __init__(self, desk: Desk, *, strategy: Strategy, seed: int) -> None:
        self._desk = desk
        self._strategy = strategy
        self._seed = seed
        self._attacker = Attacker(desk, strategy=strategy)
        self._splitter = Splitter(desk, self._attacker)
        self._explorers: dict[str, Explorer] = {}
        self._refuter: Refuter | None = None
        self._doubted: set[str] = set()
        self._has_split = False
        self._nothing_free_at = -1
        self._next_attack = 0.0
        self._claims_from = 0.0
        self._began = 0.0

    async def run(self) -> str:
        """Work until the episode is over and say why; a broken connection raises."""
        try:
            return await self._loop()
        except EpisodeOver as over:
            return str(over)

    async def _loop(self) -> str:
        await self._desk.open(seed=self._seed)
        self._began = self._began or anyio.current_time()
        turn = 0
        while True:
            turn += 1
            if turn % REFRESH_EVERY == 0:
                await self._desk.refresh()
            await self._desk.catch_up()
            await self._refute()
            await self._finish()
            order = self._strategy.order
            if turn % TURNS_IN_ORDER == 0:
                order = (*order[1:], order[0])
            for activity in order:
                if await self._do(activity):
                    break
            else:
                await self._desk.wait(STAND_BACK_S if anyio.current_time() < self._claims_from else IDLE_S)
                await self._desk.refresh()

    async def _do(self, activity: str) -> bool:
        try:
            return await self._act(activity)
        except RecursionError:
            LOG.warning("term_too_deep", activity=activity)
            return False

    async def _act(self, activity: str) -> bool:
        if activity == "target":
            return await self._attack_target()
        if activity == "split":
            return await self._split_target()
        if activity == "parts":
            return await self._work_on_part()
        return await self._explore(activity)

    async def _refute(self) -> None:
        """Look for values that make the target false, for the agent's share of the time."""
        self._refuter = self._refuter or Refuter(self._desk, narrows_first=self._strategy.narrows_first)
        late_s = max(0.0, anyio.current_time() - self._began - self._strategy.refutes_after_s)
        allowed = self._strategy.refutes_first_s + self._strategy.refutes_share * late_s
        await self._refuter.step(allowed_s=allowed)

    # -- the target -------------------------------------------------------------------------------

    async def _finish(self) -> None:
        """When rewriting with the lemmas of the team would prove the target, or an open part: do it in Lean."""
        end = anyio.current_time() + WATCH_S
        watched = [*self._desk.open_parts.values()] if self._strategy.watches else []
        for part in (self._desk.knowledge.root, *watched):
            hint = self._attacker.hint(part)
            if hint is not None:
                await self._follow(hint, part)
            if anyio.current_time() > end:
                return

    async def _follow(self, hint: Hint, part: Part) -> None:
        lease = await self._desk.claim(node=part.node, approach="all lemmas are there: finish")
        if lease is not None and not await self._attacker.follow(hint, part, lease=lease):
            note = "rewriting closes it, Lean's simplifier does not"
            await self._desk.release(lease, outcome="stuck", note=note)

    async def _attack_target(self) -> bool:
        """Try the target with what is known now; False when that was done before."""
        if anyio.current_time() < self._next_attack:
            return False
        root = self._desk.knowledge.root
        attempt = self._attacker.next_attempt(root)
        if attempt is None:
            return False
        self._next_attack = anyio.current_time() + ATTACK_PAUSE_S
        await self._attacker.attempt(root, attempt, lease=None)
        return True

    async def _split_target(self) -> bool:
        if self._has_split:
            return False
        self._has_split = True
        root = self._desk.knowledge.root
        lease = await self._desk.claim(node=root.node, approach=self._strategy.approach)
        if lease is None:
            return False
        return await self._work(root, lease)

    # -- parts of the plan ------------------------------------------------------------------------

    async def _work_on_part(self) -> bool:
        if self._nothing_free_at == self._desk.version or anyio.current_time() < self._claims_from:
            return False
        lease = await self._desk.claim(approach=self._strategy.approach)
        if lease is None:
            self._nothing_free_at = self._desk.version
            return False
        statement = self._desk.knowledge.read(lease.text)
        part = Part(node=lease.node, name=lease.name or "part", text=lease.text, statement=statement)
        if (witness := self._witness(part)) is None:
            return await self._work(part, lease)
        if await self._desk.refute(part, witness.values):
            return True
        await self._desk.release(lease, outcome="false", note=f"false for {witness.readable}")
        if part.node not in self._doubted:
            self._doubted.add(part.node)
            text = f"{part.name} is false for {witness.readable}"
            await self._desk.call("say", type="note", text=text, ref=part.node)
            return True
        self._nothing_free_at = self._desk.version
        return False

    def _stand_back(self) -> None:
        """Who makes parts leaves them to the others for a moment."""
        self._claims_from = anyio.current_time() + STAND_BACK_S

    def _witness(self, part: Part) -> Counterexample | None:
        """Values that refute a part; the target has a search of its own."""
        knowledge = self._desk.knowledge
        if part.statement is None or part.node == knowledge.root.node:
            return None
        try:
            found = find_witness(part.statement, knowledge.evaluator, tests=60, rng=knowledge.rng)
        except Undefined:
            return None
        return None if found is None else at_values(found, part.statement, knowledge.evaluator)

    async def _work(self, part: Part, lease: Lease) -> bool:
        """A few attempts; then what is left goes back to the plan. False when everything was tried before."""
        self._splitter.take_note(part.node, lease.opened_with)
        hint = self._attacker.hint(part)
        if hint is not None and await self._attacker.follow(hint, part, lease=lease):
            return True
        if "split" in self._strategy.order and await self._splitter.split_at_once(part):
            note = self._told("follows from parts that look easy", part)
            await self._desk.release(lease, outcome="split", note=note)
            self._stand_back()
            return True
        goals: tuple[Goal, ...] = ()
        last: Simp | None = None
        tries = 0
        while tries < TRIES_PER_LEASE and (attempt := self._attacker.next_attempt(part)) is not None:
            tries += 1
            last = attempt[0]
            outcome = await self._attacker.attempt(part, attempt, lease=lease)
            if outcome.is_proved:
                return True
            goals = outcome.goals or goals
        count = 0
        if last is not None and self._strategy.generalises:
            count = await self._splitter.open_up(part, goals, last)
        if count:
            self._stand_back()
        note = self._told(_note(goals, count) if tries else "nothing new to try", part)
        await self._desk.release(lease, outcome="split" if count else "stuck", note=note)
        if not tries:
            self._nothing_free_at = self._desk.version
        return tries > 0

    def _told(self, note: str, part: Part) -> str:
        count = self._splitter.opened_with(part.node)
        return note if count < 0 else f"{opened_note(count)}; {note}"

    # -- exploration ------------------------------------------------------------------------------

    async def _explore(self, activity: str) -> bool:
        explorer = self._explorers.get(activity)
        is_conditional = activity == "conditions"
        late_s = 0.0 if is_conditional else self._strategy.explores_after_s
        if anyio.current_time() < self._began + late_s:
            return False
        if explorer is None:
            is_first = activity == self._strategy.order[0] or self._strategy.explores_after_s == 0.0
            explorer = Explorer(self._desk, seed=self._seed, is_first=is_first, only_conditional=is_conditional)
            self._explorers[activity] = explorer
        return await explorer.step()


def _note(goals: tuple[Goal, ...], count: int) -> str:
    left = f"left: {show(goals[0].conclusion)}" if goals else "no readable goal was left"
    return f"{left}; {count} parts added" if count else left
