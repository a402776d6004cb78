"""A pytest plugin that runs one in so many of the tests it finds, the same in each run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--one-in", type=int, default=1, help="of how many tests to run one")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items[:] = items[:: config.getoption("--one-in")]
