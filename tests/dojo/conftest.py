import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-dojo", action="store_true", help="exchange with the real package lean-dojo (extra dojo)")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if not item.config.getoption("--run-dojo", default=False):
        pytest.skip("needs --run-dojo")
