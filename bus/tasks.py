"""Background tasks that end with the block which opened them."""

import contextlib
from collections.abc import AsyncGenerator

import anyio
import anyio.abc


@contextlib.asynccontextmanager
async def background_tasks() -> AsyncGenerator[anyio.abc.TaskGroup]:
    """Open a task group whose tasks are cancelled when the block ends.

    Unlike a bare task group it lets an error of the block out as it is, not inside an ExceptionGroup. A task that
    fails still cancels the block, and its error comes out in a group.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks
        except Exception as error:  # noqa: BLE001 - raised again outside the group
            failure = error
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
