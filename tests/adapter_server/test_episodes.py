"""Episodes over the bus: opened, joined, followed, ended."""

import anyio
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.staging import load_bundle
from bus.errors import BadArguments, BadProblem, EpisodeClosed, NotLean, Unauthorized, UnknownId
from bus.link import Link, connect
from bus.messages import (
    EpisodeClose,
    EpisodeCreate,
    EpisodeCreated,
    EpisodeRef,
    EpisodeState,
    EpisodeStatus,
    ProblemText,
)
from tests.adapter_server.conftest import (
    APP_NIL,
    APP_NIL_PROOF,
    APPEND,
    DaemonProcess,
    agent_client,
    open_episode,
    register,
)

pytestmark = pytest.mark.anyio


async def status(link: Link, episode: str) -> EpisodeStatus:
    return await link.call("episode.status", EpisodeRef(episode=episode), EpisodeStatus)


async def close(link: Link, episode: str, state: EpisodeState, reason: str = "") -> EpisodeStatus:
    request = EpisodeClose(episode=episode, status=state, reason=reason)
    return await link.call("episode.close", request, EpisodeStatus)


async def test_an_episode_is_followed_from_opening_to_proof(daemon: DaemonProcess, link: Link) -> None:
    opened = await open_episode(link, APP_NIL)
    assert opened.root == "n0"
    assert opened.statement == "∀ (x : L), app x L.nil = x"
    assert opened.bundle == load_bundle(default_bundle_folder()).id
    fresh = await status(link, opened.episode)
    assert (fresh.status, fresh.nodes, fresh.closed_nodes, fresh.lemmas) == ("open", 1, 0, 0)
    assert fresh.folder == str(daemon.folder.episodes / opened.episode)

    async with agent_client(await register(link, opened.episode, "ada")) as ada:
        await ada.ok("check", source=APP_NIL_PROOF)
    with anyio.fail_after(40):
        events = [event async for event in link.subscribe(opened.episode)]
    kinds = [event.kind for event in events]
    assert kinds[0] == "episode_opened"
    assert kinds[-1] == "episode_closed"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))

    solved = await status(link, opened.episode)
    assert solved.status == "solved"
    assert solved.proof is not None
    assert "theorem app_nil" in solved.proof
    assert solved.certificate is not None
    assert anyio.Path(solved.certificate).is_relative_to(solved.folder)
    assert [(one.author, one.used_by) for one in solved.credit] == [("ada", ["app_nil"])]
    assert [(one.name, one.checks, one.lemmas, one.used) for one in solved.agents] == [("ada", 1, 1, 1)]
    assert (await close(link, opened.episode, "unsolved")).status == "solved"


async def test_an_episode_can_be_ended_unsolved_and_then_only_be_read(link: Link) -> None:
    episode = (await open_episode(link)).episode
    registered = await register(link, episode, "ada")
    ended = await close(link, episode, "unsolved", "out of patience")
    assert (ended.status, ended.proof, ended.certificate) == ("unsolved", None, None)
    async with agent_client(registered) as ada:
        digest = await ada.ok("digest")
        assert (digest["phase"], digest["next"][0]["do"]) == ("unsolved", "stop")
        assert (await ada.fails("claim", action="next"))["code"] == "episode_closed"
        assert (await ada.fails("check", source=APP_NIL_PROOF))["code"] == "episode_closed"
    with pytest.raises(EpisodeClosed):
        await register(link, episode, "late")
    with pytest.raises(BadArguments):
        await close(link, episode, "solved")


async def test_an_episode_that_is_ended_right_after_the_last_proof_is_solved(link: Link) -> None:
    episode = (await open_episode(link, APP_NIL)).episode
    async with agent_client(await register(link, episode, "ada")) as ada:
        await ada.ok("check", source=APP_NIL_PROOF)
        ended = await close(link, episode, "unsolved", "time is over")
    assert ended.status == "solved"
    assert ended.proof is not None


async def test_an_episode_ends_by_itself_when_its_time_is_over(link: Link) -> None:
    episode = (await open_episode(link, seconds=0.5)).episode
    with anyio.fail_after(20):
        last = [event async for event in link.subscribe(episode)][-1]
    assert last.body["status"] == "unsolved"
    assert (await status(link, episode)).status == "unsolved"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("", BadProblem),
        ("def x : Nat := 1", BadProblem),
        (APPEND + "theorem t : app = rev := by sorry", NotLean),
        ("theorem t : 1 = := by sorry", NotLean),
    ],
)
async def test_a_problem_that_cannot_be_posed_is_refused(link: Link, source: str, error: type[Exception]) -> None:
    with pytest.raises((error, BadProblem, NotLean)):
        await open_episode(link, source)


async def test_options_that_make_no_sense_are_refused(link: Link) -> None:
    with pytest.raises(UnknownId):
        await open_episode(link, adapter="ab1-none")
    for limits in ({"leases": 3}, {"lease_s": -1}):
        with pytest.raises(BadArguments):
            await open_episode(link, limits=limits)
    with pytest.raises(UnknownId):
        await status(link, "no-such-episode")


async def test_an_agent_registers_again_under_its_name_and_others_cannot_take_odd_names(link: Link) -> None:
    episode = (await open_episode(link)).episode
    first = await register(link, episode, "ada")
    assert await register(link, episode, "ada") == first
    again = await register(link, episode, "ada", "scout")
    assert (again.agent, again.url, again.token) == (first.agent, first.url, first.token)
    assert again.role == "scout"
    assert "You are ada, scout in a team" in again.prompts["team"]
    assert again.skills == first.skills
    assert [(one.name, one.role) for one in (await status(link, episode)).agents] == [("ada", "scout")]
    for name in ("server", "a/b", "-x", "ä", "x" * 65):
        with pytest.raises(BadArguments):
            await register(link, episode, name)
    with pytest.raises(BadArguments):
        await register(link, episode, "bob", "two words")
    with pytest.raises(UnknownId):
        await register(link, "no-such-episode", "bob")


async def test_roles_come_from_the_version_in_the_order_of_joining(link: Link) -> None:
    episode = (await open_episode(link)).episode
    for name in ("ada", "bob", "eve"):
        await register(link, episode, name)
    roles = load_bundle(default_bundle_folder()).policy.roles["default"]
    assert [one.role for one in (await status(link, episode)).agents] == roles[:3]


async def test_the_bus_is_closed_to_those_without_the_operators_token(daemon: DaemonProcess) -> None:
    with pytest.raises(Unauthorized):
        async with connect(daemon.url, token="wrong"):
            pass


async def test_limits_of_an_episode_reach_its_agents(link: Link) -> None:
    request = EpisodeCreate(
        problem=ProblemText(name="Limits & more!", source=APP_NIL), limits={"lease_s": 30, "digest": {"frontier": 1}}
    )
    opened = await link.call("episode.create", request, EpisodeCreated)
    assert opened.episode.startswith("limits-more-")
    async with agent_client(await register(link, opened.episode, "ada")) as ada:
        await ada.ok("plan", action="add", name="h", statement="app .nil .nil = .nil")
        assert len((await ada.ok("digest"))["frontier"]) == 1
        assert (await ada.ok("claim", action="next"))["expires_s"] <= 30
