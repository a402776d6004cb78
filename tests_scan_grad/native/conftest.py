"""What tests of the native engine share."""

import pytest

from tests_scan_grad.native import runtime_calls

FAMILIES = ("avx512", "avx2", "neon", "portable")


@pytest.fixture
def any_work():
    """Let threads share whatever there is to do."""
    runtime_calls.set_least_work(0)
    yield
    runtime_calls.set_least_work(-1)
    runtime_calls.set_threads(0)


@pytest.fixture(params=FAMILIES)
def family(request):
    """Each family of kernels that this processor has, in turn."""
    if not runtime_calls.select_kernels(request.param):
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    runtime_calls.select_kernels(None)


@pytest.fixture
def threads():
    """Sets the number of threads for one test."""
    yield runtime_calls.set_threads
    runtime_calls.set_threads(0)
