import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-wheel", action="store_true", help="build the wheel and try it in a fresh environment")
