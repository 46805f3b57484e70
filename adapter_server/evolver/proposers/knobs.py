"""A proposer without any model: a search over numbers and given choices, with Optuna (extra `knobs`)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from random import Random
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

MANY = 10
"""A range counts as so many values at most."""

STARTUP = 5
"""So many proposals are drawn from all values alike; then what earlier ones scored has a say."""

_ROLES = "prompts/roles/"

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
        BadArguments: it cannot be read, or is empty.
    """
    try:
        space = msgspec.json.decode(path.read_bytes(), type=dict[str, Range | Choices])
    except (OSError, msgspec.DecodeError) as error:
        raise BadArguments(f"cannot read the space {path}: {error}") from None
    if not space:
        raise BadArguments(f"the space {path} is empty")
    return space


def default_space(files: Mapping[str, bytes], shipped: Mapping[str, bytes]) -> Space:
    """The policy's numbers around their values; roles and portfolio with items left out or added.

    Args:
        files: the version to be changed.
        shipped: the version whose portfolio names every technique that there is.
    """
    policy = files["policy.json"]
    space: dict[str, Range | Choices] = {}
    for knob in knobs(policy, shipped["policy.json"]):
        if knob.low is not None and knob.high is not None:
            space[knob.component] = _around(knob)
    values, known = msgspec.json.decode(policy), msgspec.json.decode(shipped["policy.json"])
    space["policy.json#/portfolio"] = Choices(values=portfolios(values["portfolio"], known["portfolio"]))
    written = [name.removeprefix(_ROLES).removesuffix(".md") for name in sorted(files) if name.startswith(_ROLES)]
    space["policy.json#/roles/default"] = Choices(values=_rosters(values["roles"]["default"], written))
    return space


def portfolios(now: Sequence[str], known: Sequence[str]) -> list[list[str]]:
    """Each technique left out, and one or two more. Their order says nothing to those who read it."""
    missing = [word for word in known if word not in now]
    more = [*[(word,) for word in missing], *combinations(missing, 2)]
    less = [[*now[:index], *now[index + 1 :]] for index in range(len(now))] if len(now) > 1 else []
    return [*less, *[[*now, *words] for words in more]]


class KnobProposer:
    """Tries one component at a time; learns from what became of earlier proposals, which is all that it remembers.

    Args:
        space_of: what may be tried on a champion, by its files.
    """

    name = "knobs"

    def __init__(self, space_of: Callable[[Mapping[str, bytes]], Space]) -> None:
        self._space_of = space_of
        self._space: Space = {}
        _optuna()

    async def propose(self, context: ProposalContext) -> Patch | NoChange:
        """A value that was not tried yet."""
        self._space = self._space_of(context.files)
        study = self._study(context)
        tried = {(fate.patch.component, fate.patch.content) for fate in context.fates}
        chance = Random(f"{context.seed} {context.round}")
        for _ in range(ASKED):
            if len(context.fates) < STARTUP:
                study.enqueue_trial({"component": self._any_component(chance)})
            trial = study.ask()
            component, content = self._choice(trial)
            if (component, content) not in tried and _is_change(context.files, component, content):
                return _patch(component, content)
            tried.add((component, content))
            study.tell(trial, 0.0)
        return NoChange(reason=f"{ASKED} values in a row were tried before")

    def _any_component(self, chance: Random) -> str:
        """A component, the likelier the more values it has: a list of many choices is not as one number."""
        names = sorted(self._space)
        return chance.choices(names, [_values(self._space[name]) for name in names])[0]

    def _study(self, context: ProposalContext) -> "Study":
        optuna = _optuna()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=context.seed * 1_000_003 + context.round, n_startup_trials=STARTUP)
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


def _values(space: Range | Choices) -> int:
    if isinstance(space, Choices):
        return len(space.values)
    return min(MANY, int(space.high - space.low) + 1) if space.is_whole else MANY


def _is_log(numbers: Range) -> bool:
    return numbers.low > 0 and numbers.high / numbers.low >= 10


def _rosters(now: Sequence[str], written: Sequence[str]) -> list[list[str]]:
    """Each role left out, moved to the front, or added at the end."""
    without = [[*now[:index], *now[index + 1 :]] for index in range(len(now))]
    first = [[now[index], *now[:index], *now[index + 1 :]] for index in range(1, len(now))]
    more = [[*now, role] for role in written if {role} != set(now)]  # the list is gone through again and again
    unique = {tuple(roster): None for roster in (*without, *first, *more) if roster}
    return [list(roster) for roster in unique if roster != tuple(now)]


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
