import logging
from collections.abc import Iterator

import hypothesis
import pytest
import structlog

# Each test has a timeout; that a machine is busy is no fault.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """A command that a test runs in this process says where log lines go; the next test must not inherit that."""
    root = logging.getLogger()
    handlers, level, settings = root.handlers[:], root.level, structlog.get_config()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**settings)
