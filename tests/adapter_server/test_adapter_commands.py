"""`adapter-server adapter`: versions are listed, compared, kept, put in use and taken back by commands."""

import io
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.cli.main import run_command
from adapter_server.data_folder import open_data_folder
from adapter_server.staging import load_bundle
from clients.plugin import KINDS

Said = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(default_bundle_folder(), tmp_path / "copy"))
    with (folder / "prompts" / "team.md").open("a") as file:
        file.write("Be brief.\n")
    return folder


@pytest.fixture
def said(data: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs `adapter …` on the data folder: exit code and what it printed as JSON."""

    def run(*words: object) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        code = run_command(["adapter", *map(str, words), "--data", str(data), "--json"])
        out, err = capsys.readouterr()
        return code, msgspec.json.decode(out) if code == 0 else {"error": err}

    return run


def test_a_version_is_staged_put_in_use_and_taken_back(said: Said, copy: Path) -> None:
    built_in = load_bundle(default_bundle_folder()).id
    code, staged = said("stage", copy)
    assert (code, staged["name"]) == (0, "default")
    assert said("activate", staged["id"], "--epoch", 1)[0] == 2
    code, now = said("activate", staged["id"][:12], "--epoch", 0)
    assert (code, now) == (
        0,
        {"bundle": staged["id"], "epoch": 1, "before": {"bundle": built_in, "epoch": 0}},
    )
    _, listed = said("list")
    assert listed["in_use"] == {"bundle": staged["id"], "epoch": 1}
    assert [(row["id"], row["state"], row["epochs"]) for row in listed["versions"]] == [
        (staged["id"], "in use", [1]),
        (built_in, "was in use", [0]),
    ]
    assert said("rollback")[1]["bundle"] == built_in
    code, refused = said("rollback")
    assert (code, "there is none before it" in refused["error"]) == (2, True)


def test_a_difference_names_file_and_lines(said: Said, copy: Path) -> None:
    (copy / "skills" / "more").mkdir()
    (copy / "skills" / "more" / "SKILL.md").write_text("---\nname: more\ndescription: d\n---\n")
    _, found = said("diff", "built-in", copy)
    assert [(one["change"], one["path"]) for one in found["files"]] == [
        ("changed", "prompts/team.md"),
        ("added", "skills/more/SKILL.md"),
    ]
    assert "+Be brief." in found["files"][0]["diff"]
    assert said("diff", copy, copy)[1]["files"] == []


def test_a_version_is_shown_whole_or_file_by_file(said: Said, copy: Path) -> None:
    _, whole = said("show")
    assert (whole["id"], whole["policy"]["lease_s"]) == (load_bundle(default_bundle_folder()).id, 120)
    assert said("show", copy, "--file", "prompts/team.md")[1]["text"].endswith("Be brief.\n")
    code, refused = said("show", "built-in", "--file", "../format")
    assert (code, "no file ../format" in refused["error"]) == (2, True)
    assert said("show", "ab1-ffff")[0] == 2


@pytest.mark.parametrize("target", ["out", "out.tar", "out.tgz"])
def test_what_was_exported_is_taken_in_elsewhere_under_the_same_id(
    said: Said, copy: Path, tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    version = said("stage", copy)[1]["id"]
    assert said("export", version, tmp_path / target)[0] == 0
    assert said("export", version, tmp_path / target)[0] == 2  # nothing is overwritten
    verb = "stage" if target == "out" else "import"
    other = str(tmp_path / "other")
    assert run_command(["adapter", verb, str(tmp_path / target), "--data", other]) == 0
    assert capsys.readouterr().out.strip() == version


def archive(path: Path, *extra: tarfile.TarInfo, omit: str = "") -> Path:
    """The built-in version as a file, with something that is not right."""
    with tarfile.open(path, "w") as tar:
        for file in sorted(default_bundle_folder().rglob("*")):
            name = file.relative_to(default_bundle_folder()).as_posix()
            if file.is_file() and name != omit:
                member = tarfile.TarInfo(name)
                member.size = file.stat().st_size
                tar.addfile(member, io.BytesIO(file.read_bytes()))
        for member in extra:
            tar.addfile(member, io.BytesIO(b" " * member.size))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, *, size: int = 0, link: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.size, found.linkname = kind, size, link
    return found


@pytest.mark.parametrize(
    "bad",
    [
        member("../outside.md"),
        member("/etc/outside"),
        member("prompts/team.md"),
        member("prompts/mcp/x.md", tarfile.SYMTYPE, link="/etc/passwd"),
        member("prompts/mcp/x.md", tarfile.LNKTYPE, link="tools.json"),
        member("prompts/mcp/x.md", tarfile.FIFOTYPE),
        member("prompts/mcp/x.md", size=8_001),
        member("prompts/mcp/x.md", size=1_000_001),
        member("tool.py"),
        member("prompts/mcp/../../../x.md"),
    ],
    ids=lambda bad: f"{bad.name}-{bad.type.decode()}-{bad.size}",
)
def test_a_file_with_anything_else_is_refused_and_nothing_is_kept(
    said: Said, data: Path, tmp_path: Path, bad: tarfile.TarInfo
) -> None:
    code, refused = said("import", archive(tmp_path / "bad.tar", bad))
    assert code in (2, 3)
    assert bad.name in refused["error"]
    kept = [path.name for path in open_data_folder(data).adapters.iterdir()]
    assert kept == [load_bundle(default_bundle_folder()).id]
    assert said("import", archive(tmp_path / "good.tar"))[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_plugin_has_the_words_of_the_version_and_the_version_itself(
    said: Said, copy: Path, tmp_path: Path, kind: str
) -> None:
    assert said("export", copy, tmp_path / "plugin", "--host", kind)[0] == 0
    files = {path.relative_to(tmp_path / "plugin").as_posix(): path for path in (tmp_path / "plugin").rglob("*")}
    root = "plugins/adapter-server/" if kind == "codex" else ""
    manifest = msgspec.json.decode(files[f"{root}.{kind}-plugin/plugin.json"].read_bytes())
    assert manifest["name"] == "adapter-server"
    assert load_bundle(tmp_path / "plugin" / "version").id == load_bundle(copy).id
    team = files[f"{root}skills/join-the-team/SKILL.md"].read_text()
    assert "Be brief." in team
    assert "## As planner" in team
    assert "{{" not in team
    assert f"{root}skills/prove-with-the-team/SKILL.md" in files
    assert said("export", copy, tmp_path / "other", "--host", "hal")[0] == 2


def test_a_server_whose_store_is_elsewhere_is_not_bypassed(said: Said, data: Path) -> None:
    folder = open_data_folder(data)
    folder.announce(url="http://127.0.0.1:1")  # in the name of this process, which runs but holds no embedded store
    code, refused = said("list")
    assert (code, "name the store with --store-url" in refused["error"]) == (3, True)
    folder.withdraw()
    assert said("list")[0] == 0
