import json
from pathlib import Path

import anyio
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.evolver.patch import NoChange, Patch, apply
from adapter_server.evolver.proposers.knobs import Choices, KnobProposer, Range, Space, default_space, read_space
from adapter_server.evolver.proposing import Fate, ProposalContext
from adapter_server.staging import read_files
from bus.errors import BadArguments

FILES = read_files(default_bundle_folder())


def proposed(proposer: KnobProposer, fates: list[Fate], *, seed: int = 1) -> Patch | NoChange:
    context = ProposalContext(folder=Path("unused"), champion="", files=FILES, fates=fates, round=len(fates), seed=seed)
    return anyio.run(proposer.propose, context)


def campaign(space: Space, rounds: int, *, best: int) -> list[int]:
    """Proposed values of lease_s when nearer to the best is better."""
    proposer, fates = KnobProposer(lambda _: space), list[Fate]()
    for _ in range(rounds):
        patch = proposed(proposer, fates)
        assert isinstance(patch, Patch)
        fates.append(Fate(patch=patch, verdict="undecided", score=-abs(int(patch.content) - best) / 100))
    return [int(fate.patch.content) for fate in fates]


def test_every_proposal_is_a_valid_change_of_one_component_and_none_comes_twice() -> None:
    proposer, fates = KnobProposer(lambda files: default_space(files, FILES)), list[Fate]()
    for _ in range(15):
        patch = proposed(proposer, fates)
        assert isinstance(patch, Patch)
        apply(FILES, patch)
        assert patch.hypothesis
        assert patch.predictions
        fates.append(Fate(patch=patch, verdict="worse", score=-0.1))
    assert len({(fate.patch.component, fate.patch.content) for fate in fates}) == 15
    assert len({fate.patch.component for fate in fates}) > 3


def test_the_search_goes_where_scores_were_better_and_is_the_same_with_the_same_seed() -> None:
    space = {"policy.json#/lease_s": Range(low=5, high=200)}
    values = campaign(space, 25, best=40)
    assert sum(abs(value - 40) for value in values[-8:]) < sum(abs(value - 40) for value in values[:8])
    assert campaign(space, 6, best=40) == values[:6]


def test_choices_of_texts_and_lists_run_out_with_no_change() -> None:
    space = {
        "prompts/roles/scout.md": Choices(values=["Find lemmas early."]),
        "policy.json#/roles/default": Choices(values=[["prover"], ["scout", "prover"]]),
    }
    proposer, fates = KnobProposer(lambda _: space), list[Fate]()
    contents: set[str] = set()
    for _ in range(3):
        patch = proposed(proposer, fates)
        assert isinstance(patch, Patch)
        contents.add(patch.content)
        fates.append(Fate(patch=patch, verdict="static_rejected"))
    assert contents == {"Find lemmas early.", '["prover"]', '["scout","prover"]'}
    assert isinstance(proposed(proposer, fates), NoChange)


def test_a_plain_version_is_offered_what_it_lacks_and_a_full_one_to_do_without() -> None:
    policy = json.loads(FILES["policy.json"])
    known = policy["portfolio"]
    plain = policy | {"portfolio": ["simp_all"], "roles": {"default": ["prover"]}}
    space = default_space(FILES | {"policy.json": json.dumps(plain).encode()}, FILES)
    offered = space["policy.json#/portfolio"]
    assert isinstance(offered, Choices)
    assert sorted(map(len, offered.values)) == [2] * 8 + [3] * 28
    assert {word for words in offered.values for word in words} == set(known)
    assert space["policy.json#/roles/default"] == Choices(values=[["prover", "planner"], ["prover", "scout"]])
    full = default_space(FILES, FILES)["policy.json#/portfolio"]
    assert isinstance(full, Choices)
    assert [sorted(set(known) - set(words)) for words in full.values] == [[word] for word in known]


def test_a_list_of_many_choices_is_tried_more_often_than_one_of_few() -> None:
    space = {
        "policy.json#/portfolio": Choices(values=[["simp_all", f"technique {number}"] for number in range(90)]),
        "policy.json#/roles/default": Choices(values=[["prover"], ["scout"]]),
    }
    found = [proposed(KnobProposer(lambda _: space), [], seed=seed) for seed in range(20)]
    assert sum(isinstance(one, Patch) and one.component == "policy.json#/portfolio" for one in found) >= 16


def test_a_space_is_read_from_a_file_and_a_bad_one_refused(tmp_path: Path) -> None:
    file = tmp_path / "space.json"
    file.write_text('{"policy.json#/lease_s": {"type": "range", "low": 10, "high": 60}}')
    assert read_space(file) == {"policy.json#/lease_s": Range(low=10, high=60)}
    file.write_text('{"policy.json#/lease_s": {"type": "range", "low": 10}}')
    with pytest.raises(BadArguments, match="high"):
        read_space(file)
    file.write_text("{}")
    with pytest.raises(BadArguments, match="empty"):
        read_space(file)
