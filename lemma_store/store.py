"""The lemma store: problems, checks, lemmas and final proofs of all episodes. The package's face."""

import contextlib
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import anyio.lowlevel
import msgspec

from bus.errors import LeanUnavailable, UnknownId
from bus.tasks import background_tasks

from . import assembly, checking, searching, withdrawal
from .glue import compose_source, glue_source, has_expected_shape
from .ground import Ground, open_ground
from .in_redis import LemmaIndex
from .judge import Judge
from .judges import Judges
from .opening import draft_problem, lock
from .problem_text import split
from .publication import MAX_TRIES, Outdated, Publication
from .tasks import Composition
from .types import Assembly, CheckReport, Hit, Lemma, Problem, Statement
from .world import World, read_problem

AGAIN = "refused when it was judged again"
"""The reason of what `recheck` takes back."""


class LemmaStore:
    """Lemmas that the kernel accepted, per episode. Made by `open_lemma_store`.

    Every method takes the episode's id first and raises `UnknownId` when the episode has no problem here.
    """

    def __init__(
        self, folder: Path, *, ground: Ground, index: LemmaIndex, limits: checking.Limits, tasks: anyio.abc.TaskGroup
    ) -> None:  # fmt: skip
        self._folder = folder
        self.ground = ground
        self._lean = ground.lean
        self._index = index
        self._limits = limits
        self._publication = Publication(index)
        self._worlds: dict[str, World] = {}
        self._judges = Judges(ground.toolchain, tasks)
        self._opening = anyio.Lock()

    async def open_problem(self, episode: str, *, source: str, theorem: str | None = None) -> Problem:
        """Compile an operator's problem and lock its statement; the same again returns the same problem.

        Raises:
            BadProblem: the file has no target, or rests on axioms or `sorry` outside the target.
            NotLean: Lean refuses the definitions or the statement.
        """
        folder = self._folder / episode
        existing = read_problem(folder)
        if existing is not None:
            return existing
        text = split(source, theorem=theorem)
        core = await self.ground.library(text.imports)
        self._judges.prepare(core)
        draft = await draft_problem(episode, text=text, folder=folder, lean=self._lean, core=core)
        world = World(folder, core=core, toolchain=self.ground.toolchain, problem=draft)
        judge = await self._judges.get(world)
        try:
            world.problem = await lock(text, source=source, tools=self._tools(world, judge))
        except BaseException:
            self._judges.release(episode)
            raise
        self._worlds[episode] = world
        return world.problem

    async def problem(self, episode: str) -> Problem:
        """Return the problem of an episode."""
        return (await self._world(episode)).problem

    async def elaborate(self, episode: str, statement: str) -> Statement:
        """Return the proposition that `statement` is.

        Raises:
            NotLean, UnsafeSource, TooLarge, LeanUnavailable: see `checking.elaborate_statement`.
        """
        world, judge = await self._get(episode)
        return await checking.elaborate_statement(statement, self._tools(world, judge))

    async def check(self, episode: str, *, author: str, source: str) -> CheckReport:
        """Check a text; every theorem in it that the judge accepts enters the store.

        Raises:
            UnsafeSource, TooLarge: the text is refused as a whole.
            StorageUnavailable: an accepted lemma could not be made durable.
        """
        world, judge = await self._get(episode)
        tools = self._tools(world, judge)
        return await checking.check(source, author=author, tools=tools, publication=self._publication)

    async def check_glue(
        self,
        episode: str,
        *,
        author: str,
        name: str,
        parent: Statement,
        children: list[tuple[str, Statement]],
        glue: str,
    ) -> CheckReport:
        """Check a proof of `parent` from hypotheses that carry the children's names.

        The accepted lemma is `child₁ → … → childₙ → parent`, compared as a term.

        Raises:
            BadArguments: a child's name is no identifier or has universe parameters.
            UnsafeSource, TooLarge: the text is refused as a whole.
        """
        report = await self.check(episode, author=author, source=glue_source(name, parent, children, glue))
        return has_expected_shape(report, name=name, parent=parent, children=[statement for _, statement in children])

    async def compose(
        self, episode: str, *, author: str, name: str, parent: Statement, glue: str, children: list[str]
    ) -> Lemma:
        """Return the lemma `glue child₁ … childₙ`, built as a term and checked by the kernel.

        Raises:
            UnknownId: an id is no lemma of this episode.
            LeanUnavailable: the judge could not decide, or refuses what must hold.
        """
        world, judge = await self._get(episode)
        for _ in range(MAX_TRIES):
            if (known := world.same(parent.hash)) is not None:
                return known
            with contextlib.suppress(Outdated):
                return await self._compose(
                    world, judge, author=author, name=name, parent=parent, parts=[glue, *children]
                )
        raise LeanUnavailable("other checks took the name again and again", hint="try again")

    async def _compose(
        self, world: World, judge: Judge, *, author: str, name: str, parent: Statement, parts: list[str]
    ) -> Lemma:
        names = [world.lemma(key).name for key in parts]
        async with _folder(world) as folder:
            task = Composition(
                glue=names[0], children=tuple(names[1:]), name=name, expected=parent.hash, world=world.stamp,
                folder=folder,
            )  # fmt: skip
            answer = await judge.ask(task, limit_ms=self._limits.judge_ms)
            if answer.status != "done" or answer.judged[0].outcome != "accepted":
                reasons = answer.reason or "; ".join(answer.judged[0].reasons)
                raise LeanUnavailable(f"the parts do not compose: {reasons}")
            unit = answer.judged[0]
            source = compose_source(unit.stored_name, parent, names)
            verdicts = await self._publication.publish(
                [unit], author=author, text=None, world=world, judge=judge, source=source
            )
        lemma = verdicts[0].lemma
        assert lemma is not None
        return lemma

    async def lemma(self, episode: str, key: str) -> Lemma:
        """Return a lemma by id or stored name.

        Raises:
            UnknownId: there is none; names the nearest.
        """
        return (await self._world(episode)).lemma(key)

    async def lemmas(self, episode: str) -> list[Lemma]:
        """Return the lemmas of an episode, oldest first."""
        return (await self._world(episode)).lemmas()

    async def reordered(self, episode: str, order_free_hash: str) -> Lemma | None:
        """Return the first lemma that says the same with hypotheses in any order."""
        return (await self._world(episode)).reordered(order_free_hash)

    async def find(
        self, episode: str, *, q: str = "", statement: str = "", mode: str = "text", limit: int = 15
    ) -> list[Hit]:
        """Search the lemmas; `mode` is `text`, `same`, `closes` (a goal or statement, tried with Lean) or `uses`.

        Raises:
            BadArguments: the mode is none of these, or lacks what it searches for.
            NotLean: the statement is no Lean.
        """
        if mode in ("text", "uses"):
            return searching.find_known(await self._world(episode), q=q, statement=statement, mode=mode, limit=limit)
        world, judge = await self._get(episode)
        return await searching.find(self._tools(world, judge), q=q, statement=statement, mode=mode, limit=limit)

    async def assemble(self, episode: str, lemma: str) -> Assembly:
        """Replay everything from an empty environment to the target and write the certificate.

        Raises:
            StatementMismatch: the lemma does not state the target.
            LeanUnavailable: a kernel refuses the whole, or could not decide.
        """
        world = await self._world(episode)
        return await assembly.assemble(world, world.lemma(lemma))

    async def revoke(self, episode: str, lemma: str, *, reason: str) -> list[Lemma]:
        """Take a lemma or definition back, and all that rest on it; return them.

        They can no longer be found, imported or assembled, and do not come back when they are proved again.

        Raises:
            UnknownId: there is no such lemma.
            StorageUnavailable: nothing was revoked.
        """
        world = await self._world(episode)
        return await self._take_away(world, [world.lemma(lemma).id], reason=reason)

    async def recheck(self, episode: str) -> withdrawal.Recheck:
        """Judge everything again in a new kernel under today's policy, and revoke what it refuses.

        Raises:
            LeanUnavailable: the library or the problem cannot be replayed; nothing was revoked.
        """
        world = await self._world(episode)
        found = await withdrawal.recheck(world)
        gone = await self._take_away(world, found.refused, reason=AGAIN) if found.refused else []
        return msgspec.structs.replace(found, revoked=tuple(gone))

    async def _take_away(self, world: World, ids: Iterable[str], *, reason: str) -> list[Lemma]:
        async with world.publishing:
            units = withdrawal.users(world, ids)
            await self._index.revoke(world.problem.episode, {unit.id: reason for unit in units})
            await withdrawal.take_away(world, units, reason=reason)
        # Its kernel holds them still; the next call starts another.
        await self.release(world.problem.episode)
        return units

    async def prepare(self, episode: str) -> None:
        """Let the judge of the episode's library start in the background. Raises LeanUnavailable if that changed."""
        self._judges.prepare((await self._world(episode)).core)

    async def release(self, episode: str) -> None:
        """End the judge of an episode in which nothing is going on; the next check starts another."""
        await anyio.lowlevel.checkpoint()
        self._judges.release(episode)

    async def _world(self, episode: str) -> World:
        async with self._opening:
            found = self._worlds.get(episode)
            if found is None:
                found = self._worlds[episode] = await self._load(episode)
            return found

    async def _get(self, episode: str) -> tuple[World, Judge]:
        world = await self._world(episode)
        return world, await self._judges.get(world)

    def _tools(self, world: World, judge: Judge) -> checking.Tools:
        return checking.Tools(world=world, lean=self._lean, judge=judge, limits=self._limits)

    async def _load(self, episode: str) -> World:
        problem = read_problem(self._folder / episode)
        if problem is None:
            raise UnknownId(f"episode {episode!r} has no problem here", nearest=[])
        core = await self.ground.library(problem.imports)
        # Under another core library an episode goes on and `recheck` judges it; a project may have changed the meaning.
        if not core.is_embedded and problem.library != core.id:
            raise LeanUnavailable(
                f"episode {episode!r} rests on a library that was built anew since", hint="open the problem again"
            )
        world = World(self._folder / episode, core=core, toolchain=self.ground.toolchain, problem=problem)
        for unit in await self._index.all(episode):
            world.remember(unit)
        world.revoked.update(await self._index.revoked(episode))
        return world


@asynccontextmanager
async def _folder(world: World) -> AsyncGenerator[str]:
    async with anyio.TemporaryDirectory(prefix="judge-", dir=str(world.folder)) as folder:
        yield folder


@asynccontextmanager
async def open_lemma_store(
    folder: Path, *, index: LemmaIndex, scratch: Path, workers: int = 2, unsafe: bool = False,
    limits: checking.Limits | None = None, project: Path | None = None,
) -> AsyncGenerator[LemmaStore]:  # fmt: skip
    """Open the store whose episodes lie in `folder`, with Lean running.

    Raises:
        BadProblem, LeanUnavailable, NoSandbox: see `open_ground`.
    """
    async with (
        open_ground(project=project, scratch=scratch, readable=[folder], workers=workers, unsafe=unsafe) as ground,
        background_tasks() as tasks,
    ):
        yield LemmaStore(folder, ground=ground, index=index, limits=limits or checking.Limits(), tasks=tasks)
