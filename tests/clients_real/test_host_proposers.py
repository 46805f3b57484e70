"""Unmodified Codex and Claude Code propose a change after they have read the context folder."""

import json
import os
import re
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.cli.host_proposers import host_proposer
from adapter_server.evolver.context import remove_context, write_context
from adapter_server.evolver.patch import Patch
from adapter_server.evolver.proposing import ProposalContext
from adapter_server.staging import read_files
from bus.errors import BadPatch
from tests.model_endpoints.conversation import Answer, Call, Conversation
from tests.model_endpoints.server import ScriptedModel, scripted_model

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def context(tmp_path: Path) -> Generator[ProposalContext]:
    made = write_context(tmp_path / "context", read_files(default_bundle_folder()), evidence="none yet")
    yield made
    remove_context(made.folder)


def halve_leases(seen: Conversation) -> Answer:
    """Reads the champion's policy in the folder that the prompt names and halves one of its numbers."""
    if seen.last is None:
        folder = re.findall(r"README\.md in the folder (\S+) and", seen.text)[-1]
        policy = f"{folder}/champion/policy.json"
        if "exec_command" in seen.text:
            return [Call(tool="exec_command", arguments={"cmd": f"cat {policy}"}, is_own=True)]
        return [Call(tool="Read", arguments={"file_path": policy}, is_own=True)]
    lease_s = int(re.findall(r'"lease_s": (\d+)', seen.last.text)[0])
    change = {"component": "policy.json#/lease_s", "value": lease_s // 2, "hypothesis": "parts are freed sooner"}
    return f"I read the evidence.\n\n```json\n{json.dumps(change)}\n```"


def proposed(kind: str, model: ScriptedModel, context: ProposalContext) -> object:
    proposer = host_proposer(kind, model="scripted", environ={**os.environ, **model.environment})
    return anyio.run(proposer.propose, context)


@pytest.mark.usefixtures("real_clients")
@pytest.mark.parametrize("kind", ["codex", "claude"])
def test_a_host_reads_the_context_and_its_last_words_are_the_proposal(kind: str, context: ProposalContext) -> None:
    with scripted_model(halve_leases) as model:
        patch = proposed(kind, model, context)
    assert patch == Patch(component="policy.json#/lease_s", content="60", hypothesis="parts are freed sooner")
    assert len(model.asked) >= 2


@pytest.mark.usefixtures("real_clients")
@pytest.mark.parametrize("kind", ["codex", "claude"])
def test_a_host_that_only_talks_is_refused_with_a_reason(kind: str, context: ProposalContext) -> None:
    with scripted_model(lambda _seen: "I would look at the prompts first.") as model, pytest.raises(BadPatch) as caught:
        proposed(kind, model, context)
    assert caught.value.facts["cause"] == "malformed"
