"""What agents were told is kept, proved whole, and read back byte for byte."""

import signal
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
import pytest

from adapter_server import reply_files
from adapter_server.cli.main import run_command
from adapter_server.data_folder import DataFolder, open_data_folder
from adapter_server.embedded_store import open_store
from adapter_server.reply_files import FOLDER, Reply, ReplyFile, open_replies, paths
from adapter_server.reply_reading import PastReplies, past_replies
from adapter_server.settings import Settings
from blackboard.board import Board
from blackboard.chain import Link
from blackboard.types import NodeDraft
from bus.errors import Gone, UnknownId
from tests.adapter_server.conftest import Agent, DaemonProcess, agent_client, open_episode, register

pytestmark = pytest.mark.anyio


class Desk:
    """A data folder with one episode, to which replies are given without a server."""

    def __init__(self, folder: DataFolder, board: Board) -> None:
        self.folder, self.board = folder.episodes / "e", board

    async def tell(self, *texts: str) -> None:
        async with open_replies(self.folder.parent, self.board) as replies:
            for text in texts:
                token = await self.board.begin_call("e", "ada")
                head = Link(seq=token.seq, hash=token.head)
                await replies.keep("e", head, agent="ada", tool="digest", ms=1, is_error=False, text=text)

    async def told(self) -> PastReplies:
        return await past_replies(self.board, "e", self.folder)

    def change(self, edit: Callable[[bytes], bytes]) -> None:
        path = paths(self.folder / FOLDER)[-1]
        path.write_bytes(edit(path.read_bytes()))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    settings = Settings(data=str(tmp_path / "data"))
    folder = open_data_folder(settings.data_path)
    async with open_store(settings) as store, Board.open(store.url) as board:
        await board.open_episode("e", NodeDraft(name="main", statement="P", statement_hash="p"), "b", {})
        await board.join("e", "ada")
        yield Desk(folder, board)


async def test_replies_are_numbered_on_over_restarts_and_come_back_as_they_were(desk: Desk) -> None:
    await desk.tell("grüße ∀\n{}\nnews:", "")
    await desk.board.send("e", "ada", type="note", text="hi")
    await desk.tell("\t\x00 end")
    told = await desk.told()
    assert (told.first, told.last, told.broken_at) == (1, 3, None)
    assert [told.reply(number).text for number in (1, 2, 3)] == ["grüße ∀\n{}\nnews:", "", "\t\x00 end"]
    assert told.reply(3).seq == told.reply(2).seq + 1
    with pytest.raises(UnknownId):
        told.reply(4)


async def test_what_a_crash_left_of_a_line_is_no_reply(desk: Desk) -> None:
    await desk.tell("one", "two")
    desk.change(lambda data: data + data[:70])
    assert (await desk.told()).broken_at is None
    await desk.tell("three")
    assert [reply.text for reply in (await desk.told()).replies] == ["one", "two", "three"]


def without(number: int) -> Callable[[bytes], bytes]:
    return lambda data: b"".join(line for at, line in enumerate(data.splitlines(keepends=True), 1) if at != number)


def replacing(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old, new)


def nothing(_data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize(
    ("edit", "broken_at"),
    [
        pytest.param(replacing(b'"two"', b'"2wo"'), 2, id="a word of a reply"),
        pytest.param(without(2), 2, id="a reply in the middle"),
        pytest.param(without(1), 1, id="the first reply"),
        pytest.param(without(3), 3, id="the last reply"),
        pytest.param(nothing, 1, id="all replies"),
        pytest.param(replacing(b'"seq":3', b'"seq":2'), 1, id="the place in the log"),
    ],
)  # fmt: skip
async def test_a_reply_that_is_missing_or_was_changed_is_named(
    desk: Desk, edit: Callable[[bytes], bytes], broken_at: int
) -> None:
    await desk.tell("one", "two", "three")
    desk.change(edit)
    told = await desk.told()
    assert told.broken_at == broken_at
    assert [reply.number for reply in told.replies] == list(range(1, broken_at))
    with pytest.raises((Gone, UnknownId)):
        told.reply(broken_at)
    await desk.tell("four")
    assert (await desk.told()).broken_at == broken_at


async def test_a_reply_that_was_sealed_anew_does_not_fit_the_store(desk: Desk) -> None:
    await desk.tell("one", "two")
    paths(desk.folder / FOLDER)[-1].unlink()
    file = ReplyFile(desk.folder / FOLDER, Link())
    for text in ("one", "other"):
        head = Link(seq=2, hash=(await desk.board.links("e", 1, 1))[0].hash)
        file.add(Reply(
            number=file.tip.seq + 1, at_ms=1, agent="ada", tool="digest", is_error=False, ms=1, seq=head.seq,
            head=head.hash, text=text, prev=file.tip.hash,
        ))  # fmt: skip
    file.close()
    assert (await desk.told()).broken_at == 2


async def test_old_replies_go_when_the_files_have_grown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_files, "FILE_BYTES", 2_000)
    monkeypatch.setattr(reply_files, "FILES_KEPT", 3)
    await desk.tell(*(f"{number} {'x' * 500}" for number in range(1, 31)))
    told = await desk.told()
    assert len(paths(desk.folder / FOLDER)) == 3
    assert told.first > 20
    assert (told.last, told.broken_at) == (30, None)
    assert told.reply(30).text.startswith("30 ")
    with pytest.raises(Gone):
        told.reply(1)


async def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = await anyio.to_thread.run_sync(run_command, list(words))
    return code, capsys.readouterr().out


async def listed(capsys: pytest.CaptureFixture[str], episode: str, data: str) -> tuple[int, dict[str, Any]]:
    code, text = await said(capsys, "replay", episode, "--replies", "--data", data, "--json")
    return code, msgspec.json.decode(text)


async def talk(ada: Agent, got: list[str]) -> None:
    for tool, arguments in (
        ("digest", {}),
        ("say", {"type": "note", "text": "∀ grüße"}),
        ("get", {"id": "nothing"}),
        ("no_such_tool", {}),
        ("plan", {"action": "show"}),
    ):
        got.append((await ada.call(tool, **arguments)).text)


@pytest.mark.timeout(180)
async def test_what_agents_got_is_printed_byte_for_byte_after_a_kill_and_a_move(
    fresh_daemon: DaemonProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, got = str(fresh_daemon.folder.path), list[str]()
    async with fresh_daemon.bus() as link:
        episode = (await open_episode(link)).episode
        joined = await register(link, episode, "ada")
        async with agent_client(joined) as ada:
            await talk(ada, got)
    fresh_daemon.stop(signal.SIGKILL)
    (path,) = paths(fresh_daemon.folder.episodes / episode / FOLDER)
    path.write_bytes(path.read_bytes() + b"torn")
    fresh_daemon.start()
    async with agent_client(joined) as ada:
        await talk(ada, got)

    code, found = await listed(capsys, episode, data)  # the server runs
    assert (code, found["last"], found["broken_at"]) == (0, 10, None)
    assert [reply["text"] for reply in found["replies"]] == got
    assert [reply["is_error"] for reply in found["replies"]] == [False, False, True, True, False] * 2
    assert await said(capsys, "replay", episode, "--reply", "7", "--data", data) == (0, got[6])

    file, other = str(tmp_path / "episode.tar"), str(tmp_path / "other")
    assert (await said(capsys, "episode", "export", episode, file, "--data", data))[0] == 0
    assert (await said(capsys, "episode", "import", file, "--data", other))[0] == 0
    assert await listed(capsys, episode, other) == (0, found)

    fresh_daemon.stop()
    path.write_bytes(path.read_bytes().replace(b'"tool":"plan"', b'"tool":"plot"'))
    code, text = await said(capsys, "replay", episode, "--data", data)
    assert (code, text.splitlines()[-1]) == (1, "reply 5 is missing or was changed")
