"""A proposer without any model: a search over numbers and given choices, with Optuna (extra `knobs`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from adapter_server.evolver.handbook import Knob, knobs
from adapter_server.evolver.patch import NoChange, Patch, Prediction, edited
from adapter_server.evolver.proposing import Fate, ProposalContext
from bus.errors import BadArguments, BadPatch

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import Trial

ASKED = 200
"""So often another value is asked for when what came was tried before."""

REACH = 4.0
"""Without a given space, numbers are tried from a quarter of their value to four times it."""

_PREDICTIONS = [
    Prediction(metric="solved", relation="at_least", amount=0.0),
    Prediction(metric="checks", relation="at_most", amount=0.05),
]


class Range(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="range"):
    """Numbers from `low` to `high`, on a logarithmic scale when they span a factor of ten."""

    low: float
    high: float
    is_whole: bool = True


class Choices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="choices"):
    """JSON values for a pointer, or texts for a file."""

    values: Annotated[list[Any], Meta(min_length=1)]


Space = Mapping[str, Range | Choices]
"""Component → what may be tried there."""


def read_space(path: Path) -> Space:
    """A space from a JSON file.

    Raises:
        BadArguments: it cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Range | Choices])
    except (OSError, msgspec.DecodeError) as error:
        raise BadArguments(f"cannot read the space {path}: {error}") from None


def default_space(files: Mapping[str, bytes]) -> Space:
    """The policy's numbers around their values; roles and portfolio with one item left out or moved to the front."""
    policy = files["policy.json"]
    space: dict[str, Range | Choices] = {}
    for knob in knobs(policy, policy):
        if knob.low is not None and knob.high is not None:
            space[knob.component] = _around(knob)
    values = msgspec.json.decode(policy)
    space["policy.json#/portfolio"] = Choices(values=_variations(values["portfolio"]))
    space["policy.json#/roles/default"] = Choices(values=_variations(values["roles"]["default"]))
    return space


class KnobProposer:
    """Tries one component at a time; learns from what became of earlier proposals, which is all that it remembers."""

    name = "knobs"

    def __init__(self, space: Space) -> None:
        if not space:
            raise BadArguments("the space of the knob search is empty")
        self._space = dict(space)
        _optuna()

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        """A value that was not tried on this champion yet."""
        study = self._study(context)
        tried = {(fate.patch.component, fate.patch.content) for fate in context.fates}
        for _ in range(ASKED):
            trial = study.ask()
            component, content = self._choice(trial)
            if (component, content) not in tried and _is_change(context.files, component, content):
                return _patch(component, content)
            tried.add((component, content))
            study.tell(trial, 0.0)
        return NoChange(reason=f"{ASKED} values in a row were tried before")

    def _study(self, context: ProposalContext) -> "Study":
        optuna = _optuna()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=context.seed * 1_000_003 + context.round, n_startup_trials=5)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for fate in context.fates:
            if fate.score is not None and (known := self._known(fate)) is not None:
                study.add_trial(known)
        return study

    def _choice(self, trial: "Trial") -> tuple[str, str]:
        component = str(trial.suggest_categorical("component", sorted(self._space)))
        match self._space[component]:
            case Range() as numbers if numbers.is_whole:
                low, high = int(numbers.low), int(numbers.high)
                return component, str(trial.suggest_int(component, low, high, log=_is_log(numbers)))
            case Range() as numbers:
                value = trial.suggest_float(component, numbers.low, numbers.high, log=_is_log(numbers))
                return component, f"{value:.4g}"
            case Choices() as choices:
                return component, str(trial.suggest_categorical(component, _contents(component, choices)))

    def _known(self, fate: Fate) -> Any:
        """An earlier proposal as a finished trial, when it lies in the space."""
        optuna, component = _optuna(), fate.patch.component
        if (space := self._space.get(component)) is None:
            return None
        names = optuna.distributions.CategoricalDistribution(sorted(self._space))
        own: Any
        value: Any = fate.patch.content
        if isinstance(space, Choices):
            own = optuna.distributions.CategoricalDistribution(_contents(component, space))
        elif space.is_whole:
            own = optuna.distributions.IntDistribution(int(space.low), int(space.high), log=_is_log(space))
            value = int(value)
        else:
            own = optuna.distributions.FloatDistribution(space.low, space.high, log=_is_log(space))
            value = float(value)
        try:
            return optuna.trial.create_trial(
                params={"component": component, component: value},
                distributions={"component": names, component: own},
                value=fate.score,
            )
        except ValueError:
            return None


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise BadArguments("the knob search needs Optuna", hint="pip install 'adapter-server[knobs]'") from None
    return optuna


def _around(knob: Knob) -> Range:
    assert knob.low is not None
    assert knob.high is not None
    value, is_whole = float(knob.value), knob.kind == "integer"
    low, high = max(knob.low, value / REACH), min(knob.high, max(value * REACH, 1.0))
    return Range(
        low=float(int(low)) if is_whole else low, high=float(int(high)) if is_whole else high, is_whole=is_whole
    )


def _is_log(numbers: Range) -> bool:
    return numbers.low > 0 and numbers.high / numbers.low >= 10


def _variations(items: Sequence[str]) -> list[list[str]]:
    """Each item left out, and each moved to the front."""
    without = [[*items[:index], *items[index + 1 :]] for index in range(len(items))]
    first = [[items[index], *items[:index], *items[index + 1 :]] for index in range(1, len(items))]
    unique = {tuple(variant): None for variant in (*without, *first) if variant}
    return [list(variant) for variant in unique]


def _contents(component: str, choices: Choices) -> list[str]:
    if "#" not in component:
        return [str(value) for value in choices.values]
    return [msgspec.json.encode(value).decode() for value in choices.values]


def _is_change(files: Mapping[str, bytes], component: str, content: str) -> bool:
    try:
        edited(files, Patch(component=component, content=content))
    except BadPatch:
        return False
    return True


def _patch(component: str, content: str) -> Patch:
    shown = content if len(content) <= 200 else content[:200] + "…"
    return Patch(
        component=component,
        content=content,
        hypothesis=f"{component} = {shown} solves at least as much with no more checks",
        predictions=_PREDICTIONS,
    )
