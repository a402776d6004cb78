"""Theano 1.0.5's tests for GPUs, on ``xla:cpu``; most modules with ``--all-upstream`` only."""

import pytest

from tests_scan_grad.upstream.expected import differences
from tests_scan_grad.upstream.fetch import NotFetchedError
from tests_scan_grad.upstream.theano_tests.compare import expected_failures, not_run
from tests_scan_grad.upstream.theano_tests.gpu import (
    HEAVY,
    ON_REQUEST,
    QUICK,
    fetched_with_gpu,
    run_gpu_module,
)

pytest.importorskip("jax")


_HEAVY = [pytest.param(name, marks=pytest.mark.heavy) for name in HEAVY]


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", [*QUICK, *_HEAVY, *ON_REQUEST])
def test_module(name, request):
    everything = request.config.getoption("--all-upstream", default=False)
    if name in ON_REQUEST and not everything:
        pytest.skip("runs with --all-upstream")
    try:
        fetched_with_gpu()
    except NotFetchedError as error:
        pytest.skip(str(error))
    module = f"theano/gpuarray/tests/{name}.py"
    left_out, reasons = not_run(module), expected_failures(module)
    outcomes = run_gpu_module(module, left_out)
    assert any(outcome.state == "passed" for outcome in outcomes.values())
    assert not any(outcome.state == "uncollected" for outcome in outcomes.values())
    expected = {test: reason for test, reason in reasons.items() if test not in left_out}
    found = differences(outcomes, expected)
    assert not found, "\n".join(found)
