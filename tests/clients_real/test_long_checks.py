"""A check that takes longer than its call waits goes on as a job, which both hosts follow to its end."""

import pytest

from clients.transcript import TurnEnded
from tests.clients_real.conftest import OpenBench
from tests.model_endpoints.conversation import Answer, Call, Conversation, objects
from tests.model_endpoints.server import scripted_model

WAIT_S = 0.2
THEOREMS = 36
STEP = "  have : ∀ p q : Nat, p + 0 = q → q = p := by intro p q h; induction p <;> simp_all\n  clear this\n"
SOURCE = "".join(
    f"theorem slow_{number} : ∀ n : Nat, {number} + n = n + {number} := by\n"
    f"{STEP * 30}  intro n\n  exact Nat.add_comm _ _\n"
    for number in range(THEOREMS)
)
"""Two seconds of work for Lean on a fast machine, each theorem within its heartbeats."""

MOST_CALLS = 60

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(150)]


def follow(seen: Conversation) -> Answer:
    """Check, then ask for the job until there are verdicts."""
    if seen.last is None:
        return [Call(tool="check", arguments={"source": SOURCE, "wait_s": WAIT_S})]
    if "verdicts" in seen.last.facts or len(seen.results) > MOST_CALLS:
        return "It has ended."
    return [Call(tool="job", arguments={"id": seen.results[0].facts["job"], "wait_s": WAIT_S})]


@pytest.mark.parametrize("name", ["codex-1", "claude-1"])
async def test_a_long_check_is_followed_as_a_job_to_its_verdicts(name: str, bench: OpenBench) -> None:
    with scripted_model(follow) as model:
        async with bench(model) as place, place.playing([await place.register(name)]):
            await place.entry(name, TurnEnded, timeout_s=90, outcome="completed")
    first, *others = model.asked[-1].results
    assert first.facts.get("state") == "running", first
    assert {result.tool for result in others} == {"job"}
    verdicts = objects(others[-1].facts["verdicts"])
    assert [verdict["outcome"] for verdict in verdicts] == ["accepted"] * THEOREMS
