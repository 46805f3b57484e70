"""Background tasks end with their block, and no error is swallowed."""

import anyio
import pytest

from bus.tasks import background_tasks

pytestmark = pytest.mark.anyio


async def test_tasks_are_cancelled_when_the_block_ends() -> None:
    ended = anyio.Event()

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    with anyio.fail_after(5):
        async with background_tasks() as tasks:
            tasks.start_soon(work)
            await anyio.lowlevel.checkpoint()
    assert ended.is_set()


async def test_an_error_of_the_block_is_not_wrapped() -> None:
    async def fail() -> None:
        async with background_tasks() as tasks:
            tasks.start_soon(anyio.sleep_forever)
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await fail()


async def test_an_error_of_a_task_ends_the_block() -> None:
    async def work() -> None:
        raise LookupError("its")

    async def wait() -> None:
        async with background_tasks() as tasks:
            tasks.start_soon(work)
            await anyio.sleep_forever()

    with anyio.fail_after(5), pytest.raises(ExceptionGroup) as caught:
        await wait()
    assert caught.group_contains(LookupError, match="its")


async def test_a_task_may_end_the_block_quietly() -> None:
    with anyio.fail_after(5):
        async with background_tasks() as tasks:
            tasks.start_soon(stop, tasks.cancel_scope)
            await anyio.sleep_forever()


async def stop(scope: anyio.CancelScope) -> None:
    scope.cancel()
