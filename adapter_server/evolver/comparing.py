"""One challenger, stage after stage: each comparison is opened, run as long as its gate wants more, and closed."""

from collections.abc import Sequence
from random import Random

from .comparison import Pair, collect
from .events import AaDone, ComparisonClosed, ComparisonOpened
from .gates import Ruling, judge, void_for_key
from .journal import Journal
from .measuring import Measure
from .plan import SPLIT_OF, Plan, Stage
from .spending import run_pairs, seed_of
from .state import Comparison, Proposal, State

ORDER: tuple[Stage, ...] = ("screen", "gate", "guard", "confirm")


class Stages:
    """Opens, runs and closes comparisons."""

    def __init__(self, journal: Journal, measure: Measure) -> None:
        self._journal = journal
        self._measure = measure

    async def calibrate(self) -> None:
        """The champion against itself.

        Raises:
            BudgetExhausted, InfraPause: as `run_pairs`.
        """
        champion = self._journal.state.champion.bundle
        key = self._measure.key
        started = [
            one
            for one in self._journal.state.comparisons.values()
            if one.opened.stage == "aa" and not one.closed and (one.opened.key, one.opened.champion) == (key, champion)
        ]
        name = started[0].opened.comparison if started else f"aa{_count(self._journal.state, 'aa') + 1}"
        if not started:
            self._open(name, "aa", challenger=champion)
        await self.finish(name)

    async def advance(self, proposal: Proposal, *, challenger: str) -> None:
        """All stages that are left, until one of them rejects.

        Raises:
            BudgetExhausted, InfraPause: as `run_pairs`.
        """
        for stage in ORDER:
            name = f"{proposal.proposed.proposal}.{stage}"
            if stage == "screen" and not self._journal.state.started.plan.screen_pairs:
                continue
            if name not in self._journal.state.comparisons:
                self._open(name, stage, challenger=challenger, proposal=proposal)
            if not await self.finish(name):
                return

    async def finish(self, name: str) -> bool:
        """Run a comparison to its end; whether its gate is passed.

        Raises:
            BudgetExhausted, InfraPause: as `run_pairs`.
        """
        comparison = self._journal.state.comparisons[name]
        while comparison.closed is None:
            if self._measure.key != comparison.opened.key:
                conclude(self._journal, comparison, void_for_key(comparison, self._measure.key))
                break
            step = judge(comparison, self._journal.state.started.plan, earlier_pairs(self._journal.state, comparison))
            if isinstance(step, Ruling):
                conclude(self._journal, comparison, step)
            else:
                await run_pairs(self._journal, self._measure, comparison, step)
        return comparison.closed is not None and comparison.closed.result.is_passed

    def open_release(self, name: str, *, start: str) -> None:
        """The champion against the version of the start, on sealed tasks."""
        self._open(name, "sealed", champion=start, challenger=self._journal.state.champion.bundle)

    def _open(
        self, name: str, stage: Stage, *, challenger: str, champion: str = "", proposal: Proposal | None = None
    ) -> None:
        state = self._journal.state
        seed = seed_of(state.started.plan.seed, name)
        tasks = chosen_tasks(state, stage, Random(seed))
        test, threshold = rule_of(state.started.plan, stage)
        self._journal.write(
            ComparisonOpened(
                comparison=name,
                stage=stage,
                champion=champion or state.champion.bundle,
                challenger=challenger,
                key=self._measure.key,
                tasks=tasks,
                pairs=len(tasks),
                test=test,
                threshold=threshold,
                seed=seed,
                proposal=proposal.proposed.proposal if proposal else "",
                predictions=proposal.proposed.patch.predictions if proposal else [],
                challenger_index=state.gated + (stage == "gate") if proposal else 0,
            )
        )


def conclude(journal: Journal, comparison: Comparison, ruling: Ruling) -> None:
    """Close a comparison as its gate says."""
    opened = comparison.opened
    if opened.stage == "aa":
        journal.write(AaDone(comparison=opened.comparison, key=opened.key, result=ruling.result))
        return
    journal.write(
        ComparisonClosed(
            comparison=opened.comparison,
            verdict=ruling.verdict,
            result=ruling.result,
            predictions=ruling.predictions,
        )
    )


def earlier_pairs(state: State, comparison: Comparison) -> list[Pair]:
    """Pairs of the same challenger at the gates before the guard, which looks at all of them."""
    if comparison.opened.stage != "guard":
        return []
    names = state.proposals[comparison.opened.proposal].comparisons
    before: Sequence[str] = names[: names.index(comparison.opened.comparison)]
    return [pair for name in before for pair in collect(state.comparisons[name]).pairs.values()]


def chosen_tasks(state: State, stage: Stage, chance: Random) -> list[str]:
    """The tasks of the pairs, in order: those that were used least come first, and by chance among these.

    A confirmation and a release take each task once; elsewhere tasks come again when there are too few of them.
    """
    plan = state.started.plan
    split = state.started.tasks.split(SPLIT_OF[stage])
    ids = [task.id for task in split]
    chance.shuffle(ids)
    if stage == "guard":
        return [task for task in ids for _ in range(plan.guard_trials)]
    if stage == "sealed":
        return ids
    ids.sort(key=lambda task: state.used.get(task, 0))
    pairs = {"aa": plan.aa_pairs, "screen": plan.screen_pairs, "gate": plan.gate_pairs, "confirm": plan.confirm_pairs}
    wanted = pairs[stage]
    return [ids[number % len(ids)] for number in range(wanted)]


def rule_of(plan: Plan, stage: Stage) -> tuple[str, float]:
    """The test of a stage in words, and its threshold."""
    if stage == "gate" and plan.is_graded:
        return "mixture e-process on solved and sign flips of progress, Holm", 2 * plan.gate_evidence
    if stage == "gate":
        return "one-sided mixture e-process on solved", plan.gate_evidence
    if stage == "confirm" and plan.confirm_on == "progress":
        return "exact one-sided sign flips of progress", plan.confirm_level
    if stage in ("confirm", "sealed"):
        return "exact one-sided McNemar on solved", plan.confirm_level
    words = {"aa": "none: champion against itself", "screen": "more losses than wins reject", "guard": "vetoes"}
    return words[stage], 0.0


def _count(state: State, stage: Stage) -> int:
    return sum(comparison.opened.stage == stage for comparison in state.comparisons.values())
