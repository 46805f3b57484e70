import json
import os
import shutil
from pathlib import Path

import pytest

from adapter_server.bundle import bundle_id, default_bundle_folder
from adapter_server.episodes import effective_policy
from adapter_server.staging import load_bundle, open_bundle, stage_bundle
from adapter_server.tools.arguments import CONTRACTS
from adapter_server.tools.schema import input_schema
from bus.errors import BadArguments, BadDataFolder, UnknownId


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(default_bundle_folder(), tmp_path / "copy"))


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_shipped_version_has_words_for_every_tool_and_the_decisive_sentence_first() -> None:
    bundle = load_bundle(default_bundle_folder())
    assert list(bundle.tools) == list(CONTRACTS)
    first = bundle.instructions[:250]
    assert all(word in first for word in ("digest", "claim next", "check", "Stop when solved"))


def test_what_agents_read_before_the_first_call_stays_small() -> None:
    bundle = load_bundle(default_bundle_folder())
    listing = [[name, words.description, input_schema(name, words)] for name, words in bundle.tools.items()]
    assert len(json.dumps(listing)) < 11_000
    assert len(bundle.instructions) < 1_500


def test_the_id_depends_on_paths_and_contents_only(copy: Path) -> None:
    shipped = load_bundle(default_bundle_folder())
    assert load_bundle(copy).id == shipped.id
    rewrite(copy / "prompts/team.md", "team", "crew")
    assert load_bundle(copy).id != shipped.id
    assert bundle_id({"a": b"1", "b": b"2"}) == bundle_id({"b": b"2", "a": b"1"})
    assert bundle_id({"a": b"1", "b": b"2"}) != bundle_id({"a": b"2", "b": b"1"})


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("policy.json", '"lease_s": 120', '"lease_s": 1', "lease_s"),
        ("policy.json", '"lease_s": 120', '"lease_seconds": 120', "lease_seconds"),
        ("policy.json", '"default": [', '"others": [', "roles.default"),
        ("policy.json", '"planner"', '"oracle"', "prompts/roles/oracle.md"),
        ("manifest.json", '"schema": 1', '"schema": 2', "schema 2"),
        ("manifest.json", '"say": 1', '"say": 9', "say in contract version 9"),
        ("manifest.json", '"say": 1', '"shout": 1', "shout"),
        ("tools.json", '"budget_tokens"', '"budget"', "no parameter budget"),
        ("tools.json", '"title"', '"titel"', "titel"),
        ("tools.json", '"source": {', '"node": {', "check needs words for its parameter source"),
        ("tools.json", '"default": "status"', '"default": "cheat"', "submit does not take 'cheat' as action"),
        ("tools.json", '"choices": ["add", ', '"choices": ["drop", ', "plan does not take 'drop' as action"),
        ("tools.json", '"minimum": 200, "maximum": 2000', '"minimum": 200, "maximum": 20', "minimum of budget_tokens"),
        ("tools.json", "{", "", "tools.json"),
    ],
)
def test_a_version_with_a_mistake_is_refused_with_its_place(
    copy: Path, file: str, old: str, new: str, said: str
) -> None:
    rewrite(copy / file, old, new)
    with pytest.raises(BadDataFolder, match=said):
        load_bundle(copy)


def test_a_version_with_a_missing_file_a_link_or_too_many_bytes_is_refused(copy: Path) -> None:
    (copy / "prompts/team.md").rename(copy / "prompts/roles/crew.md")
    with pytest.raises(BadDataFolder, match=r"prompts/team\.md is missing"):
        load_bundle(copy)
    (copy / "prompts/team.md").symlink_to(copy / "prompts/roles/crew.md")
    with pytest.raises(BadDataFolder, match="is a link"):
        load_bundle(copy)
    (copy / "prompts/team.md").unlink()
    (copy / "prompts/team.md").write_bytes(b"\xff")
    with pytest.raises(BadDataFolder, match="not UTF-8"):
        load_bundle(copy)
    (copy / "prompts/team.md").write_bytes(b"x" * 1_000_001)
    with pytest.raises(BadDataFolder, match="larger than"):
        load_bundle(copy)
    (copy / "prompts/team.md").write_bytes(b"x" * 8_001)
    with pytest.raises(BadDataFolder, match=r"prompts/team\.md has 8001 bytes, allowed are 8000"):
        load_bundle(copy)
    (copy / "prompts/team.md").unlink()
    os.mkfifo(copy / "prompts/team.md")
    with pytest.raises(BadDataFolder, match="no plain file"):
        load_bundle(copy)


@pytest.mark.parametrize("path", ["run.py", "prompts/roles/Prover.md", "skills/x/run.sh", "prompts/mcp/a/b.md"])
def test_a_version_with_a_file_that_no_version_has_is_refused(copy: Path, path: str) -> None:
    (copy / path).parent.mkdir(parents=True, exist_ok=True)
    (copy / path).write_text("print()")
    with pytest.raises(BadDataFolder, match="has no place"):
        load_bundle(copy)


def test_a_staged_version_is_found_by_its_id_and_staging_twice_changes_nothing(tmp_path: Path) -> None:
    adapters = tmp_path / "adapters"
    staged = stage_bundle(default_bundle_folder(), adapters)
    assert stage_bundle(default_bundle_folder(), adapters) == staged
    assert open_bundle(adapters, staged.id) == staged
    assert [path.name for path in adapters.iterdir()] == [staged.id]


def test_a_staged_version_that_was_changed_is_refused_until_it_is_staged_again(tmp_path: Path) -> None:
    staged = stage_bundle(default_bundle_folder(), tmp_path)
    rewrite(tmp_path / staged.id / "policy.json", '"lease_s": 120', '"lease_s": 60')
    with pytest.raises(BadDataFolder, match="changed on disk"):
        open_bundle(tmp_path, staged.id)
    assert stage_bundle(default_bundle_folder(), tmp_path) == staged
    assert open_bundle(tmp_path, staged.id) == staged


def test_a_version_that_is_refused_leaves_nothing_behind(copy: Path, tmp_path: Path) -> None:
    (copy / "run.py").write_text("print()")
    with pytest.raises(BadDataFolder):
        stage_bundle(copy, tmp_path / "adapters")
    assert not (tmp_path / "adapters").exists()


@pytest.mark.parametrize("version", ["ab1-0", "../default", ""])
def test_an_unknown_version_names_those_that_exist(tmp_path: Path, version: str) -> None:
    staged = stage_bundle(default_bundle_folder(), tmp_path)
    with pytest.raises(UnknownId) as caught:
        open_bundle(tmp_path, version)
    assert caught.value.facts["nearest"] == [staged.id]


def test_a_disabled_tool_is_not_there(copy: Path) -> None:
    rewrite(copy / "tools.json", '"title": "Search",', '"title": "Search", "enabled": false,')
    assert "find" not in load_bundle(copy).tools


def test_prompts_are_filled_in_and_unknown_ones_refused() -> None:
    bundle = load_bundle(default_bundle_folder())
    assert bundle.prompt("team", agent="ada", role="scout").startswith("You are ada, scout in a team")
    with pytest.raises(UnknownId):
        bundle.prompt("roles/none")


def test_limits_of_an_episode_replace_policy_numbers_within_their_bounds() -> None:
    policy = load_bundle(default_bundle_folder()).policy
    assert effective_policy(policy, {}) == policy
    changed = effective_policy(policy, {"lease_s": 30, "digest": {"next": 2}})
    assert (changed.lease_s, changed.digest.next, changed.digest.lemmas) == (30, 2, policy.digest.lemmas)
    for limits in ({"lease_s": 0}, {"judge": "off"}, {"digest": {"next": "all"}}):
        with pytest.raises(BadArguments, match="limits"):
            effective_policy(policy, limits)


def test_roles_follow_the_order_of_joining() -> None:
    policy = load_bundle(default_bundle_folder()).policy
    roles = policy.roles["default"]
    assert [policy.role_of(index) for index in range(len(roles) + 1)] == [*roles, roles[0]]
