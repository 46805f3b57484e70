from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
import msgspec
import pytest

from adapter_server.bundle import ToolWords, bundle_id, default_bundle_folder
from adapter_server.evolver.gate_result import GateResult
from adapter_server.evolver.leakage import leak_guard
from adapter_server.evolver.measuring import PlannedEpisode
from adapter_server.evolver.patch import NoChange, Patch
from adapter_server.evolver.proposers.gepa import GepaProposer, GepaSettings, Shop
from adapter_server.evolver.proposing import ProposalContext
from adapter_server.evolver.static_gates import StaticRules, static_gates
from adapter_server.staging import read_files
from adapter_server.tools.listing import tool_listing
from bus.errors import BadPatch, InfraPause
from bus.records import EpisodeRecord, Task

FILES = read_files(default_bundle_folder())
PROVER = FILES["prompts/roles/prover.md"].decode()
GOOD = PROVER + "\nGeneralise the accumulator first."
RULES = StaticRules(
    listing=tool_listing,
    widest=msgspec.json.decode(FILES["tools.json"], type=dict[str, ToolWords]),
    leaks=leak_guard([], names=["secret_lemma"]),
)
TASKS = [Task(id=f"t{number}", family="f", path="") for number in range(6)]


class Team:
    """A simulated laboratory: a text with the good sentence solves every task, others the first two."""

    key = "simulated"

    def __init__(self, *, outcome_of_failure: str = "unsolved") -> None:
        self.staged: dict[str, Mapping[str, bytes]] = {bundle_id(FILES): FILES}
        self.ran: list[PlannedEpisode] = []
        self._failure = outcome_of_failure

    def stage(self, files: Mapping[str, bytes]) -> str:
        self.staged[bundle_id(files)] = files
        return bundle_id(files)

    async def run(self, plan: Sequence[PlannedEpisode]) -> list[EpisodeRecord]:
        self.ran += plan
        return [self._record(one) for one in plan]

    def _record(self, one: PlannedEpisode) -> EpisodeRecord:
        is_good = b"Generalise the accumulator" in self.staged[one.bundle]["prompts/roles/prover.md"]
        solved = is_good or one.task.id in ("t0", "t1")
        return msgspec.convert(
            {
                "episode": "e", "task": one.task.id, "bundle": one.bundle, "purpose": one.purpose,
                "outcome": "solved" if solved else self._failure, "feedback": ["the accumulator was stuck"],
            },
            EpisodeRecord,
        )  # fmt: skip


def proposed(team: Team, reflect: Callable[[str], str], *, episodes: int = 60) -> Patch | NoChange:
    def gates(files: Mapping[str, bytes], patch: Patch) -> list[GateResult]:
        return static_gates(files, patch, RULES)

    settings = GepaSettings(components=["prompts/roles/prover.md"], tasks=TASKS, episodes=episodes)
    proposer = GepaProposer(settings, Shop(measure=team, gates=gates, stage=team.stage, reflect=reflect))
    context = ProposalContext(folder=Path("unused"), champion=bundle_id(FILES), files=FILES, seed=3)
    return anyio.run(proposer.propose, context)


def answer(text: str) -> str:
    return f"```\n{text}\n```"


def test_a_text_that_does_better_is_proposed_and_its_model_was_told_what_agents_said() -> None:
    prompts: list[str] = []

    def reflect(prompt: str) -> str:
        prompts.append(prompt)
        return answer(GOOD)

    team = Team()
    patch = proposed(team, reflect)
    assert isinstance(patch, Patch)
    assert (patch.component, patch.content) == ("prompts/roles/prover.md", GOOD)
    assert "0.33 to 1.00 on 6 search tasks" in patch.hypothesis
    assert "the accumulator was stuck" in prompts[0]
    assert {one.purpose for one in team.ran} == {"search"}
    assert len({(one.bundle, one.task.id) for one in team.ran}) == len(team.ran)


def test_when_nothing_does_better_there_is_no_change_and_the_episodes_stay_within_their_number() -> None:
    count = 0

    def reflect(_prompt: str) -> str:
        nonlocal count
        count += 1
        return answer(f"{PROVER}\nVariant {count}.")

    team = Team()
    assert isinstance(proposed(team, reflect, episodes=20), NoChange)
    assert 6 < len(team.ran) <= 20


def test_a_text_that_the_gates_refuse_is_never_run() -> None:
    team = Team()
    result = proposed(team, lambda _prompt: answer("Generalise the accumulator, use secret_lemma."))
    assert isinstance(result, NoChange)
    assert {one.bundle for one in team.ran} == {bundle_id(FILES)}


def test_an_invalid_episode_pauses_and_is_never_scored() -> None:
    with pytest.raises(InfraPause, match="did not count"):
        proposed(Team(outcome_of_failure="invalid"), lambda _prompt: answer(GOOD))


def test_a_model_that_fails_is_a_refusal() -> None:
    def reflect(_prompt: str) -> str:
        raise RuntimeError("no key")

    with pytest.raises(BadPatch, match="no key"):
        proposed(Team(), reflect)
