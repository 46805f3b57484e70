"""The agent's loop: choose an activity, do a bounded piece of it, look at the news."""

from __future__ import annotations

import anyio.lowlevel
import structlog

from .conjectures import conjectures
from .desk import Desk, EpisodeOver, Lease
from .evaluation import Undefined, find_witness
from .exploring import Explorer
from .goals import Goal
from .knowledge import Knowledge, Part
from .naming import lemma_name
from .planning import Split, splits
from .printing import show
from .proving import Simp, Tactics, any_of, theorem
from .rippling import Rippling
from .search import Outcome, prove
from .statements import Statement, show_statement
from .strategies import Strategy, simp_sets

LOG = structlog.get_logger()
SPLIT_CANDIDATES = 3
IDLE_S = 5.0
ATTACK_PAUSE_S = 1.0


class Agent:
    """One tactician; its memory outlives a broken connection."""

    def __init__(self, desk: Desk, *, strategy: Strategy, seed: int) -> None:
        self._desk = desk
        self._strategy = strategy
        self._seed = seed
        self._explorers: dict[str, Explorer] = {}
        self._tried: dict[str, set[tuple[tuple[str, ...], str, int]]] = {}
        self._proposed: set[str] = set()
        self._has_split = False
        self._free_at = -1
        self._rippled_at = -1
        self._next_attack = 0.0

    @property
    def _knowledge(self) -> Knowledge:
        return self._desk.knowledge

    async def run(self) -> str:
        """Work until the episode is over and say why; a broken connection raises."""
        try:
            return await self._loop()
        except EpisodeOver as over:
            return str(over)

    async def _loop(self) -> str:
        await self._desk.open(seed=self._seed)
        rounds = 0
        while True:
            rounds += 1
            if rounds % 12 == 0:
                await self._desk.refresh()
            await self._desk.catch_up()
            await self._finish()
            for activity in self._strategy.order:
                if await self._do(activity):
                    break
            else:
                await self._idle()

    async def _do(self, activity: str) -> bool:
        if activity == "target":
            return await self._attack_target()
        if activity == "split":
            return await self._split_target()
        if activity == "parts":
            return await self._work_on_part()
        return await self._explore(activity)

    async def _idle(self) -> None:
        await self._desk.wait(IDLE_S)
        await self._desk.refresh()

    # -- the target -------------------------------------------------------------------------------

    async def _finish(self) -> None:
        """When rewriting with the lemmas of the team would prove the target: do it in Lean."""
        knowledge = self._knowledge
        root = knowledge.root
        if root.statement is None or knowledge.rewriter.count == self._rippled_at:
            return
        self._rippled_at = knowledge.rewriter.count
        tactics = Tactics(root.statement, knowledge.theory)
        hint = Rippling(knowledge.rewriter, knowledge.theory).hint_for(root.statement, tactics)
        if hint is None:
            return
        lease = await self._desk.claim(node=root.node, approach="all lemmas are there: finish")
        if lease is not None:
            simp = knowledge.simp(knowledge.rules(root.statement))
            attempts = tactics.suggested(simp, hint.variable, hint.cases, is_deep=hint.is_deep)
            await self._desk.check(theorem(root.name, root.text, any_of(attempts)), lease=lease)
            await self._desk.release(lease, outcome="stuck", note="rewriting closes it, Lean's simplifier does not")

    async def _attack_target(self) -> bool:
        """Try the target with what is known now; False when that was done before."""
        if anyio.current_time() < self._next_attack:
            return False
        simp = self._fresh_simp(self._knowledge.root)
        if simp is None:
            return False
        self._next_attack = anyio.current_time() + ATTACK_PAUSE_S
        await self._prove(self._knowledge.root, simp, lease=None)
        return True

    def _fresh_simp(self, part: Part) -> tuple[Simp, int] | None:
        """The next simp set and round that were not tried on a part."""
        rules = self._knowledge.rules(part.statement)
        tried = self._tried.setdefault(part.node, set())
        for depth in (0, 1, 2):
            for chosen, style in simp_sets(self._strategy, rules, self._knowledge.rng):
                key = (tuple(sorted(chosen)), style, depth)
                if key not in tried:
                    tried.add(key)
                    return self._knowledge.simp(chosen, style=style), depth
        return None

    async def _prove(self, part: Part, attempt: tuple[Simp, int], *, lease: Lease | None) -> Outcome:
        simp, depth = attempt
        outcome = await prove(
            self._desk,
            name=part.name,
            text=part.text,
            statement=part.statement,
            simps=[simp],
            rounds=slice(depth, depth + 1),
            lease=lease,
        )
        LOG.debug("part_tried", part=part.node, rules=len(simp.rules), depth=depth, proved=outcome.is_proved)
        return outcome

    # -- splitting --------------------------------------------------------------------------------

    async def _split_target(self) -> bool:
        if self._has_split:
            return False
        self._has_split = True
        root = self._knowledge.root
        lease = await self._desk.claim(node=root.node, approach=self._strategy.approach)
        if lease is None:
            return False
        if await self._split_at_once(root):
            await self._desk.release(lease, outcome="split", note="follows from parts that look easy")
            return True
        simp = self._knowledge.simp(self._knowledge.rules(root.statement))
        outcome = await prove(
            self._desk,
            name=root.name,
            text=root.text,
            statement=root.statement,
            simps=[simp],
            rounds=slice(0, 1),
            lease=lease,
        )
        count = await self._open_up(root, outcome.goals, simp)
        await self._desk.release(lease, outcome="stuck" if not count else "split", note=_note(outcome.goals, count))
        return True

    async def _split_at_once(self, part: Part) -> bool:
        """Split without trying, when the parts can be calculated and rewriting proves every one of them."""
        if "split" not in self._strategy.order or part.statement is None or part.node in self._proposed:
            return False
        for plan in splits(part.statement, self._knowledge)[:1]:
            if plan.provable == len(plan.children):
                self._proposed.add(part.node)
                return await self._split(part, list(plan.children), self._glue_for(part.statement, plan))
        return False

    async def _open_up(self, part: Part, goals: tuple[Goal, ...], simp: Simp) -> int:
        """Turn stuck goals into parts of the plan; how many were added."""
        options = [self._candidates(goal, part) for goal in goals[:3]]
        options = [found for found in options if found]
        if part.statement is None:
            return 0
        for plan in splits(part.statement, self._knowledge)[:SPLIT_CANDIDATES]:
            if await self._split(part, list(plan.children), self._glue_for(part.statement, plan)):
                return len(plan.children)
        if not options:
            return 0
        glue = self._glue(part.statement, simp)
        firsts = [found[0] for found in options]
        tries: list[list[Statement]] = [firsts] if len(firsts) > 1 else []
        tries += [[item] for found in options for item in found[:SPLIT_CANDIDATES]]
        for children in tries:
            if glue is not None and await self._split(part, children, glue):
                return len(children)
        count = 0
        for found in options:
            for item in found[:2]:
                count += await self._propose(item, why=f"left over from {part.name}")
        return count

    def _candidates(self, goal: Goal, part: Part) -> list[Statement]:
        knowledge = self._knowledge
        found = conjectures(goal, knowledge.names, knowledge.evaluator, knowledge.rng)
        own = part.statement.key() if part.statement is not None else ()
        found = [knowledge.oriented(item) for item in found]
        return [item for item in found if item.key() not in knowledge.stated and item.key() != own]

    def _glue_for(self, statement: Statement, plan: Split) -> str:
        knowledge = self._knowledge
        simp = knowledge.simp(knowledge.rules(statement))
        tactics = Tactics(statement, knowledge.theory)
        hint = plan.hint
        return any_of(tactics.suggested(simp, hint.variable, hint.cases, is_deep=hint.is_deep)[:2])

    def _glue(self, statement: Statement, simp: Simp) -> str | None:
        return Tactics(statement, self._knowledge.theory).induction(simp)

    async def _split(self, part: Part, children: list[Statement], glue: str) -> bool:
        names = [f"{self._name(item)}_{index}" if index else self._name(item) for index, item in enumerate(children)]
        texts = [show_statement(item) for item in children]
        used = glue.replace("simp_all [", f"simp_all [{', '.join(names)}, ")
        reply = await self._desk.split(
            part.node, list(zip(names, texts, strict=True)), glue=used, why="generalised from the stuck goal"
        )
        LOG.debug("split_tried", part=part.node, children=texts, answer=reply.headline)
        if reply.is_error:
            return False
        self._proposed.update(texts)
        return True

    def _name(self, statement: Statement) -> str:
        return lemma_name(statement, taken=self._knowledge.names.signatures)

    async def _propose(self, statement: Statement, *, why: str) -> int:
        text = show_statement(statement)
        if text in self._proposed:
            return 0
        self._proposed.add(text)
        return 1 if await self._desk.add_part(self._name(statement), text, why=why) else 0

    # -- parts of the plan ------------------------------------------------------------------------

    async def _work_on_part(self) -> bool:
        if self._free_at == self._desk.version:
            return False
        lease = await self._desk.claim(approach=self._strategy.approach)
        if lease is None:
            self._free_at = self._desk.version
            return False
        part = Part(
            node=lease.node, name=lease.name or "part", text=lease.text, statement=self._knowledge.read(lease.text)
        )
        if (witness := self._witness(part)) is not None:
            await self._desk.release(lease, outcome="false", note=f"false for {witness}")
            await self._desk.call("say", type="note", text=f"{part.name} is false for {witness}", ref=part.node)
            return True
        return await self._work(part, lease)

    def _witness(self, part: Part) -> str | None:
        if part.statement is None or part.node == self._knowledge.root.node:
            return None
        try:
            found = find_witness(part.statement, self._knowledge.evaluator, tests=60, rng=self._knowledge.rng)
        except Undefined:
            return None
        return None if found is None else ", ".join(f"{name} = {value}" for name, value in found.items())

    async def _work(self, part: Part, lease: Lease) -> bool:
        """A few attempts; then what is left goes back to the plan. False when everything was tried before."""
        if await self._split_at_once(part):
            await self._desk.release(lease, outcome="split", note="follows from parts that look easy")
            return True
        goals: tuple[Goal, ...] = ()
        last: Simp | None = None
        tries = 0
        while tries < 3 and (attempt := self._fresh_simp(part)) is not None:
            tries += 1
            last = attempt[0]
            outcome = await self._prove(part, attempt, lease=lease)
            if outcome.is_proved:
                return True
            goals = outcome.goals or goals
        count = 0
        if goals and last is not None and part.node not in self._proposed:
            self._proposed.add(part.node)
            count = await self._open_up(part, goals, last)
        note = _note(goals, count) if tries else "nothing new to try"
        await self._desk.release(lease, outcome="split" if count else "stuck", note=note)
        if not tries:
            self._free_at = self._desk.version
        return tries > 0

    # -- exploration ------------------------------------------------------------------------------

    async def _explore(self, activity: str) -> bool:
        explorer = self._explorers.get(activity)
        if explorer is None:
            explorer = Explorer(self._desk, seed=self._seed, only_conditional=activity == "conditions")
            self._explorers[activity] = explorer
        await anyio.lowlevel.checkpoint()
        return await explorer.step()


def _note(goals: tuple[Goal, ...], count: int) -> str:
    left = f"left: {show(goals[0].conclusion)}" if goals else "no readable goal was left"
    return f"{left}; {count} parts added" if count else left
