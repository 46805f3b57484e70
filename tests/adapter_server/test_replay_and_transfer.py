"""Logs folded by command, and episodes moved from one data folder to another."""

import io
import tarfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
import pytest
from redis.asyncio import Redis

from adapter_server.bundle import default_bundle_folder
from adapter_server.cli.main import run_command
from adapter_server.data_folder import DataFolder, open_data_folder
from adapter_server.embedded_store import open_store
from adapter_server.replaying import replay
from adapter_server.settings import Settings
from adapter_server.staging import stage_bundle
from adapter_server.transfer import export_episode, import_episode
from blackboard.board import Board
from blackboard.types import NodeDraft
from bus.errors import BadArguments, Duplicate, UnknownId
from bus.messages import EpisodeRef, EpisodeStatus
from lemma_store.in_redis import LemmaIndex, connect
from tests.adapter_server.conftest import (
    APP_NIL,
    APP_NIL_PROOF,
    DaemonProcess,
    agent_client,
    open_episode,
    register,
)

pytestmark = pytest.mark.anyio


class Place:
    """A data folder with its store open."""

    def __init__(self, folder: DataFolder, board: Board, index: LemmaIndex, redis: Redis) -> None:
        self.folder, self.board, self.index, self.redis = folder, board, index, redis

    async def give_out(self, file: Path) -> None:
        await export_episode("e", file, board=self.board, index=self.index, folder=self.folder)

    async def take_in(self, file: Path) -> None:
        await import_episode(file, board=self.board, index=self.index, folder=self.folder)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[Place]:
    settings = Settings(data=str(tmp_path / "here"))
    folder = open_data_folder(settings.data_path)
    async with open_store(settings) as store, Board.open(store.url) as board, connect(store.url) as redis:
        yield Place(folder, board, LemmaIndex(redis, is_durable=True), redis)


async def begin(place: Place) -> None:
    bundle = stage_bundle(default_bundle_folder(), place.folder.adapters)
    draft = NodeDraft(name="main", statement="P", statement_hash="p")
    await place.board.open_episode("e", draft, bundle.id, {"problem": "p"})
    await place.board.join("e", "ada", "prover")
    await place.board.claim("e", "ada", node="n0", ttl_s=600, approach="simp", per_agent=1, per_node=1)
    await place.board.send("e", "ada", type="note", text="grüße ∀")
    problem = place.folder.episodes / "e" / "modules"
    problem.mkdir(parents=True)
    (problem / "Problem.olean").write_bytes(b"compiled")


def changed(file: Path, name: str, content: bytes) -> Path:
    """A copy of an archive with one part replaced."""
    copy = file.with_name(f"changed-{file.name}")
    with tarfile.open(file) as old, tarfile.open(copy, "w") as new:
        for member in old:
            opened = old.extractfile(member)
            assert opened is not None
            data = content if member.name == name else opened.read()
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return copy


async def test_a_log_is_folded_up_to_any_event(here: Place) -> None:
    await begin(here)
    whole = await replay(here.board, "e")
    assert (whole.seq, whole.last_seq, whole.broken_at) == (5, 5, None)
    assert list(whole.state.leases) == [("n0", "ada")]
    early = await replay(here.board, "e", to=3)
    assert (early.seq, early.state.leases, early.state.messages) == (3, {}, {})
    fields = whole.to_fields()
    assert fields["leases"] == [{"node": "n0", "agent": "ada", "fence": 1, "approach": "simp"}]
    assert (await replay(here.board, "e", to=0)).state.nodes == {}


async def test_a_broken_log_is_folded_up_to_the_break_which_is_named(here: Place) -> None:
    await begin(here)
    await here.redis.xdel("{ep:e}:events", "4-0")
    found = await replay(here.board, "e")
    assert (found.broken_at, found.seq, found.state.leases) == (4, 3, {})


async def test_an_episode_moves_with_its_state_and_its_files(here: Place, tmp_path: Path) -> None:
    await begin(here)
    await here.give_out(tmp_path / "e.tar.gz")
    before = (await replay(here.board, "e")).to_fields()
    leases = await here.board.leases("e")
    settings = Settings(data=str(tmp_path / "there"))
    folder = open_data_folder(settings.data_path)
    async with open_store(settings) as store, Board.open(store.url) as board, connect(store.url) as redis:
        there = Place(folder, board, LemmaIndex(redis, is_durable=True), redis)
        await there.take_in(tmp_path / "e.tar.gz")
        assert (await replay(board, "e")).to_fields() == before
        assert await board.leases("e") == leases
        assert (folder.episodes / "e" / "modules" / "Problem.olean").read_bytes() == b"compiled"
        assert [path.name for path in folder.adapters.iterdir()] == [before["bundle"]]
        await board.send("e", "ada", type="note", text="goes on")
        assert await board.verify_chain("e") is None
        with pytest.raises(Duplicate):
            await there.take_in(tmp_path / "e.tar.gz")
        with pytest.raises(BadArguments):
            await there.give_out(tmp_path / "e.tar.gz")


async def test_a_damaged_archive_is_refused_and_leaves_nothing(here: Place, tmp_path: Path) -> None:
    await begin(here)
    file = tmp_path / "e.tar"
    await here.give_out(file)
    await here.board.discard(await here.board.archive("e"))
    (here.folder.episodes / "e").rename(tmp_path / "away")
    (tmp_path / "text").write_text("no archive")
    damaged = changed(file, "folder/modules/Problem.olean", b"something else")
    for bad in (tmp_path / "text", tmp_path / "missing", damaged, changed(file, "events.jsonl", b"")):
        with pytest.raises(BadArguments):
            await here.take_in(bad)
    with pytest.raises(UnknownId):
        await here.board.meta("e")
    assert not (here.folder.episodes / "e").exists()
    await here.take_in(file)
    assert (await here.board.meta("e")).seq == 5


async def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = await anyio.to_thread.run_sync(run_command, [*words, "--json"])
    output = capsys.readouterr().out
    return code, msgspec.json.decode(output) if output else {}


async def test_a_solved_episode_is_replayed_moved_and_still_solved(
    fresh_daemon: DaemonProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, file = str(fresh_daemon.folder.path), str(tmp_path / "episode.tgz")
    async with fresh_daemon.bus() as link:
        episode = (await open_episode(link, APP_NIL)).episode
        async with agent_client(await register(link, episode, "ada")) as ada:
            await ada.ok("check", source=APP_NIL_PROOF)
            await ada.ok("wait", **{"for": ["assembled"]}, timeout_s=30)
    code, running = await said(capsys, "replay", episode, "--data", data)
    assert (code, running["status"], running["is_whole"]) == (0, "solved", True)
    code, note = await said(capsys, "episode", "export", episode, file, "--data", data)
    assert (code, note["seq"]) == (0, running["seq"])
    code, _ = await said(capsys, "episode", "import", file, "--data", data)
    assert code == 3  # a daemon runs there
    assert fresh_daemon.stop() == 0
    assert await said(capsys, "replay", episode, "--data", data) == (0, running)
    other = DaemonProcess(tmp_path / "other")
    code, _ = await said(capsys, "episode", "import", file, "--data", str(other.folder.path))
    assert code == 0
    other.start()
    try:
        async with other.bus() as link:
            status = await link.call("episode.status", EpisodeRef(episode=episode), EpisodeStatus)
        assert (status.status, status.lemmas) == ("solved", 1)
        assert status.proof
        assert Path(status.folder).is_relative_to(other.folder.path)
    finally:
        other.stop()
        fresh_daemon.start()  # the fixture stops it
