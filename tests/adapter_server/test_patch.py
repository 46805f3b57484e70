import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_server.bundle import Bundle, default_bundle_folder, read_bundle
from adapter_server.evolver.patch import MAX_PATCH_BYTES, NoChange, Patch, apply, read_proposal
from adapter_server.staging import read_files
from bus.errors import BadPatch

FILES = read_files(default_bundle_folder())


def proposal(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def differing(after: dict[str, bytes]) -> set[str]:
    return {path for path in FILES | after if FILES.get(path) != after.get(path)}


def test_a_prompt_is_replaced_and_nothing_else_changes() -> None:
    patch = read_proposal(proposal(component="prompts/team.md", content="Prove it, {{agent}}.", hypothesis="shorter"))
    assert isinstance(patch, Patch)
    after = apply(FILES, patch)
    assert after["prompts/team.md"] == b"Prove it, {{agent}}."
    assert differing(after) == {"prompts/team.md"}
    assert read_bundle(after).prompts["team"] == "Prove it, {{agent}}."


def value_at(component: str, value: object) -> Bundle:
    patch = read_proposal(proposal(component=component, value=value))
    assert isinstance(patch, Patch)
    return read_bundle(apply(FILES, patch))


def test_a_value_at_a_pointer_is_replaced() -> None:
    assert value_at("policy.json#/lease_s", 60).policy.lease_s == 60
    assert value_at("policy.json#/digest/lemmas", 20).policy.digest.lemmas == 20
    assert value_at("policy.json#/roles/default/0", "scout").policy.roles["default"][0] == "scout"
    assert value_at("policy.json#/roles/default/-", "scout").policy.roles["default"][-1] == "scout"
    assert value_at("policy.json#/roles/big~1team", ["prover"]).policy.roles["big/team"] == ["prover"]
    assert "find" not in value_at("tools.json#/find/enabled", value=False).tools
    assert value_at("tools.json#/digest/description", "Look.").tools["digest"].description == "Look."


def test_no_change_is_a_proposal() -> None:
    assert read_proposal(proposal(no_change="nothing to gain")) == NoChange(reason="nothing to gain")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[" * 100_000, "is a list"),
        (b'{"component":' + b"[" * 100_000, "cannot be read"),
        (b" " * (MAX_PATCH_BYTES + 1), "bytes"),
        (proposal(), "either content"),
        (proposal(component="prompts/team.md"), "either content"),
        (proposal(component="policy.json#/lease_s", value=1, content="1"), "either content"),
        (proposal(component="policy.json#/lease_s", content="1"), "takes value"),
        (proposal(component="prompts/team.md", value="x"), "takes value"),
        (proposal(component="prompts/team.md", content="x", no_change="y"), "at once"),
        (proposal(component="prompts/team.md", content="x", bundle="ab1-0"), "bundle"),
        (proposal(component=["prompts/team.md", "policy.json"], content="x"), "component"),
        (json.dumps([{"component": "prompts/team.md", "content": "x"}] * 2).encode(), "is a list"),
        (proposal(component="prompts/team.md", content="x", hypothesis="y" * 4001), "hypothesis"),
        (
            proposal(
                component="prompts/team.md",
                content="x",
                predictions=[{"metric": "luck", "relation": "at_most", "amount": 0}],
            ),
            "luck",
        ),
    ],
)
def test_what_is_no_proposal_is_refused_with_the_reason(text: bytes, said: str) -> None:
    with pytest.raises(BadPatch, match=said):
        read_proposal(text)


@pytest.mark.parametrize(
    ("component", "content", "said"),
    [
        ("manifest.json", "{}", "manifest.json states the contracts"),
        ("manifest.json#/contracts/say", "2", "manifest.json states the contracts"),
        ("../default/prompts/team.md", "x", "no component"),
        ("/etc/passwd", "x", "no component"),
        ("prompts/../policy.json", "x", "no component"),
        ("prompts/team.md\n", "x", "no component"),
        ("prompts/roles/pro\x00ver.md", "x", "no component"),
        ("prompts/roles/run.py", "x", "no component"),
        ("skills/a/b/SKILL.md", "x", "no component"),
        ("bounds.json", "{}", "no component"),
        ("prompts/team.md#/x", "1", "no pointer"),
        ("policy.json#lease_s", "60", "no pointer"),
        ("policy.json#", "{}", "no pointer"),
        ("policy.json#/lease~2s", "60", "no JSON pointer"),
        ("policy.json#/digest/next/deeper", "60", "leads nowhere"),
        ("policy.json#/nowhere/next", "60", "leads nowhere"),
        ("policy.json#/roles/default/99", '"scout"', "leads nowhere"),
        ("policy.json#/roles/default/01", '"scout"', "leads nowhere"),
        ("policy.json#/lease_s", "1", ">= 5"),
        ("policy.json#/lease_s", "100000", "<= 3600"),
        ("policy.json#/lease_s", '"long"', "lease_s"),
        ("policy.json#/lease_s", "NaN", "not JSON"),
        ("policy.json#/lease_s", "120", "already"),
        ("policy.json#/judge", '"off"', "judge"),
        ("policy.json#/roles/default", "[]", "roles.default is empty"),
        ("policy.json#/roles/default/0", '"oracle"', "oracle"),
        ("policy.json", "{}", "valid version"),
        ("policy.json", "not json", "valid version"),
        ("policy.json", "[" * 50_000, "valid version"),
        ("policy.json#/lease_s", "[" * 3_000, "not JSON|lease_s"),
        ("tools.json#/shell", '{"title":"t","description":"d","parameters":{}}', "shell"),
        ("tools.json#/check/parameters/axioms", '{"description":"d"}', "axioms"),
        ("tools.json#/find/parameters/limit/maximum", '"9"', "maximum"),
        ("prompts/team.md", "", "empty"),
        ("prompts/team.md", " \n", "empty"),
        ("prompts/team.md", "x" * 8001, "8001 bytes"),
        ("policy.json#/portfolio", json.dumps(["simp"] * 1000), "allowed are 4000"),
        ("prompts/team.md", "a\x1b[2Jb", "control"),
        ("prompts/team.md", "a\u202eb", "invisible"),
        ("prompts/team.md", "\ud800", "Unicode"),
    ],
)
def test_a_change_that_is_not_allowed_is_refused_with_the_reason(component: str, content: str, said: str) -> None:
    before = dict(FILES)
    with pytest.raises(BadPatch, match=said):
        apply(FILES, Patch(component=component, content=content))
    assert before == FILES


def test_the_same_content_is_no_change() -> None:
    with pytest.raises(BadPatch, match="already"):
        apply(FILES, Patch(component="prompts/team.md", content=FILES["prompts/team.md"].decode()))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
STEPS = st.sampled_from(
    ["lease_s", "digest", "next", "roles", "default", "0", "-", "check", "parameters", "", "~1", "~"]
)
COMPONENTS = st.one_of(
    st.sampled_from([*FILES, "prompts/roles/new.md", "skills/new/SKILL.md", "x.py", "../policy.json"]),
    st.tuples(
        st.sampled_from(["policy.json", "tools.json", "manifest.json", "prompts/team.md"]),
        st.lists(STEPS, max_size=4).map("/".join),
    ).map("#/".join),
    st.text(max_size=30),
)
CONTENTS = st.text(max_size=200) | JSON_VALUES.map(json.dumps) | st.integers(0, 5000).map(str)


@settings(max_examples=120, deadline=None)
@given(component=COMPONENTS, content=CONTENTS)
def test_any_change_is_refused_or_gives_a_valid_version_that_differs_in_one_file(component: str, content: str) -> None:
    before = dict(FILES)
    try:
        after = apply(FILES, Patch(component=component, content=content))
    except BadPatch:
        assert before == FILES
        return
    assert before == FILES
    assert differing(after) == {component.partition("#")[0]}
    read_bundle(after)


@settings(max_examples=120, deadline=None)
@given(
    text=st.binary(max_size=60)
    | st.fixed_dictionaries(
        {},
        optional={
            "component": COMPONENTS | JSON_VALUES,
            "content": JSON_VALUES,
            "value": JSON_VALUES,
            "hypothesis": JSON_VALUES,
            "predictions": JSON_VALUES,
            "no_change": JSON_VALUES,
            "other": JSON_VALUES,
        },
    ).map(lambda fields: json.dumps(fields).encode())
)
def test_any_text_is_refused_or_read_as_a_proposal_that_survives_being_written_down(text: bytes) -> None:
    try:
        read = read_proposal(text)
    except BadPatch:
        return
    assert msgspec.json.decode(msgspec.json.encode(read), type=type(read)) == read
