"""The pointer to the version in use moves only for those who know where it is, and never to what cannot be served."""

import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from adapter_server.bundle import default_bundle_folder
from adapter_server.champion import Champion, Champions, open_champions
from adapter_server.settings import Settings
from adapter_server.staging import stage_bundle
from bus.errors import BadArguments, BadDataFolder, Conflict, UnknownId

pytestmark = pytest.mark.anyio


def version(adapters: Path, name: str) -> str:
    """A staged version that differs from the built-in one in its team prompt."""
    copy = adapters.parent / f"copy-{name}"
    shutil.copytree(default_bundle_folder(), copy)
    with (copy / "prompts" / "team.md").open("a") as file:
        file.write(f"\n{name}\n")
    return stage_bundle(copy, adapters).id


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
async def champions(data: Path) -> AsyncGenerator[Champions]:
    async with open_champions(Settings(data=str(data))) as opened:
        yield opened


async def test_it_starts_with_the_built_in_version_and_outlives_the_store(data: Path) -> None:
    async with open_champions(Settings(data=str(data))) as champions:
        first = await champions.champion()
        assert first == Champion(bundle=stage_bundle(default_bundle_folder(), data / "adapters").id, epoch=0)
        b = version(data / "adapters", "b")
        second = await champions.promote(expected=first, bundle=b)
        assert second == Champion(bundle=b, epoch=1)
    async with open_champions(Settings(data=str(data))) as champions:
        assert await champions.champion() == second


async def test_of_many_who_saw_the_same_one_only_one_moves_it_and_the_others_learn_where_it_is(
    champions: Champions, data: Path
) -> None:
    first = await champions.champion()
    names = [version(data / "adapters", name) for name in "bcdef"]
    moved: list[Champion] = []
    told: list[Champion] = []

    async def promote(bundle: str) -> None:
        try:
            moved.append(await champions.promote(expected=first, bundle=bundle))
        except Conflict as error:
            told.append(Champion(bundle=str(error.facts["bundle"]), epoch=int(str(error.facts["epoch"]))))

    async with anyio.create_task_group() as tasks:
        for bundle in names:
            tasks.start_soon(promote, bundle)
    assert [await champions.champion()] == moved
    assert told == moved * 4


async def test_the_same_version_at_another_epoch_is_not_what_was_expected(champions: Champions, data: Path) -> None:
    first = await champions.champion()
    b = version(data / "adapters", "b")
    await champions.promote(expected=first, bundle=b)
    again = await champions.roll_back()
    assert again == Champion(bundle=first.bundle, epoch=2)
    with pytest.raises(Conflict):
        await champions.promote(expected=first, bundle=b)


async def test_rolling_back_undoes_and_never_returns_to_what_was_rolled_back(champions: Champions, data: Path) -> None:
    now = first = await champions.champion()
    b, c, d = (version(data / "adapters", name) for name in "bcd")
    for bundle in (b, c, d):
        now = await champions.promote(expected=now, bundle=bundle)
    assert await champions.roll_back() == Champion(bundle=c, epoch=4)
    assert await champions.roll_back() == Champion(bundle=b, epoch=5)
    with pytest.raises(BadArguments):
        await champions.roll_back(to=d)
    assert await champions.roll_back(to=first.bundle) == Champion(bundle=first.bundle, epoch=6)
    with pytest.raises(BadArguments):
        await champions.roll_back()
    assert [reign.because for reign in await champions.history()] == ["promoted"] * 3 + ["rolled_back"] * 3


async def test_what_is_not_staged_or_not_whole_is_never_put_in_use(champions: Champions, data: Path) -> None:
    first = await champions.champion()
    with pytest.raises(UnknownId):
        await champions.promote(expected=first, bundle="ab1-" + "0" * 64)
    b = version(data / "adapters", "b")
    with (data / "adapters" / b / "prompts" / "team.md").open("a") as file:
        file.write("changed")
    with pytest.raises(BadDataFolder):
        await champions.promote(expected=first, bundle=b)
    assert await champions.champion() == first


async def test_a_lost_pointer_is_put_back_as_it_was_and_a_pointer_that_is_there_stays(
    champions: Champions, data: Path
) -> None:
    b = version(data / "adapters", "b")
    lost = Champion(bundle=b, epoch=7)
    assert await champions.restore(lost) == lost
    assert await champions.champion() == lost
    with pytest.raises(Conflict):
        await champions.restore(Champion(bundle=b, epoch=8))
