"""`adapter-server evolve`: changes of the adapter version, kept only on evidence."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

import anyio
import msgspec

from adapter_server.data_folder import open_data_folder
from adapter_server.evolver.budget import forecast
from adapter_server.evolver.campaign import Campaign
from adapter_server.evolver.comparing import earlier_pairs
from adapter_server.evolver.events import BudgetRaised, RunStarted
from adapter_server.evolver.gates import Ruling, judge
from adapter_server.evolver.journal import Journal
from adapter_server.evolver.ledger import open_ledger, read_ledger, torn_line
from adapter_server.evolver.plan import Amounts, Plan, Tasks, check_plan, config_hash
from adapter_server.evolver.promoting import freeze, promote, recover, roll_back
from adapter_server.evolver.release import check_release, release, release_facts
from adapter_server.evolver.state import State, fold
from adapter_server.evolver.verifying import verify_ledger
from adapter_server.logs import configure_logs
from adapter_server.settings import Settings
from bus.errors import BadArguments
from bus.records import Caps
from scenarios.lean.laboratory import LaboratorySettings
from scenarios.lean.suite_tasks import find_tasks
from scenarios.lean.task_splits import Shares, split_tasks
from scenarios.lean.team import Hosting, parse_team

from .evolve_parts import Places, StoredPointer, StoredVersions, laboratory_of
from .evolve_proposers import Bench, proposers_of
from .evolve_telling import (
    comparison_facts,
    forecast_lines,
    proposal_facts,
    status_facts,
    status_lines,
    tell,
    tell_progress,
)
from .exit_codes import NOT_PROVED, OK

T = TypeVar("T")
SECONDS_BESIDE = 2.0
"""An episode may take so many times its time limit, with start, assembly and replay."""


class EvolveCommands:
    """The commands on one data folder. Each prints, and returns the exit code."""

    def __init__(self, settings: Settings, *, is_json: bool) -> None:
        configure_logs(level="warning")
        self._settings = settings
        self._is_json = is_json
        self._places = Places(data=open_data_folder(settings.data_path))
        self._pointer = StoredPointer(settings)

    def init(
        self,
        paths: Sequence[Path],
        *,
        team: str,
        caps: Caps,
        hosting: Hosting,
        budget: Amounts,
        plan: Mapping[str, Any],
        guard: Sequence[str],
        shares: Shares | None,
    ) -> int:
        """Divide the tasks, write the plan down. Nothing is run.

        Raises:
            BadArguments: the plan cannot be measured honestly, or there is a campaign already.
        """
        parse_team(team)
        whole = _plan({**plan, "budget": budget, "episode_cost": _bounds(budget, caps, plan)})
        divided = split_tasks(find_tasks(paths), seed=whole.seed, guard=guard, shares=shares)
        tasks = Tasks(search=divided.search, confirm=divided.confirm, guard=divided.guard, sealed=divided.sealed)
        check_plan(whole, tasks)
        champion = anyio.run(self._pointer.champion)
        laboratory = msgspec.to_builtins(LaboratorySettings(team=team, caps=caps, hosting=hosting))
        with open_ledger(self._places.ledger) as ledger:
            if ledger.entries:
                raise BadArguments(f"there is a campaign in {self._places.folder}", hint="use another data folder")
            ledger.append(
                RunStarted(
                    plan=whole,
                    tasks=tasks,
                    champion=champion,
                    config_hash=config_hash(whole, tasks),
                    laboratory=laboratory,
                )
            )
        sizes = {name: len(tasks.split(name)) for name in ("search", "confirm", "guard", "sealed")}
        text = ", ".join(f"{size} {name}" for name, size in sizes.items())
        left = f"; {len(divided.left_out)} left out" if divided.left_out else ""
        facts = {"ledger": self._places.ledger, "tasks": sizes, "left_out": divided.left_out, "champion": champion}
        return self._tell(facts, f"tasks: {text}{left}; the ledger is {self._places.ledger}")

    def check(self) -> int:
        """Print what the rest of the budget buys and what the plan can see."""

        async def key(state: State) -> str:
            async with laboratory_of(self._places, state) as laboratory:
                return laboratory.key

        state = self._state()
        found = forecast(state, anyio.run(key, state))
        return self._tell(found, "\n".join(forecast_lines(found)))

    def calibrate(self) -> int:
        """Compare the champion with itself, again if that was done before."""

        async def work(campaign: Campaign) -> Any:
            await campaign.start()
            return await campaign.calibrate(is_forced=True)

        result = self._with_campaign(work, proposers=())
        facts = result.facts
        numbers = f"{facts.get('discordance', 0):.0%} of {facts.get('pairs', 0)} pairs differed"
        return self._tell(result, f"{numbers}, invalid {facts.get('invalid')}: {'; '.join(result.reasons) or 'good'}")

    def run(self, proposers: Sequence[str], *, rounds: int | None, more: Amounts) -> int:
        """Go on until something ends the run.

        Raises:
            InfraPause: episodes cannot be run now.
        """

        async def work(campaign: Campaign) -> str:
            return await campaign.run(rounds=rounds)

        self._with_campaign(work, proposers=proposers, more=more)
        return self.status()

    def status(self) -> int:
        """Print the campaign at a glance."""
        state = self._state()
        return self._tell(status_facts(state), "\n".join(status_lines(state)))

    def show(self, name: str) -> int:
        """Print a proposal or a comparison with all that is known."""
        state = self._state()
        if name in state.proposals:
            proposal = state.proposals[name]
            facts = proposal_facts(state, proposal) | {"patch": proposal.proposed.patch}
        elif name in state.comparisons:
            facts = comparison_facts(state.comparisons[name]) | {"opened": state.comparisons[name].opened}
        else:
            raise BadArguments(f"there is no proposal or comparison {name}", hint="evolve status lists them")
        return self._tell(facts, msgspec.json.format(msgspec.json.encode(facts), indent=2).decode())

    def gate(self, name: str) -> int:
        """Print what the gate of a comparison says to its episodes as they are now."""
        state = self._state()
        if name not in state.comparisons:
            raise BadArguments(f"there is no comparison {name}", hint=f"there are {', '.join(state.comparisons)}")
        comparison = state.comparisons[name]
        step = judge(comparison, state.started.plan, earlier_pairs(state, comparison))
        if isinstance(step, Ruling):
            words = "passed" if step.result.is_passed else "; ".join(step.result.reasons)
            return self._tell(step, f"{step.result.gate}: {words}")
        return self._tell({"wanted": step}, f"undecided: pairs {step} are wanted next")

    def promote(self, proposal: str, *, by: str) -> int:
        """Promote what waits for approval."""
        champion = self._write(lambda journal: promote(journal, self._pointer, proposal, by=by))
        return self._tell(champion, f"new episodes get {champion.bundle} (epoch {champion.epoch})")

    def roll_back(self, to: str | None, *, by: str) -> int:
        """Put an earlier version in use again."""
        champion = self._write(lambda journal: roll_back(journal, self._pointer, to=to, by=by))
        return self._tell(champion, f"new episodes get {champion.bundle} (epoch {champion.epoch})")

    def freeze(self, reason: str) -> int:
        """No promotion until a rollback."""

        async def work(journal: Journal) -> None:
            freeze(journal, reason)

        self._write(work)
        return self._tell({"frozen": reason}, "frozen; evolve rollback ends it")

    def verify(self) -> int:
        """Derive every verdict again."""
        found = verify_ledger(read_ledger(self._places.ledger))
        lines = [
            f"{found.lines} lines, {found.comparisons} comparisons and {found.promotions} promotions derived again",
            f"hash of the last line: {found.head}",
            *found.findings,
        ]
        if torn := torn_line(self._places.ledger):
            lines.append(
                f"line {torn} is not whole: it is being written, or a crash cut it off; the next run sets it aside"
            )
        self._tell(found, "\n".join(lines))
        return OK if found.is_good else NOT_PROVED

    def report(self, out: Path | None) -> int:
        """Write the page for people.

        Raises:
            BadArguments: it cannot be written.
        """
        from adapter_server.evolver.report import report_page

        target = out or self._places.report
        try:
            target.write_text(report_page(self._state()), encoding="utf-8")
        except OSError as error:
            raise BadArguments(f"cannot write {target}: {error.strerror or error}") from None
        return self._tell({"report": target}, str(target))

    def open_sealed(self, *, by: str, more: Amounts) -> int:
        """Use the sealed tasks, for the only time."""

        async def work(journal: Journal, state: State) -> None:
            check_release(journal)
            if more:
                journal.write(BudgetRaised(amounts=more))
            async with AsyncExitStack() as stack:
                measure = await stack.enter_async_context(laboratory_of(self._places, state))
                alone = await stack.enter_async_context(laboratory_of(self._places, state, is_alone=True))
                campaign = self._campaign(journal, measure, ())
                await campaign.start()
                await release(journal, measure, by=by, alone=alone)

        self._write(lambda journal: work(journal, journal.state))
        facts = release_facts(self._state())
        return self._tell(facts, "\n".join(f"{arm}: {numbers}" for arm, numbers in (facts or {}).items()))

    def _with_campaign(
        self, work: Callable[[Campaign], Awaitable[T]], *, proposers: Sequence[str], more: Amounts | None = None
    ) -> T:
        async def inside(journal: Journal) -> T:
            if more:
                journal.write(BudgetRaised(amounts=more))
            async with laboratory_of(self._places, journal.state) as measure:
                return await work(self._campaign(journal, measure, proposers))

        return self._write(inside, is_recovered=False)

    def _campaign(self, journal: Journal, measure: Any, proposers: Sequence[str]) -> Campaign:
        state = journal.state
        workshop = StoredVersions(self._places, list(state.tasks.values()))
        found = proposers_of(proposers, Bench(journal=journal, measure=measure, workshop=workshop))
        return Campaign(journal, measure=measure, pointer=self._pointer, workshop=workshop, proposers=found)

    def _write(self, work: Callable[[Journal], Awaitable[T]], *, is_recovered: bool = True) -> T:
        async def inside(journal: Journal) -> T:
            if is_recovered:
                await recover(journal, self._pointer)
            return await work(journal)

        with open_ledger(self._places.ledger) as ledger:
            return anyio.run(inside, Journal(ledger, told=None if self._is_json else tell_progress))

    def _state(self) -> State:
        return fold(read_ledger(self._places.ledger))

    def _tell(self, facts: Any, text: str) -> int:
        tell(facts, text, is_json=self._is_json)
        return OK


def bench(*, scale: float, seed: int, is_json: bool) -> int:
    """Campaigns with a known right end, without Lean, model or network; the code is 0 when all come out right."""
    from adapter_server.evolver.known_answers import Answer, ask_all

    from .evolve_telling import answer_line

    configure_logs(level="warning")
    answers: list[Answer] = []
    for answer in ask_all(scale=scale, seed=seed):
        answers.append(answer)
        if not is_json:
            print(answer_line(answer), flush=True)
    if is_json:
        tell(answers, "", is_json=True)
    return OK if all(answer.is_right for answer in answers) else NOT_PROVED


def _plan(given: Mapping[str, Any]) -> Plan:
    try:
        return msgspec.convert(dict(given), Plan)
    except msgspec.ValidationError as error:
        raise BadArguments(f"the plan is out of bounds: {error}") from None


def _bounds(budget: Amounts, caps: Caps, plan: Mapping[str, Any]) -> dict[str, float]:
    """The most that an episode can cost, as its caps say."""
    seconds = None if caps.seconds is None else caps.seconds * SECONDS_BESIDE
    known = {"episodes": 1.0, "checks": caps.checks, "seconds": seconds, "tokens": caps.tokens}
    bounds = {unit: float(amount) for unit, amount in known.items() if amount is not None and unit in budget}
    return {**bounds, **plan.get("episode_cost", {})}
