import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.evolver.campaign import Campaign
from adapter_server.evolver.context import remove_context, write_context
from adapter_server.evolver.events import StaticRejected
from adapter_server.evolver.handbook import knobs
from adapter_server.evolver.known_answers import Trial
from adapter_server.evolver.patch import NoChange, Patch, apply
from adapter_server.evolver.proposers.command import Command, CommandProposer
from adapter_server.evolver.proposers.scripted import ScriptedProposer
from adapter_server.evolver.proposing import Fate, ProposalContext
from adapter_server.staging import read_files
from bus.errors import BadArguments, BadPatch

FILES = read_files(default_bundle_folder())
CHANGE = {"component": "policy.json#/lease_s", "value": 60, "hypothesis": "shorter leases free parts sooner"}


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ProposalContext]:
    tried = Fate(
        patch=Patch(component="policy.json#/lease_s", content="30"),
        verdict="worse",
        reasons=["2 wins, 9 losses"],
        score=-0.2,
    )
    made = write_context(
        tmp_path / "context", FILES, evidence="two episodes", fates=[tried], remaining={"checks": 500}, seed=7
    )
    yield made
    remove_context(made.folder)


def program(text: str, *, timeout_s: float = 20.0) -> CommandProposer:
    return CommandProposer(Command(arguments=[sys.executable, "-c", text], timeout_s=timeout_s, name="program"))


def proposed(proposer: CommandProposer | ScriptedProposer, context: ProposalContext) -> Patch | NoChange:
    return anyio.run(proposer.propose, context)


def test_the_context_holds_the_champion_the_evidence_what_was_tried_and_what_is_left(context: ProposalContext) -> None:
    assert read_files(context.folder / "champion") == FILES
    assert (context.folder / "evidence.md").read_text() == "two episodes"
    [told] = [json.loads(line) for line in (context.folder / "fates.jsonl").read_text().splitlines()]
    assert (told["verdict"], told["reasons"], told["score"]) == ("worse", ["2 wins, 9 losses"], -0.2)
    assert json.loads((context.folder / "budget.json").read_text()) == {
        "remaining": {"checks": 500}, "round": 0, "seed": 7,
    }  # fmt: skip
    modes = {path.stat().st_mode & 0o222 for path in [context.folder, *context.folder.rglob("*")]}
    assert modes == {0}


def test_the_handbook_names_every_policy_number_with_bounds_values_and_what_it_does(context: ProposalContext) -> None:
    changed = apply(FILES, Patch(component="policy.json#/digest/lemmas", content="20"))
    found = {knob.component: knob for knob in knobs(changed["policy.json"], FILES["policy.json"])}
    digest = found["policy.json#/digest/lemmas"]
    assert (digest.low, digest.high, digest.value, digest.shipped) == (1, 50, 20, 8)
    assert [name for name, knob in found.items() if not knob.influences] == []
    assert set(found) == {f"policy.json#/{path}" for path in leaves(json.loads(FILES["policy.json"]))}
    book = (context.folder / "handbook.md").read_text()
    assert all(component in book for component in found)
    assert all(f"### {tool}" in book for tool in json.loads(FILES["tools.json"]))


def leaves(policy: dict[str, object], above: str = "") -> Iterator[str]:
    for name, value in policy.items():
        if isinstance(value, dict) and name != "roles":
            yield from leaves(value, f"{above}{name}/")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{above}{name}"


def test_a_script_is_read_line_by_line_and_ends_without_a_change(tmp_path: Path, context: ProposalContext) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(f'{json.dumps(CHANGE)}\n\n{{"no_change": "enough"}}\n{{"component": 1}}\n')
    proposer = ScriptedProposer.from_file(script)
    assert proposed(proposer, context) == Patch(
        component="policy.json#/lease_s", content="60", hypothesis="shorter leases free parts sooner"
    )
    rounds = [ProposalContext(folder=context.folder, champion="", files=FILES, round=number) for number in range(4)]
    assert proposed(proposer, rounds[1]) == NoChange(reason="enough")
    with pytest.raises(BadPatch, match="cannot be read"):
        proposed(proposer, rounds[2])
    assert isinstance(proposed(proposer, rounds[3]), NoChange)
    with pytest.raises(BadArguments, match="cannot read the script"):
        ScriptedProposer.from_file(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize(
    "text",
    [
        "print(json.dumps(change))",
        "print('I thought about it.\\n```json\\n' + json.dumps(change) + '\\n```\\nDone.')",
        "open(os.environ['ADAPTER_PROPOSAL'], 'w').write(json.dumps(change)); print('noise')",
    ],
)
def test_a_program_proposes_by_printing_or_by_writing_a_file(text: str, context: ProposalContext) -> None:
    read = "lease = json.load(open(os.environ['ADAPTER_CONTEXT'] + '/champion/policy.json'))['lease_s']"
    change = "change = {'component': 'policy.json#/lease_s', 'value': lease // 2}"
    result = proposed(program(f"import json, os\n{read}\n{change}\n{text}"), context)
    assert result == Patch(component="policy.json#/lease_s", content="60")


@pytest.mark.parametrize(
    ("text", "cause", "said"),
    [
        ("raise SystemExit('no key')", "crash", "ended with code 1: no key"),
        ("import os; os.kill(os.getpid(), 9)", "crash", "code -9"),
        ("while True: print('x' * 100_000)", "flood", "printed more than"),
        ("print('{')", "malformed", "cannot be read"),
        ("pass", "malformed", "wrote no proposal"),
        ("print('[]')", "malformed", "is a list"),
        ("print('x' * 300_000)", "malformed", "300001 bytes"),
    ],
)
def test_a_program_that_fails_is_a_refusal_with_its_cause(
    text: str, cause: str, said: str, context: ProposalContext
) -> None:
    with pytest.raises(BadPatch, match=said) as caught:
        proposed(program(text), context)
    assert caught.value.facts["cause"] == cause


def test_a_program_that_cannot_be_started_is_a_refusal(context: ProposalContext) -> None:
    with pytest.raises(BadPatch, match="cannot be started") as caught:
        proposed(CommandProposer(Command(arguments=["/nowhere/program"], name="program")), context)
    assert caught.value.facts["cause"] == "crash"


def test_a_program_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path, context: ProposalContext) -> None:
    note = tmp_path / "pid"
    text = (
        "import subprocess, time\n"
        f"child = subprocess.Popen(['sleep', '600'])\nopen({str(note)!r}, 'w').write(str(child.pid))\ntime.sleep(600)"
    )
    with pytest.raises(BadPatch, match="took longer") as caught:
        proposed(program(text, timeout_s=3.0), context)
    assert caught.value.facts["cause"] == "timeout"
    assert is_gone_soon(int(note.read_text()))


def test_a_program_whose_child_keeps_the_pipe_open_ends_when_it_ends(context: ProposalContext) -> None:
    text = "import subprocess, json\nsubprocess.Popen(['sleep', '600'])\nprint(json.dumps({'no_change': 'fine'}))"
    started = time.monotonic()
    assert proposed(program(text), context) == NoChange(reason="fine")
    assert time.monotonic() - started < 15


def test_proposers_that_fail_are_written_down_with_their_reason_and_end_the_run(tmp_path: Path) -> None:
    trial = Trial([], seed=4, folder=tmp_path, plan={"max_failures": 4})
    failing = [
        program("raise SystemExit('no key')"),
        program("while True: print('x' * 100_000)"),
        program("import time; time.sleep(600)", timeout_s=1.0),
        program("print('[]')"),
    ]
    campaign = Campaign(
        trial.journal, measure=trial.teams, pointer=trial.pointer, workshop=trial.workshop, proposers=failing
    )
    assert anyio.run(campaign.run) == "4 proposals in a row were not worth a comparison"
    events = [entry.event for entry in trial.log.entries]
    reasons = [event.results[0].reasons[0] for event in events if isinstance(event, StaticRejected)]
    assert reasons == [
        "program ended with code 1: no key",
        "program printed more than 800000 bytes",
        "program took longer than 1 s",
        "program: the proposal is a list; one proposal changes one component",
    ]
    assert trial.state.proposals == {}
    assert trial.state.champion == trial.state.reigns[0]


def is_gone_soon(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_the_example_offers_all_that_is_missing_then_halves_of_it_until_everything_was_tried(tmp_path: Path) -> None:
    plain = apply(FILES, Patch(component="policy.json#/portfolio", content='["half", "explore", "newest", "star"]'))
    example = Path(__file__).parents[2] / "docs" / "examples" / "technique_proposer.py"
    arguments = [sys.executable, str(example), "{context}"]
    proposer = CommandProposer(Command(arguments=arguments, timeout_s=20.0, name="example"))
    fates: list[Fate] = []
    for round_number in range(3):
        made = write_context(tmp_path / f"{round_number}", plain, evidence="", fates=fates, remaining={}, seed=1)
        patch = proposed(proposer, made)
        remove_context(made.folder)
        assert isinstance(patch, Patch)
        fates.append(Fate(patch=patch, verdict="undecided"))
    everything, first, second = (set(json.loads(fate.patch.content)) for fate in fates)
    assert everything == set(json.loads(FILES["policy.json"])["portfolio"])
    assert first | second == everything
    assert first & second == {"half", "explore", "newest", "star"}
