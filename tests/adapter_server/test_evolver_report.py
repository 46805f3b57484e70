import re
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
import pytest

from adapter_server.evolver.known_answers import Trial
from adapter_server.evolver.patch import Patch, Prediction
from adapter_server.evolver.release import release
from adapter_server.evolver.report import report_page
from adapter_server.evolver.simulation import COMPONENT, worth

PREDICTIONS = [
    Prediction(metric="solved", relation="at_least", amount=0.1),
    Prediction(metric="duplicates", relation="at_most", amount=-0.3),
]


def patch(gain: float, hypothesis: str) -> Patch:
    return msgspec.structs.replace(worth(gain, 7), hypothesis=hypothesis, predictions=PREDICTIONS)


async def campaign(folder: Path, patches: Sequence[Patch], *, seed: int, is_released: bool = False) -> str:
    trial = Trial(patches, seed=seed, folder=folder)
    await trial.run()
    if is_released:
        await release(trial.journal, trial.teams, by="me", alone=trial.teams)
    return report_page(trial.state)


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]))


@pytest.fixture(scope="module")
def promoted(tmp_path_factory: pytest.TempPathFactory) -> str:
    patches = [
        patch(0.5, "generalise first"),
        Patch(component="policy.json#/lease_s", content="1", hypothesis="<script>alert(1)</script>"),
    ]

    async def work() -> str:
        return await campaign(tmp_path_factory.mktemp("c"), patches, seed=1, is_released=True)

    return anyio.run(work)


def test_the_report_tells_each_proposal_with_its_hypothesis_predictions_stages_and_fate(promoted: str) -> None:
    text = text_of(promoted)
    assert "1 promoted" in text
    assert f"p1: {COMPONENT} , promoted By script" in text
    assert "Hypothesis: generalise first" in text
    assert re.search(r"solved: change at least \+0\.1 [\d.]+ [\d.]+ \+[\d.]+ met", text)
    assert "duplicates: change at most -0.3 not known not known not known cannot be said" in text
    assert re.search(r"confirm 40 of 40 \d+ \d+ \+\d+ points \[\+\d+, \+\d+\] p = [\d.e-]+ passed", text)
    assert "p2: policy.json#/lease_s , static_rejected" in text
    assert "G1: adapter version: policy.json: Expected `int` &gt;= 5" in text


def test_it_shows_noise_the_sealed_result_and_what_the_same_budget_brings(promoted: str) -> None:
    text = text_of(promoted)
    assert re.search(r"simulated teams 1 ab1-\w+ 20 \d+ % 0 %", text)
    for arm in ("champion", "start", "start, same budget", "alone"):
        assert re.search(rf" {arm} 20 \d+ \d+ % \[\d+, \d+\] \d+ \d+", text), arm


def test_the_page_needs_no_network_runs_nothing_and_has_a_figure_for_each_question(promoted: str) -> None:
    assert "<script" not in promoted
    assert "&lt;script&gt;alert(1)" in promoted
    assert re.findall(r'(?:src|href)="(?!#)', promoted) == []
    assert promoted.count("<svg") == 5
    for title in ("Lineage of versions", "Share solved by generation", "Cost against score", "Fates of proposals"):
        assert title in promoted


def test_when_nothing_was_promoted_it_says_so_and_shows_no_gain(tmp_path: Path) -> None:
    async def work() -> str:
        return await campaign(tmp_path, [patch(-0.5, "wait more")], seed=2)

    text = text_of(anyio.run(work))
    assert "Nothing was promoted." in text
    assert "Confirmed gains" not in text
    assert "20 sealed tasks were not opened" in text


def test_a_campaign_that_has_only_begun_has_a_report_too(tmp_path: Path) -> None:
    text = text_of(report_page(Trial([], seed=3, folder=tmp_path).state))
    assert "Nothing was promoted." in text
    assert "was not compared with itself" in text
    assert "Nothing was proposed." in text
