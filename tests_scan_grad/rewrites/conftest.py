"""The number of graphs that each recipe makes."""

import pytest


@pytest.fixture(scope="session")
def rewrite_seeds(pytestconfig: pytest.Config) -> range:
    """The seeds of a run: the same in each, unless others are asked for."""
    first, last = map(int, pytestconfig.getoption("--rewrite-seeds").split(":"))
    return range(first, last)
