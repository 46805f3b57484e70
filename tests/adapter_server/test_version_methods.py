"""Adapter versions by the bus of a running daemon: an operator's program looks, keeps, puts in use and takes back."""

import anyio
import anyio.to_thread
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.cli.main import run_command
from adapter_server.staging import load_bundle
from bus.errors import BadArguments, BadDataFolder, Conflict, UnknownId
from bus.link import Link
from bus.versions import (
    VersionActivate,
    VersionDiff,
    VersionExported,
    VersionFacts,
    VersionMoved,
    VersionRef,
    VersionRollBack,
    VersionsDiffer,
    VersionsList,
    VersionsListed,
    VersionStage,
)

from .conftest import DaemonProcess, open_episode

pytestmark = pytest.mark.anyio

BUILT_IN = load_bundle(default_bundle_folder()).id


async def exported(link: Link) -> dict[str, str]:
    return (await link.call("adapter.export", VersionRef(version="built-in"), VersionExported)).files


async def test_a_running_daemon_keeps_a_version_puts_it_in_use_and_takes_it_back(fresh_daemon: DaemonProcess) -> None:
    async with fresh_daemon.bus() as link:
        files = await exported(link)
        staged = await link.call("adapter.stage", VersionStage(files=files), VersionFacts)
        assert staged.id == BUILT_IN
        brief = files | {"prompts/team.md": files["prompts/team.md"] + "Be brief.\n"}
        other = await link.call("adapter.stage", VersionStage(files=brief), VersionFacts)
        assert await link.call("adapter.show", VersionRef(version=other.id[:12]), VersionFacts) == other
        differ = await link.call("adapter.diff", VersionDiff(before="built-in", after=other.id), VersionsDiffer)
        assert [(one.path, one.change) for one in differ.files] == [("prompts/team.md", "changed")]
        assert differ.files[0].diff[-1] == "+Be brief."

        assert (await open_episode(link)).bundle == BUILT_IN
        with pytest.raises(Conflict) as late:
            await link.call("adapter.activate", VersionActivate(version=other.id, epoch=1), VersionMoved)
        assert late.value.facts == {"bundle": BUILT_IN, "epoch": 0}
        moved = await link.call("adapter.activate", VersionActivate(version=other.id, epoch=0), VersionMoved)
        assert (moved.bundle, moved.epoch, moved.before.bundle) == (other.id, 1, BUILT_IN)
        assert (await open_episode(link)).bundle == other.id
        listed = await link.call("adapter.list", VersionsList(), VersionsListed)
        assert (listed.in_use.bundle, listed.fixed) == (other.id, "")
        assert {row.id: row.state for row in listed.versions} == {other.id: "in use", BUILT_IN: "was in use"}

        rollback = ["adapter", "rollback", "--data", str(fresh_daemon.folder.path)]
        assert await anyio.to_thread.run_sync(run_command, rollback) == 0
        assert (await open_episode(link)).bundle == BUILT_IN
        with pytest.raises(BadArguments, match="cannot roll back"):
            await link.call("adapter.rollback", VersionRollBack(), VersionMoved)
        back = await link.call("adapter.list", VersionsList(), VersionsListed)
        assert [reign.because for reign in back.history] == ["promoted", "rolled_back"]


async def test_what_is_no_version_is_refused_with_its_reason_and_nothing_is_kept(
    daemon: DaemonProcess, link: Link
) -> None:
    files = await exported(link)
    before = sorted(path.name for path in daemon.folder.adapters.iterdir())
    policy = files["policy.json"]
    for changed, reason in (
        ({"run.py": "print(1)"}, "run.py"),
        ({"prompts/roles/../../x.md": "x"}, "prompts/roles"),
        ({"/etc/passwd": "x"}, "passwd"),
        ({"prompts/team.md": "x" * 9000}, "prompts/team.md"),
        ({"policy.json": policy.replace('"lease_s": 120', '"lease_s": 1')}, "lease_s"),
        ({"policy.json": policy.replace('"lease_s"', '"leash_s"')}, "leash_s"),
        ({"tools.json": files["tools.json"].replace('"digest"', '"oracle"')}, "oracle"),
        ({"manifest.json": files["manifest.json"].replace('"claim": 1', '"claim": 2')}, "contract"),
    ):
        with pytest.raises(BadDataFolder, match=reason):
            await link.call("adapter.stage", VersionStage(files=files | changed), VersionFacts)
    for word in ("ab1-ffff", "../..", "x"):
        with pytest.raises(UnknownId):
            await link.call("adapter.activate", VersionActivate(version=word), VersionMoved)
    assert sorted(path.name for path in daemon.folder.adapters.iterdir()) == before
