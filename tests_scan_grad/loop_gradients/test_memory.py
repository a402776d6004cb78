"""The memory that the gradient of a loop takes, counted by what NumPy allocates."""

import tracemalloc

import numpy as np
import pytest

import theano
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import gradient_function, theano_scan

STEPS, BATCH, DIM = 100, 16, 40
TRACE = STEPS * BATCH * DIM * 8
SQUARE = DIM * DIM * 8
SAVED, INPUTS, WEIGHTS = 4 * TRACE, 3 * TRACE + BATCH * DIM * 8, 3 * SQUARE


def peak(function, values) -> int:
    """Bytes allocated at most at any time during a call, with the inputs."""
    function(*values)
    tracemalloc.start()
    function(*values)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most + INPUTS + WEIGHTS


@pytest.fixture(scope="module")
def values():
    shapes = [(BATCH, DIM)] + [(STEPS, BATCH, DIM)] * 3 + [(DIM, DIM)] * 3
    return [networks.array(*shape, seed=k) for k, shape in enumerate(shapes)]


def test_peak_of_the_gated_rnns_gradient(values):
    """Saved: h, r, z, n. Gradients: of the three activations, which the products read, and U, V, W."""
    function = gradient_function(networks.gated_rnn(theano_scan))
    gradients = 3 * TRACE + WEIGHTS
    assert peak(function, values) <= 1.2 * (SAVED + INPUTS + WEIGHTS + gradients)


@pytest.mark.parametrize("steps_in_memory", [1, 5])
def test_blocks_bound_the_memory_of_what_leaves_the_loop(values, steps_in_memory):
    """With the flag set, the gradients of the activations exist for a block of steps only."""
    bound = steps_in_memory * 3 * BATCH * DIM * 8
    with theano.config.change_flags(**{"scan.push_out_memory": bound / 2**20}):
        function = gradient_function(networks.gated_rnn(theano_scan))
    assert peak(function, values) <= 1.2 * (SAVED + INPUTS + 2 * WEIGHTS + bound)


def test_saving_nothing_takes_less(values):
    network = networks.gated_rnn(theano_scan)
    saved = gradient_function(network)
    with theano.config.change_flags(**{"scan.save": "none", "scan.push_out_memory": 1 / 2**20}):
        computed_again = gradient_function(network)
    for got, expected in zip(computed_again(*values), saved(*values), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    assert peak(computed_again, values) < peak(saved, values)
