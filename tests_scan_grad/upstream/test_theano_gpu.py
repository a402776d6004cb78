"""Theano 1.0.5's tests for GPUs that this ``theano`` passes, on ``xla:cpu``."""

import pytest

from tests_scan_grad.upstream.fetch import NotFetchedError
from tests_scan_grad.upstream.theano_tests.gpu import PASSING, fetched_with_gpu, run_gpu_module

pytest.importorskip("jax")


@pytest.mark.timeout(0)
@pytest.mark.parametrize("module", PASSING)
def test_module(module):
    try:
        fetched_with_gpu()
    except NotFetchedError as error:
        pytest.skip(str(error))
    outcomes = run_gpu_module(module)
    complaints = {test: o.message for test, o in outcomes.items() if o.state == "failed"}
    passed = {test.rpartition("::")[2] for test, o in outcomes.items() if o.state == "passed"}
    assert passed.issuperset(PASSING[module]), complaints
