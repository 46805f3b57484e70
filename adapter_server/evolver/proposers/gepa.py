"""GEPA as a proposer (extra `gepa`): it searches texts for one component on a few search tasks; the gates decide.

It owns its loop and calls back for every evaluation. It may overshoot its own limit of calls and accepts on three
tasks, so the limit is kept here, nothing is evaluated twice, and what it likes best is no more than a proposal.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio.from_thread
import anyio.to_thread
import msgspec

from adapter_server.evolver.gate_result import GateResult
from adapter_server.evolver.measuring import Measure, PlannedEpisode
from adapter_server.evolver.patch import NoChange, Patch, Prediction, edited
from adapter_server.evolver.proposing import ProposalContext
from bus.errors import BadArguments, BadPatch, InfraPause
from bus.records import EpisodeRecord, Task

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch

MOST_REFUSED = 20
"""So many texts may be refused before any episode; then the search ends."""

PROGRESS_WORTH = 0.5
"""Score of an unsolved task with all subgoals reached; a solved one has 1."""


class GepaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What one proposal may cost, and on what it is found.

    Attributes:
        components: files that are searched, one a round.
        tasks: search tasks; each text is tried on all of them before it can be proposed.
        episodes: at most so many are run for one proposal.
        minibatch: tasks on which GEPA decides whether a text is worth the others.
    """

    components: Sequence[str]
    tasks: Sequence[Task]
    episodes: int = 60
    minibatch: int = 3


@dataclass(frozen=True)
class Shop:
    """What GEPA works with: `gates` judge a change before it runs, `stage` keeps a version and gives its id."""

    measure: Measure
    gates: Callable[[Mapping[str, bytes], Patch], Sequence[GateResult]]
    stage: Callable[[Mapping[str, bytes]], str]
    reflect: Callable[[str], str]
    """The model that writes texts: prompt in, reply out. It is called from a thread of its own."""


class GepaProposer:
    """Runs GEPA for each proposal."""

    name = "gepa"

    def __init__(self, settings: GepaSettings, shop: Shop) -> None:
        try:
            from gepa.api import optimize  # pyright: ignore[reportUnknownVariableType]
        except ImportError:
            raise BadArguments("this proposer needs GEPA", hint="pip install 'adapter-server[gepa]'") from None
        if not settings.components or not settings.tasks:
            raise BadArguments("GEPA needs components to change and search tasks to try them on")
        self._optimize: Callable[..., Any] = optimize
        self._settings = settings
        self._shop = shop

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        """The text that did best on all tasks, if it did better than the champion's.

        Raises:
            BadPatch: GEPA or its model failed.
            BudgetExhausted, InfraPause: as the measure raises them.
        """
        component = self._settings.components[context.round % len(self._settings.components)]
        if component not in context.files:
            raise BadPatch(f"GEPA is to change {component}, which the version does not have", cause="crash")
        trials = Trials(self._settings, self._shop, context=context, component=component)
        await anyio.to_thread.run_sync(self._search, trials, context.seed + context.round)
        if trials.failure:
            raise BadPatch(f"the model of GEPA failed: {trials.failure}", cause="crash")
        return trials.best()

    def _search(self, trials: "Trials", seed: int) -> None:
        with suppress(_Enough):
            self._optimize(
                seed_candidate={trials.component: trials.champion_text},
                trainset=list(self._settings.tasks),
                valset=list(self._settings.tasks),
                adapter=trials,
                reflection_lm=trials.reflect,
                reflection_minibatch_size=min(self._settings.minibatch, len(self._settings.tasks)),
                skip_perfect_score=True,
                max_metric_calls=4 * self._settings.episodes,
                logger=_Silence(),
                seed=seed,
                stop_callbacks=trials,
            )


class _Enough(Exception):
    """The episodes of this proposal are used up."""


class _Silence:
    def log(self, message: str) -> None:
        """Say nothing: what happened is in the ledger."""


@dataclass
class Trials:
    """GEPA's adapter: texts of one component in, scores and stories out. Each (text, task) is run once."""

    settings: GepaSettings
    shop: Shop
    context: ProposalContext
    component: str
    records: dict[tuple[str, str], EpisodeRecord] = field(default_factory=dict[tuple[str, str], EpisodeRecord])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """Text → why it may not run."""

    failure: str = ""
    """Of the model."""

    propose_new_texts: None = None
    """GEPA's own way of asking its model is used."""

    @property
    def champion_text(self) -> str:
        """Where the search starts."""
        return self.context.files[self.component].decode()

    def __call__(self, _state: object) -> bool:
        """Whether GEPA should stop: no text can be tried on a minibatch any more."""
        is_full = len(self.records) + self.settings.minibatch > self.settings.episodes
        return is_full or len(self.refused) >= MOST_REFUSED or bool(self.failure)

    def reflect(self, prompt: object) -> str:
        """Ask the model; GEPA swallows its failures, so they are kept here and end the search."""
        try:
            return self.shop.reflect(str(prompt))
        except (OSError, RuntimeError, ValueError, BadPatch) as error:
            self.failure = str(error)
            raise

    def evaluate(
        self, batch: list[Task], candidate: dict[str, str], capture_traces: bool = False
    ) -> "EvaluationBatch[EpisodeRecord, str]":
        """Scores of a text on tasks; a text that the gates refuse has none above zero."""
        from gepa.core.adapter import EvaluationBatch

        text = candidate[self.component]
        if (bundle := self._bundle(text)) is None:
            nothing = [_not_run(task) for task in batch]
            return EvaluationBatch(
                outputs=[self.refused[text]] * len(batch),
                scores=[0.0] * len(batch),
                trajectories=nothing if capture_traces else None,
            )
        self._run([task for task in batch if (text, task.id) not in self.records], bundle, text)
        records = [self.records[text, task.id] for task in batch]
        return EvaluationBatch(
            outputs=[record.outcome for record in records],
            scores=[score_of(record) for record in records],
            trajectories=records if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: "EvaluationBatch[EpisodeRecord, str]",
        components_to_update: list[str],
    ) -> dict[str, list[dict[str, str]]]:
        """What the model is told about each episode: how it ended, what it cost, what agents said. No statements."""
        refusal = self.refused.get(candidate[self.component], "")
        told = [
            {"Inputs": "a theorem", "Generated Outputs": record.outcome, "Feedback": refusal or _story(record)}
            for record in eval_batch.trajectories or []
        ]
        return dict.fromkeys(components_to_update, told)

    def best(self) -> Patch | NoChange:
        """The best text that was tried on every task."""
        means: dict[str, float] = {}
        for text in {text for text, _ in self.records}:
            scores = [score_of(record) for (one, _), record in self.records.items() if one == text]
            if len(scores) == len(self.settings.tasks):
                means[text] = sum(scores) / len(scores)
        champion = means.get(self.champion_text, 0.0)
        text, mean = max(means.items(), key=lambda item: (item[1], item[0] == self.champion_text), default=("", 0.0))
        if mean <= champion:
            return NoChange(reason=f"no text for {self.component} did better than {champion:.2f} in the mean")
        return Patch(
            component=self.component,
            content=text,
            hypothesis=f"GEPA: mean score {champion:.2f} to {mean:.2f} on {len(self.settings.tasks)} search tasks, "
            "which chose it and so flatter it",
            predictions=[Prediction(metric="solved", relation="at_least", amount=0.0)],
        )

    def _bundle(self, text: str) -> str | None:
        if text == self.champion_text:
            return self.context.champion
        if text in self.refused:
            return None
        patch = Patch(component=self.component, content=text)
        last = self.shop.gates(self.context.files, patch)[-1]
        if not last.is_passed:
            self.refused[text] = "refused: " + "; ".join(last.reasons)
            return None
        return self.shop.stage(edited(self.context.files, patch))

    def _run(self, tasks: Sequence[Task], bundle: str, text: str) -> None:
        if not tasks:
            return
        if len(self.records) + len(tasks) > self.settings.episodes:
            raise _Enough
        plan = [PlannedEpisode(task=task, bundle=bundle, purpose="search", seed=self.context.seed) for task in tasks]
        for task, record in zip(tasks, anyio.from_thread.run(self.shop.measure.run, plan), strict=True):
            if record.outcome in ("invalid", "censored"):
                raise InfraPause(f"an episode of the search on {task.id} did not count: {record.reason}")
            self.records[text, task.id] = record


def score_of(record: EpisodeRecord) -> float:
    """1 for a solved task, else up to one half for progress."""
    return 1.0 if record.outcome in ("solved", "refuted") else PROGRESS_WORTH * (record.subgoals or 0.0)


def _not_run(task: Task) -> EpisodeRecord:
    return EpisodeRecord(episode="", task=task.id, bundle="", purpose="search", outcome="unsolved", reason="not run")


def _story(record: EpisodeRecord) -> str:
    counts = ", ".join(f"{name} {value:g}" for name, value in sorted(record.counters.items()))
    said = " ".join(record.feedback)[:2000]
    return f"{record.outcome} ({record.reason}); {record.spent.checks} checks, {record.lemmas} lemmas; {counts}. {said}"
