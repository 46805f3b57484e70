import os
import signal
import sys
from pathlib import Path

import anyio
import psutil
import pytest

from clients.launch import AgentSpec, launch, team
from clients.nursery import open_nursery

pytestmark = pytest.mark.anyio

SLEEPER = (sys.executable, "-c", "import os, time; print(os.environ['ADAPTER_AGENT'], flush=True); time.sleep(60)")


def spec(name: str, command: tuple[str, ...] = SLEEPER) -> AgentSpec:
    return AgentSpec(name=name, url="http://127.0.0.1:1/mcp", token="secret-token", role="prover", command=command)


async def written(path: Path) -> str:
    with anyio.fail_after(10):
        while not (text := path.read_text()):
            await anyio.sleep(0.02)
    return text


async def test_an_agent_learns_who_it_is_from_its_environment(tmp_path: Path) -> None:
    async with team([spec("ada")], log_folder=tmp_path) as agents:
        assert await written(agents[0].log) == "ada\n"
        assert "secret-token" not in " ".join(psutil.Process(agents[0].pid).cmdline())


async def test_leaving_a_team_ends_every_process_of_every_agent(tmp_path: Path) -> None:
    parent = (
        sys.executable,
        "-c",
        (
            "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
            "print(child.pid, flush=True); child.wait()"
        ),
    )
    async with team([spec("ada", parent), spec("bob")], log_folder=tmp_path) as agents:
        child = int(await written(agents[0].log))
        pids = [child, *(agent.pid or 0 for agent in agents)]
    with anyio.fail_after(5):
        while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids):
            await anyio.sleep(0.02)


async def test_an_agent_that_ignores_the_request_to_end_is_ended_by_force(tmp_path: Path) -> None:
    stubborn = (
        sys.executable,
        "-c",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
    )
    agent = await launch(spec("ada", stubborn), log_folder=tmp_path)
    await written(agent.log)
    with anyio.fail_after(5):
        await agent.stop(grace_s=0.1)
    assert agent.exit_code == -9


async def test_a_tactician_without_an_address_says_what_is_missing(tmp_path: Path) -> None:
    command = (
        sys.executable,
        "-c",
        "import os; os.environ.pop('ADAPTER_URL'); import clients.tactician.__main__ as m; exit(m.main())",
    )
    async with team([spec("ada", command)], log_folder=tmp_path) as agents:
        with anyio.fail_after(20):
            assert await agents[0].wait() == 2
        assert "ADAPTER_URL" in agents[0].log.read_text()


async def test_a_tactician_ends_when_its_launcher_is_gone(tmp_path: Path) -> None:
    runner = tmp_path / "runner.py"
    runner.write_text(
        "import anyio, os, pathlib, sys\n"
        "from clients.launch import AgentSpec, launch\n"
        "async def main():\n"
        "    spec = AgentSpec(name='ada', url='http://127.0.0.1:1/mcp', token='t')\n"
        "    agent = await launch(spec, log_folder=pathlib.Path(sys.argv[1]))\n"
        "    print(agent.pid, flush=True)\n"
        "    os._exit(0)\n"
        "anyio.run(main)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    result = await anyio.run_process([sys.executable, str(runner), str(tmp_path)], env=environment)
    pid = int(result.stdout.split()[-1])
    with anyio.fail_after(20):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie":
            await anyio.sleep(0.05)


def tactician(name: str) -> AgentSpec:
    return AgentSpec(name=name, url="http://127.0.0.1:1/mcp", token=f"token-of-{name}", role="prover")


async def gone(*pids: int | None) -> None:
    with anyio.fail_after(20):
        while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids if pid):
            await anyio.sleep(0.02)


async def test_forked_tacticians_are_processes_of_their_own_without_a_start_of_their_own(tmp_path: Path) -> None:
    async with open_nursery(tmp_path / "nursery.log", at_once=True) as nursery:
        async with team([tactician("ada"), tactician("bob")], log_folder=tmp_path, nursery=nursery) as agents:
            for agent in agents:
                assert "agent_started" in await written(agent.log)
                assert agent.pid is not None
                assert os.getpgid(agent.pid) == os.getsid(agent.pid) == agent.pid
                used = psutil.Process(agent.pid).cpu_times()
                assert used.user + used.system < 0.2
            assert "ada" not in agents[1].log.read_text()
            psutil.Process(agents[0].pid).kill()
            with anyio.fail_after(20):
                assert await agents[0].wait() == -signal.SIGKILL
            assert agents[1].exit_code is None
        assert agents[1].exit_code == -signal.SIGTERM
    await gone(*(agent.pid for agent in agents))


async def test_a_forked_tactician_that_ends_by_itself_has_its_own_exit_code(tmp_path: Path) -> None:
    nameless = AgentSpec(name="ada", url="", token="t")
    async with (
        open_nursery(tmp_path / "nursery.log", at_once=False) as nursery,
        team([nameless], log_folder=tmp_path, nursery=nursery) as agents,
    ):
        with anyio.fail_after(20):
            assert await agents[0].wait() == 2
        assert "ADAPTER_URL" in agents[0].log.read_text()


async def test_a_lost_nursery_takes_its_tacticians_along_and_the_next_order_finds_another(tmp_path: Path) -> None:
    async with open_nursery(tmp_path / "nursery.log", at_once=False) as nursery:
        async with team([tactician("ada")], log_folder=tmp_path, nursery=nursery) as agents:
            psutil.Process(agents[0].pid).parent().kill()  # pyright: ignore[reportOptionalMemberAccess]
            with anyio.fail_after(20):
                assert await agents[0].wait() == -signal.SIGKILL
        await gone(agents[0].pid)
        async with team([tactician("bob")], log_folder=tmp_path, nursery=nursery) as agents:
            assert "agent_started" in await written(agents[0].log)


async def test_nursery_and_tacticians_end_when_their_launcher_is_killed(tmp_path: Path) -> None:
    runner = tmp_path / "runner.py"
    runner.write_text(
        "import anyio, os, pathlib, psutil, signal, sys\n"
        "from clients.launch import AgentSpec, launch\n"
        "from clients.nursery import open_nursery\n"
        "async def main():\n"
        "    folder = pathlib.Path(sys.argv[1])\n"
        "    async with open_nursery(folder / 'nursery.log', at_once=True) as nursery:\n"
        "        spec = AgentSpec(name='ada', url='http://127.0.0.1:1/mcp', token='t')\n"
        "        agent = await launch(spec, log_folder=folder, nursery=nursery)\n"
        "        print(agent.pid, psutil.Process(agent.pid).ppid(), flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "anyio.run(main)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    result = await anyio.run_process([sys.executable, str(runner), str(tmp_path)], env=environment, check=False)
    assert result.returncode == -signal.SIGKILL
    await gone(*map(int, result.stdout.split()[-2:]))
