"""Work that a signal ends in order."""

import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")


async def until_signal(work: Callable[[], Awaitable[T]]) -> T | None:
    """What the work returns, or None when SIGINT or SIGTERM came first; it is cancelled then and has cleaned up."""
    result: T | None = None
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with anyio.create_task_group() as tasks:

            async def wait_for_signal() -> None:
                async for _ in signals:
                    tasks.cancel_scope.cancel()

            tasks.start_soon(wait_for_signal)
            result = await work()
            tasks.cancel_scope.cancel()
    return result
