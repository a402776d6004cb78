"""What tests of the native engine share."""

import pytest

from tests_scan_grad.native import runtime_calls


@pytest.fixture
def any_work():
    """Let threads share whatever there is to do."""
    runtime_calls.set_least_work(0)
    yield
    runtime_calls.set_least_work(-1)
    runtime_calls.set_threads(0)
