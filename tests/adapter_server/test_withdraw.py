"""`adapter-server revoke` and `recheck`, with a daemon on the data folder and without one."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from adapter_server.cli.main import run_command
from bus.messages import EpisodeRef, EpisodeStatus
from tests.adapter_server.conftest import (
    APP_NIL,
    APP_NIL_PROOF,
    DaemonProcess,
    agent_client,
    open_episode,
    register,
)

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]

LEMMA = "theorem first (n : Nat) : n + 0 = n := rfl\n"


class Operator:
    """A person at the command line."""

    def __init__(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._data = data
        self._capsys = capsys

    async def says(self, *words: str) -> tuple[int, str]:
        code = await anyio.to_thread.run_sync(partial(run_command, [*words, "--data", str(self._data)]))
        return code, self._capsys.readouterr().out

    async def asks(self, *words: str) -> tuple[int, Any]:
        code, out = await self.says(*words, "--json")
        return code, json.loads(out)


async def test_lemmas_are_taken_back_in_a_running_daemon_and_without_one(
    fresh_daemon: DaemonProcess, capsys: pytest.CaptureFixture[str]
):
    operator = Operator(fresh_daemon.folder.path, capsys)
    async with fresh_daemon.bus() as link:
        solved = (await open_episode(link, APP_NIL)).episode
        going = (await open_episode(link)).episode
        async with (
            agent_client(await register(link, solved, "ada")) as ada,
            agent_client(await register(link, going, "bo")) as bo,
        ):
            (first,) = (await bo.ok("check", source=LEMMA))["verdicts"]
            using = f"theorem second (n : Nat) : n + 0 + 0 = n := {first['lemma']} n\n"
            (second,) = (await bo.ok("check", source=using))["verdicts"]
            await ada.ok("check", source=APP_NIL_PROOF)
            with anyio.fail_after(40):
                _ = [event async for event in link.subscribe(solved)]

            code, found = await operator.asks("revoke", going, first["lemma"], "--reason", "in doubt")
            assert (code, found["status"], found["is_certificate_withdrawn"]) == (0, "open", False)
            assert [unit["name"] for unit in found["revoked"]] == [first["lemma"], second["lemma"]]
            again = await bo.ok("check", source=f"{LEMMA}\n")
            assert "in doubt" in json.dumps(again)
            assert (await bo.ok("find", q="first second"))["hits"] == []

        target = (await link.call("episode.status", EpisodeRef(episode=solved), EpisodeStatus)).credit[-1].lemma
        code, out = await operator.says("revoke", solved, target)
        assert code == 0
        assert "its certificate is withdrawn" in out
        assert "the episode has ended and stays solved" in out
        left = await link.call("episode.status", EpisodeRef(episode=solved), EpisodeStatus)
        assert (left.status, left.certificate, left.proof) == ("solved", None, None)

        async with agent_client(await register(link, going, "cy")) as cy:
            (third,) = (await cy.ok("check", source="theorem third (n : Nat) : n = n := rfl\n"))["verdicts"]
    assert fresh_daemon.stop() == 0

    code, episodes = await operator.asks("recheck", "--all")
    assert code == 0
    assert {one["episode"]: (one["kept"], one["revoked"]) for one in episodes} == {solved: (0, []), going: (1, [])}
    (module,) = (fresh_daemon.folder.episodes / going / "modules" / "L").glob("*.olean")
    module.write_bytes(module.read_bytes()[:-8])
    code, (found,) = await operator.asks("recheck", going)
    assert code == 1
    assert [unit["name"] for unit in found["revoked"]] == [third["lemma"]]
    code, out = await operator.says("revoke", going, third["lemma"])
    assert code == 2
